import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { pathOf } from '#contract/calls.ts';
import { mailboxOf } from '#core/mailbox.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { everything, failRefund, undergraduate } from '../../../tests/harness/refunds.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { newMember, newOrder, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { createLog } from '../platform/http/logging.ts';
import { mailTimes } from '../providers/mail/client.ts';
import { dueLetters } from './dueLetters.ts';
import { previewResending, sendAgain } from './sendAgain.ts';
import { sendDue } from './sendLetters.ts';
import { takeLetter } from './takeLetter.ts';

const server = await sharedServer();
const settings = server.deps.config.mail!;
const deps = { ...server.deps, database: server.background };
const send = () => sendDue(deps, settings);

beforeEachIn(import.meta.filename, async () => {
  await server.mailFault(null);
  await sql`truncate letter, staff_notice`.execute(server.background);
});

/** The join of the letters that {@link dueLetter} makes due. */
const { uuid } = await newOrder(server);
let people = 0;
const newEmail = () => `member${++people}@example.com`;
/** Makes a letter due to a unique email, and returns that email. */
async function dueLetter(): Promise<string> {
  const email = newEmail();
  await dueLetters(server.background, deps, [{ kind: 'link', sessionUuid: uuid, occasion: email, email }]);
  return email;
}
/** Makes a member with exactly one due letter, the confirmation. */
async function confirmed() {
  const email = newEmail();
  const paid = await newMember(server, undefined, { personalEmail: email });
  await sql`delete from letter where session_uuid = ${paid.uuid} and kind <> 'confirmation'`.execute(
    server.background,
  );
  return { ...paid, email };
}
const cameTo = async (email: string) => (await server.letters()).filter(({ to }) => to === email);
/** Returns how often the letter to each of these emails arrived; 0 if it did not. */
const arrivals = async (...emails: string[]) =>
  (await Promise.all(emails.map(cameTo))).map(([letter]) => letter?.arrivals ?? 0);
const rowsWhere = (column: 'email' | 'session_uuid', value: string) =>
  server.background.selectFrom('letter').selectAll().where(column, '=', value).execute();
const rowTo = async (email: string) => (await rowsWhere('email', email))[0]!;
const rowOf = async (join: string) => (await rowsWhere('session_uuid', join))[0]!;
const notices = () => staffNotices(server);
/** Makes all due letters due for their next try at once, as if their delay had passed. */
const later = () =>
  sql`update letter set next_try_at = now() where due_at <= now()`.execute(server.background);

test('a letter that is due is sent once, and says what was bought', async () => {
  const { uuid, email, intentId } = await confirmed();
  await send();
  await send();
  const [letter, ...others] = await cameTo(email);
  assert.deepEqual([letter!.arrivals, others], [1, []]);
  const mail = await simpleParser(Buffer.from(letter!.raw, 'latin1'));
  assert.equal(mail.subject, 'Your membership is confirmed');
  assert.match(mail.text!, /^Dear Jordan,/);
  assert.match(mail.text!, /Membership {2}\$65\.00\n-+\nTotal paid {2}\$65\.00/);
  assert.match(mail.text!, new RegExp(`with Visa ending 4242\nReference: ${intentId}`));
  const row = await rowOf(uuid);
  assert.deepEqual([row.email, row.attempts, row.sent_at === null], [email, 1, false]);
  await sql`update letter set sent_at = null`.execute(server.background);
  await later();
  await send();
  assert.deepEqual(await arrivals(email), [2], 'a second try has the same Message-ID');
});

test('header fields are those of a letter, each once', async () => {
  const { uuid, email } = await confirmed();
  await send();
  const [letter] = await cameTo(email);
  const { headers, messageId, from, replyTo, html, text, attachments } = await simpleParser(
    Buffer.from(letter!.raw, 'latin1'),
  );
  assert.match(messageId!, /^<[0-9a-f]{32}@society\.example>$/);
  assert.deepEqual(from!.value, [{ name: 'Collegiate Honor Society', address: 'help@society.example' }]);
  assert.equal(replyTo!.value[0]!.address, 'help@society.example');
  assert.equal(headers.get('auto-submitted'), 'auto-generated');
  assert.equal(headers.has('list-unsubscribe'), false, 'nobody unsubscribes from a receipt');
  assert.ok(html && text);
  assert.deepEqual(
    attachments.map(({ contentType, contentDisposition, related }) => [
      contentType,
      contentDisposition,
      related,
    ]),
    [['image/png', 'inline', true]],
  );
  assert.doesNotMatch(letter!.raw, new RegExp(uuid), 'a session uuid is a credential');
});

test('of all that look at once, each takes another letter', async () => {
  for (let count = 0; count < 3; count++) await dueLetter();
  const taken = await Promise.all(Array.from({ length: 20 }, () => takeLetter(deps)));
  const ids = taken.flatMap((letter) => letter?.id ?? []);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3], 'none is taken twice');
});

test('servers that look at once send each letter once', async () => {
  const emails = [];
  for (let count = 0; count < 8; count++) emails.push(await dueLetter());
  await server.mailFault({ kind: 'slow', at: 'data', ms: 50, times: 8 });
  await Promise.all([send(), send(), send()]);
  assert.deepEqual(await arrivals(...emails), [1, 1, 1, 1, 1, 1, 1, 1]);
});

test('a letter that the mail server postpones is sent a minute later, and no other waits for it', async () => {
  const [late, prompt] = [await dueLetter(), await dueLetter()];
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 451, to: late });
  await send();
  assert.deepEqual(await arrivals(late, prompt), [0, 1]);
  const { attempts, next_try_at, refusal } = await rowTo(late);
  const seconds = (next_try_at.getTime() - Date.now()) / 1000;
  assert.ok(seconds > 35 && seconds <= 61, `in ${seconds} s`);
  assert.deepEqual([attempts, refusal], [1, null]);
  await later();
  await send();
  assert.deepEqual(await arrivals(late), [1]);
  assert.deepEqual(await notices(), []);
});

test('tries are ever farther apart, up to four hours, and end after five days', async () => {
  const email = await dueLetter();
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 451, message: '4.2.1 Busy', times: 4 });
  const waits: number[] = [];
  for (const attempts of [0, 3, 12]) {
    await sql`update letter set attempts = ${attempts}, next_try_at = now()`.execute(server.background);
    await send();
    waits.push(Math.round(((await rowTo(email)).next_try_at.getTime() - Date.now()) / 60_000));
  }
  assert.ok(
    waits[0]! <= 1 && waits[1]! >= 6 && waits[1]! <= 8 && waits[2]! >= 180 && waits[2]! <= 240,
    `${waits}`,
  );
  await sql`update letter set due_at = now() - interval '6 days', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  assert.match((await rowTo(email)).refusal!, /^451 4\.2\.1 Busy \(for 5 days\)$/);
  assert.deepEqual(await arrivals(email), [0]);
});

test('a letter that is refused for good is set aside, and delays none after it', async () => {
  const [before, refused, after] = [await dueLetter(), await dueLetter(), await dueLetter()];
  const message = '5.1.1 No such user';
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 550, message, to: refused });
  await send();
  assert.match((await rowTo(refused)).refusal!, /550 5\.1\.1 No such user/);
  assert.deepEqual(await arrivals(before, refused, after), [1, 0, 1]);
  assert.deepEqual(await notices(), [], 'letters list shows it');
  await later();
  await send();
  assert.deepEqual(await arrivals(refused), [0], 'it is not tried again');
});

for (const [what, message, notice, isTried] of [
  ['that takes no letter', '5.7.0 <{to}> has to log in', /user and password/, false],
  ['that may refuse our account', '5.7.1 <{to}>: Relay access denied', /refuses a letter \(554/, true],
] as const)
  test(`a server ${what} sets none aside: staff and the log hear of it without an address, and all are sent when it is over`, async () => {
    const emails = [await dueLetter(), await dueLetter(), await dueLetter()];
    const status = isTried ? 554 : 530;
    await server.mailFault({ kind: 'status', at: 'rcpt', status, message, times: 100 });
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    for (let round = 0; round < 4; round++) {
      assert.equal(await sendDue({ ...deps, log }, settings), false);
      await later();
    }
    const rows = await Promise.all(emails.map(rowTo));
    assert.deepEqual(
      rows.map(({ refusal, attempts }) => [refusal, attempts > 0]),
      [
        [null, isTried],
        [null, isTried],
        [null, isTried],
      ],
    );
    const told = await notices();
    assert.equal(told.length, 1, told.join('\n'));
    assert.match(told[0]!, notice);
    assert.doesNotMatch(lines.join('') + told[0], /@/);
    assert.match(lines.join(''), new RegExp(`"code":"${status}`));
    await server.mailFault(null);
    await later();
    await send();
    assert.deepEqual(await arrivals(...emails), [1, 1, 1]);
  });

test('a letter that a server refuses without naming its recipient is tried every hour, and given up when others pass for five days', async () => {
  const email = await dueLetter();
  const spam = { kind: 'status', at: 'data', status: 554, message: '5.7.1 Spam' } as const;
  await server.mailFault({ ...spam, times: 100 });
  await sql`update letter set attempts = 12`.execute(server.background);
  await send();
  const minutes = ((await rowTo(email)).next_try_at.getTime() - Date.now()) / 60_000;
  assert.ok(minutes > 40 && minutes <= 60, `in ${minutes} minutes`);
  await sql`update letter set due_at = now() - interval '6 days', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  assert.equal((await rowTo(email)).refusal, null, 'the server takes no other letter either');
  await server.mailFault(null);
  const other = await dueLetter();
  await send();
  assert.deepEqual(await arrivals(other), [1]);
  await server.mailFault(spam);
  await later();
  await send();
  assert.match((await rowTo(email)).refusal!, /^554 5\.7\.1 Spam \(for 5 days\)$/);
});

test('a code that waits for a server that refuses the account is withdrawn when its minutes are over', async () => {
  const email = await dueLetter();
  await sql`update letter set kind = 'code'`.execute(server.background);
  const message = '5.7.1 <{to}>: Relay access denied';
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 554, message, times: 100 });
  await send();
  await sql`update letter set due_at = now() - interval '1 day', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  const { withdrawn_at, refusal } = await rowTo(email);
  assert.deepEqual([withdrawn_at === null, refusal], [false, null]);
});

test('a server that does not answer costs one try at a time, and is told when it lasts', async () => {
  const email = await dueLetter();
  const silent = { ...settings, port: 9 };
  await sendDue(deps, silent);
  assert.deepEqual(await notices(), []);
  await sql`update letter set due_at = now() - interval '2 hours', next_try_at = now()`.execute(
    server.background,
  );
  await sendDue(deps, silent);
  await later();
  await sendDue(deps, silent);
  assert.deepEqual(await notices(), [
    'The mail server 127.0.0.1:9 has not taken letters for more than an hour.',
  ]);
  assert.equal((await rowTo(email)).attempts, 0);
});

test('a letter is nobody else’s for longer than sending it may last', async () => {
  const email = await dueLetter();
  await server.mailFault({ kind: 'slow', at: 'data', ms: 300 });
  const sending = send();
  let row = await rowTo(email);
  while (row.attempts === 0) row = await rowTo(email);
  assert.ok(
    row.next_try_at.getTime() - Date.now() > mailTimes.openMs + mailTimes.sendMs + mailTimes.answerMs,
  );
  await sending;
});

test('what does not hold any more is not sent', async () => {
  const { uuid } = await undergraduate(server);
  await sql`update letter set next_try_at = now() where session_uuid = ${uuid} and kind <> 'confirmation'`.execute(
    server.background,
  );
  await refundJoin(server.deps, uuid, { membership: true, ineligible: true, upgrade: false, items: 'none' });
  await send();
  const { rows } = await sql<{ kind: string; was: string }>`
    select kind, case when withdrawn_at is not null then 'withdrawn' when sent_at is not null then 'sent' end as was
    from letter where session_uuid = ${uuid} order by kind, occasion`.execute(server.background);
  assert.deepEqual(
    rows.map(({ kind, was }) => `${kind} ${was}`),
    [
      'certificate withdrawn',
      'confirmation withdrawn',
      'portal withdrawn',
      'proof-due withdrawn',
      'proof-due withdrawn',
      'proof-due withdrawn',
      'refund sent',
      'reminder-days withdrawn',
      'reminder-hour withdrawn',
    ],
  );
});

test('who has sent a proof is not asked for it, and who has not is told how many days are left', async () => {
  const { client, uuid } = await undergraduate(server);
  await sql`update join_session set paid_at = now() - interval '25 days' where uuid = ${uuid}`.execute(
    server.background,
  );
  await sql`delete from letter where kind <> 'proof-due' or occasion not like '% 5'`.execute(
    server.background,
  );
  await later();
  await sql`update letter set next_try_at = now()`.execute(server.background);
  await send();
  assert.equal((await server.letters())[0]!.subject, 'Your transcript is due in 5 days');
  const isWithdrawnNow = async () => {
    await sql`update letter set sent_at = null, withdrawn_at = null, next_try_at = now()`.execute(
      server.background,
    );
    await send();
    return (await rowOf(uuid)).withdrawn_at !== null;
  };
  const daysPaid = (days: number) =>
    sql`update join_session set paid_at = now() - make_interval(days => ${days}) where uuid = ${uuid}`.execute(
      server.background,
    );
  await daysPaid(31);
  assert.ok(await isWithdrawnNow());
  await daysPaid(25);
  assert.ok(!(await isWithdrawnNow()));
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  assert.ok(await isWithdrawnNow(), 'it is there, though nobody has looked at it yet');
});

test('a join of which no address is known is set aside; that of its receipt is one', async () => {
  const { uuid } = await confirmed();
  await sql`
    with typed as (update join_session set details = details - 'personalEmail' where uuid = ${uuid} returning person_id)
    update person set details = details - 'personalEmail' from typed where id = person_id`.execute(
    server.background,
  );
  const receiptTo = (email: string | null) =>
    sql`update payment set receipt_email = ${email} where session_uuid = ${uuid}`.execute(server.background);
  await receiptTo(null);
  await send();
  assert.match((await rowOf(uuid)).refusal!, /^No email address is known/);
  await receiptTo('receipt.alone@example.com');
  await sql`update letter set refusal = null`.execute(server.background);
  await send();
  assert.deepEqual(await arrivals('receipt.alone@example.com'), [1]);
});

test('whatever was withdrawn of a membership and its upgrade is due again when both are held again', async () => {
  const client = server.client();
  const email = `member${++people}@example.com`;
  const { uuid, intentId } = await paidJoin(server, client, undefined, { personalEmail: email });
  await charge(client, uuid, intentId);
  await refundJoin(server.deps, uuid, everything);
  await sql`update letter set next_try_at = now() where kind not like 'reminder%'`.execute(server.background);
  await send();
  const ofKinds = async (which: string) =>
    (
      await sql<{ kind: string }>`
        select kind from letter where session_uuid = ${uuid} and kind not like 'reminder%' and kind <> 'refund'
          and ${sql.raw(which)} order by kind`.execute(server.background)
    ).rows.map(({ kind }) => kind);
  const letters = ['certificate', 'confirmation', 'portal', 'upgrade'];
  assert.deepEqual(await ofKinds('withdrawn_at is not null'), letters);
  const { rows: paid } = await sql<{ id: string }>`
    select intent_id as id from payment where session_uuid = ${uuid}`.execute(server.background);
  for (const { id } of paid) await failRefund(server, id);
  await send();
  assert.deepEqual(await ofKinds('sent_at is not null'), letters);
});

test('a letter that staff have sent again stays withdrawn when the membership is held again, and only the newest copy is due', async () => {
  const { uuid, email, intentId } = await confirmed();
  await server.mailFault({
    kind: 'status',
    at: 'rcpt',
    status: 550,
    message: '5.1.1 No such user',
    to: email,
  });
  await send();
  await server.mailFault(null);
  const refused = await rowOf(uuid);
  assert.notEqual(refused.refusal, null);
  await sendAgain(deps, refused.id, await previewResending(deps, refused.id, null));
  await refundJoin(server.deps, uuid, everything);
  await send();
  await sql`update letter set attempts = 9, due_at = now() - interval '9 days' where session_uuid = ${uuid}`.execute(
    server.background,
  );
  await failRefund(server, intentId);
  const { rows } = await sql`
    select occasion like '% %' as "isCopy", attempts, due_at > now() - interval '1 minute' as "isDueNow"
    from letter where session_uuid = ${uuid} and kind = 'confirmation' and withdrawn_at is null`.execute(
    server.background,
  );
  assert.deepEqual(rows, [{ isCopy: true, attempts: 0, isDueNow: true }]);
  await send();
  const confirmations = (await cameTo(email)).filter(({ subject }) => /confirmed/.test(subject));
  assert.equal(confirmations.length, 1);
});

test('a letter of a later day still comes on that day when a refund fails before it', async () => {
  const email = `member${++people}@example.com`;
  const { uuid, intentId } = await newMember(server, undefined, { personalEmail: email });
  await refundJoin(server.deps, uuid, everything);
  await send();
  await failRefund(server, intentId);
  await send();
  const { rows } = await sql<{ letter: string }>`
    select concat_ws(' ', kind, case when sent_at is null then round(extract(epoch from next_try_at - now()) / 86400) end) as letter
    from letter where session_uuid = ${uuid} and kind in ('confirmation', 'certificate', 'portal') order by due_at`.execute(
    server.background,
  );
  assert.deepEqual(
    rows.map(({ letter }) => letter),
    ['confirmation', 'certificate 1', 'portal 7'],
  );
});

test('a mailbox gets so many letters about joins that are neither paid nor proven, whatever tags its emails have', async (t) => {
  limitWith(t, server, { LIMIT_LETTERS_PER_MAILBOX: '3/1440' });
  for (let count = 0; count < 5; count++) {
    const email = `vic.tim+${count}@gmail.com`;
    await dueLetters(server.background, deps, [{ kind: 'link', sessionUuid: uuid, occasion: email, email }]);
  }
  await newMember(server, undefined, { personalEmail: 'victim@googlemail.com' });
  while (await send());
  const subjects = (await server.letters())
    .filter(({ to }) => mailboxOf(to) === 'victim@gmail.com')
    .map(({ subject }) => subject);
  assert.equal(subjects.filter((subject) => subject.startsWith('Your link')).length, 3);
  assert.equal(
    subjects.filter((subject) => /confirmed/.test(subject)).length,
    1,
    'who paid gets the receipt',
  );
});

test('a letter that waits for the mail server is counted once it is sent, however often it was tried', async (t) => {
  limitWith(t, server, { LIMIT_LETTERS_PER_MAILBOX: '2/1440' });
  const email = await dueLetter();
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 421, message: '4.3.2 Closing', times: 4 });
  for (let tries = 0; tries < 4; tries++) {
    await send();
    await later();
  }
  assert.deepEqual(await arrivals(email), [0]);
  await send();
  assert.deepEqual(await arrivals(email), [1]);
});
