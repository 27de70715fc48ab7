import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { createLog } from '../platform/http/logging.ts';
import { sendDue } from './sendLetters.ts';

const server = await sharedServer();

for (const [at, status] of [
  ['rcpt', 421],
  ['data', 421],
  ['rcpt', 530],
] as const)
  test(`a log has no address where the mail server answers ${status} with one at ${at}`, async () => {
    const email = `logged.${at}.${status}@example.com`;
    await paidJoin(server, server.client(), undefined, { personalEmail: email });
    await server.mailFault({ kind: 'status', at, status, message: `4.7.0 <${email}> is not taken now` });
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    const deps = { ...server.deps, database: server.background, log };
    assert.equal(await sendDue(deps, server.deps.config.mail!), false);
    assert.doesNotMatch(lines.join(''), /@/);
    const told = lines.map((line) => JSON.parse(line)).find(({ provider }) => provider === 'Mail');
    assert.equal(told.code, String(status));
  });

for (const [at, message] of [
  ['rcpt', '5.7.1 <help@society.example>: Sender address rejected: not owned by user'],
  ['data', 'Message rejected: Email address is not verified. Identities that failed: help@society.example'],
] as const)
  test(`a server that names the sender when it refuses a letter at ${at} sets none aside`, async () => {
    await sql`truncate letter, staff_notice`.execute(server.background);
    const personalEmail = `sender.refused.${at}@example.com`;
    const { uuid } = await paidJoin(server, server.client(), undefined, { personalEmail });
    await server.mailFault({ kind: 'status', at, status: 554, message });
    assert.equal(
      await sendDue({ ...server.deps, database: server.background }, server.deps.config.mail!),
      false,
    );
    const letters = server.background.selectFrom('letter').select(['refusal', 'attempts']);
    for (const { refusal, attempts } of await letters.where('session_uuid', '=', uuid).execute())
      assert.deepEqual([refusal, attempts], [null, 0]);
    const notices = await toldStaff(server);
    assert.deepEqual(
      notices.map((notice) => /letters from MAIL_FROM \(554\)/.test(notice)),
      [true],
    );
  });
