import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { paidJoin } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { sendDue } from '../server/letters/sendLetters.ts';

const server = await sharedServer();
const operator = (t: TestContext, ...args: string[]) => runCommand(t, server, args[0]!, args.slice(1));

test('staff see why a letter was not sent, read it, and send it when the cause is mended', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const send = () => sendDue(server.deps, server.deps.config.mail!);
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 550, message: '5.1.1 No such user' });
  await send();
  const list = await operator(t, 'letters list');
  assert.match(
    list.out,
    new RegExp(
      `^([0-9a-f-]{36})  confirmation  refused .*join ${uuid}  550 5\\.1\\.1 No such user\n1 letters\\.`,
    ),
  );
  const [id] = list.out.split(' ');
  const refusedAt = new Date(/refused (\S+Z)/.exec(list.out)![1]!);
  assert.ok(refusedAt <= new Date(), 'when it was refused, not when it could be taken again');
  const shown = await operator(t, 'letters show', id!);
  assert.match(
    shown.out,
    /^From: help@society\.example\nTo: jordan\.rivera@example\.com\nSubject: Your membership is confirmed\n/,
  );
  assert.match(shown.out, /Total paid {2}\$65\.00/);
  assert.match((await operator(t, 'letters list', uuid)).out, /portal {2}later .*\n.*\n.*\n3 letters/);
  assert.match((await operator(t, 'letters retry', id!)).out, /^1 will be sent again/);
  await send();
  assert.equal((await server.letters()).length, 1);
  assert.deepEqual((await operator(t, 'letters retry', id!)).code, 1, 'what was sent is not sent again');
  assert.match(
    (await operator(t, 'letters list', '--all')).out,
    /confirmation {2}sent .*jordan\.rivera@example\.com/,
  );
  await sql`update membership set standing = 'refunded' where session_uuid = ${uuid}`.execute(
    server.background,
  );
  const portal = (await operator(t, 'letters list', uuid)).out
    .split('\n')
    .find((line) => / portal /.test(line))!;
  assert.match(portal, /portal {2}will not be sent {2}join/);
  assert.match(
    (await operator(t, 'letters show', portal.split(' ')[0]!)).out,
    /^What it says does not hold any more/,
  );
});

test('staff send one letter of those that were refused again, or all of them', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const { rows } = await sql<{ id: string }>`
    update letter set refusal = '550' where session_uuid = ${uuid} and kind not like 'reminder%' returning id`.execute(
    server.background,
  );
  const refused = async () => (await operator(t, 'letters list', uuid)).out.match(/ refused /g)?.length ?? 0;
  assert.equal(await refused(), rows.length);
  assert.match((await operator(t, 'letters retry', rows[1]!.id)).out, /^1 will be sent again/);
  assert.equal(await refused(), rows.length - 1);
  const all = (await operator(t, 'letters retry', 'all')).out;
  assert.match(all, new RegExp(`^${rows.length - 1} will be sent again`));
  assert.equal(await refused(), 0);
  const again = await operator(t, 'letters retry', rows[1]!.id);
  const why = 'There is no such letter, or it was not refused: nothing is sent again.\n';
  assert.deepEqual([again.code, again.out], [1, why]);
  const none = await operator(t, 'letters retry', 'all');
  assert.deepEqual([none.code, none.out], [0, 'No letter was refused: nothing is sent again.\n']);
  await sql`delete from letter where session_uuid = ${uuid}`.execute(server.background);
});

test('a letter that was given up after days is tried for days again', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const { rows } = await sql<{ id: string }>`
    update letter set refusal = 'given up', attempts = 30, due_at = now() - interval '6 days'
    where session_uuid = ${uuid} and kind = 'confirmation' returning id`.execute(server.background);
  assert.equal((await operator(t, 'letters retry', rows[0]!.id)).code, 0);
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 451, message: '4.2.1 Busy' });
  await sendDue(server.deps, server.deps.config.mail!);
  assert.match(
    (await operator(t, 'letters list', uuid)).out,
    new RegExp(`${rows[0]!.id}  confirmation  (due|trying again)`),
  );
});

test('where letters are sent by other means, none reads as if it would be sent', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const elsewhere = { ...server, deps: { ...server.deps, config: { ...server.deps.config, mail: null } } };
  const { out } = await runCommand(t, elsewhere, 'letters list', [uuid]);
  assert.match(out, /^No letter goes out from here \(MAIL=elsewhere\)\.$/m);
  assert.doesNotMatch(out, / (due|later|trying again) /);
  assert.equal(out.match(/ {2}will not be sent {2}join /g)?.length, 3, out);
});

test('a code that was refused is not sent when it has expired meanwhile', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  const { rows } = await sql<{ id: string }>`
    insert into letter (kind, session_uuid, occasion, refusal, due_at, next_try_at)
    values ('code', ${uuid}, 'salt', '550', now() - interval '16 minutes', now()) returning id`.execute(
    server.background,
  );
  assert.match((await operator(t, 'letters retry', rows[0]!.id)).out, /^1 will be sent again/);
  await sendDue(server.deps, server.deps.config.mail!);
  assert.match((await operator(t, 'letters list', uuid)).out, new RegExp(`${rows[0]!.id}  code  withdrawn`));
});

test('staff stop the reminders of an email that asks them to, and undo it', async (t) => {
  const stops = async () => (await sql`select from reminder_stop`.execute(server.background)).rows.length;
  assert.equal((await operator(t, 'letters stop', ' Jordan.Rivera@example.com')).code, 0);
  assert.equal((await operator(t, 'letters stop', 'jordan.rivera@example.com')).code, 0);
  assert.equal(await stops(), 1);
  assert.equal((await operator(t, 'letters stop', 'JORDAN.rivera@example.com', '--undo')).code, 0);
  assert.equal(await stops(), 0);
});
