import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailboxOf } from '#core/mailbox.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import type { MailSettings } from '../platform/config/mail.ts';
import { dueLetters } from './dueLetters.ts';
import { sendDue } from './sendLetters.ts';

const server = await sharedServer();
const { deps } = server;

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
  while (await sendDue(deps, deps.config.mail as MailSettings));
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
