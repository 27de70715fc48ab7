import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { mailboxOf } from '#core/mailbox.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { dueLetters } from './dueLetters.ts';
import { sendDue } from './sendLetters.ts';

const server = await sharedServer();
const { deps } = server;
const mail = deps.config.mail!;

test('a mailbox gets so many letters about joins that are neither paid nor proven, whatever tags its emails have', async (t) => {
  limitWith(t, server, { LIMIT_LETTERS_PER_MAILBOX: '3/1440' });
  for (let count = 0; count < 5; count++) {
    const personalEmail = `vic.tim+${count}@gmail.com`;
    const sessionUuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail });
    await dueLetters(deps.database, deps, [
      { kind: 'link', sessionUuid, occasion: '1', email: personalEmail },
    ]);
  }
  await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail: 'victim@googlemail.com' });
  while (await sendDue(deps, mail));
  const subjects = (await server.letters())
    .filter(({ to }) => mailboxOf(to) === 'victim@gmail.com')
    .map(({ raw }) => /^subject: (.*?)\r$/im.exec(raw)![1]);
  assert.equal(subjects.filter((subject) => subject?.startsWith('Your link')).length, 3);
  assert.equal(
    subjects.filter((subject) => /confirmed/.test(subject!)).length,
    1,
    'who paid gets the receipt',
  );
});

test('a letter that waits for the mail server is counted once it is sent, however often it was tried', async (t) => {
  limitWith(t, server, { LIMIT_LETTERS_PER_MAILBOX: '2/1440' });
  const email = 'patient@example.com';
  const sessionUuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: email });
  await dueLetters(deps.database, deps, [{ kind: 'link', sessionUuid, occasion: '1', email }]);
  for (let tries = 0; tries < 4; tries++) {
    await server.mailFault({ kind: 'status', at: 'rcpt', status: 421, message: '4.3.2 Closing' });
    await sendDue(deps, mail);
    await sql`update letter set next_try_at = now() where session_uuid = ${sessionUuid} and kind = 'link'`.execute(
      deps.database,
    );
  }
  await server.mailFault(null);
  while (await sendDue(deps, mail));
  assert.equal((await server.letters()).filter(({ to }) => to === email).length, 1);
});
