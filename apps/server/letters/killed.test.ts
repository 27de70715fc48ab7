import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type ServerProcess, startServerProcess } from '../../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { onlyLong } from '../../../tests/harness/testLength.ts';
import { startTestServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';

const MEMBERS = 12;
const KILLS = ['hang', 'hang_after', 'hang_after', 'hang'] as const;

test('servers that are killed while they send, and send beside one another, leave each letter once', {
  skip: onlyLong,
}, async (t) => {
  const server = await startTestServer();
  const emails = Array.from({ length: MEMBERS }, (_, index) => `killed${index}@example.com`);
  for (const personalEmail of emails) await paidJoin(server, server.client(), undefined, { personalEmail });
  const running: ServerProcess[] = [];
  t.after(async () => {
    await Promise.all(running.map((each) => each.kill()));
    await server.close();
  });
  const count = async () => {
    const { rows } = await sql<{ sent: number; taken: number }>`
      select count(*) filter (where sent_at is not null)::int as sent,
        count(*) filter (where sent_at is null and attempts > 0 and next_try_at > now())::int as taken
      from letter where kind = 'confirmation'`.execute(server.background);
    const letters = await server.letters();
    return { ...rows[0]!, arrivals: letters.reduce((sum, letter) => sum + letter.arrivals, 0) };
  };
  let again = 0;
  for (const kind of KILLS) {
    const before = await count();
    await server.mailFault({ kind, at: 'data', skip: 1 });
    const each = await startServerProcess(server);
    running.push(each);
    // The process sends one letter, and then gets no answer from the mail server to the next. With `hang_after` the mail server
    // has accepted that next letter; with `hang` it has not.
    const arrivals = before.arrivals + (kind === 'hang_after' ? 2 : 1);
    await until(async () => {
      const now = await count();
      return now.sent === before.sent + 1 && now.taken === 1 && now.arrivals === arrivals;
    });
    await each.kill();
    if (kind === 'hang_after') again += 1;
    await server.mailFault(null);
    await sql`update letter set next_try_at = due_at where sent_at is null`.execute(server.background);
  }
  running.push(...(await Promise.all([startServerProcess(server), startServerProcess(server)])));
  await until(async () => (await count()).sent === MEMBERS);
  const letters = await server.letters();
  assert.deepEqual(letters.map(({ to }) => to).sort(), emails.sort(), 'each once by its Message-ID');
  assert.equal(new Set(letters.map(({ messageId }) => messageId)).size, MEMBERS);
  assert.equal(
    (await count()).arrivals,
    MEMBERS + again,
    'only what was taken right before a kill came again',
  );
});
