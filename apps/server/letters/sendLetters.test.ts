import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { pathOf } from '#contract/calls.ts';
import { refusals } from '../../../emulators/mail/refusals.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { everything, failRefund, membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { mailTimes } from '../providers/mail/client.ts';
import { dueLetters } from './dueLetters.ts';
import { sendDue } from './sendLetters.ts';
import { takeLetter } from './takeLetter.ts';

const server = await sharedServer();
const settings = server.deps.config.mail!;
const send = () => sendDue({ ...server.deps, database: server.background }, settings);

beforeEachIn(import.meta.filename, async () => {
  await server.mailFault(null);
  await sql`truncate letter, staff_notice`.execute(server.background);
});

let people = 0;
/** Makes a member with exactly one due letter, the confirmation. */
async function dueLetter() {
  const email = `member${++people}@example.com`;
  const { uuid, intentId } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  await sql`delete from letter where session_uuid = ${uuid} and kind <> 'confirmation'`.execute(
    server.background,
  );
  return { uuid, intentId, email };
}
const cameTo = async (email: string) => (await server.letters()).filter(({ to }) => to === email);
const rowOf = async (uuid: string) =>
  (await server.background.selectFrom('letter').selectAll().where('session_uuid', '=', uuid).execute())[0]!;
const notices = () => toldStaff(server);
/** Makes all letters that are due be tried immediately, as if their time of waiting had passed. */
const later = () =>
  sql`update letter set next_try_at = now() where due_at <= now()`.execute(server.background);

test('a letter that is due is sent once, and says what was bought', async () => {
  const { uuid, email, intentId } = await dueLetter();
  await send();
  await send();
  const [letter, ...others] = await cameTo(email);
  assert.deepEqual(others, []);
  assert.equal(letter!.arrivals, 1);
  const mail = await simpleParser(Buffer.from(letter!.raw, 'latin1'));
  assert.equal(mail.subject, 'Your membership is confirmed');
  assert.match(mail.text!, /^Dear Jordan,/);
  assert.match(mail.text!, /Membership {2}\$65\.00\n-+\nTotal paid {2}\$65\.00/);
  assert.match(mail.text!, new RegExp(`with Visa ending 4242\nReference: ${intentId}`));
  const row = await rowOf(uuid);
  assert.deepEqual([row.email, row.attempts, row.sent_at === null], [email, 1, false]);
});

test('header fields are those of a letter, each once, and the same at every try', async () => {
  const { uuid, email } = await dueLetter();
  await send();
  await sql`update letter set sent_at = null`.execute(server.background);
  await later();
  await send();
  const [letter] = await cameTo(email);
  assert.equal(letter!.arrivals, 2, 'a second try has the same Message-ID');
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

test('no name gets into the header, becomes markup, or becomes a link', async () => {
  const email = `member${++people}@example.com`;
  const hostile = '<b>Ann</b> & "Bo"';
  await paidJoin(server, server.client(), undefined, { personalEmail: email, firstName: hostile });
  await send();
  const mail = await simpleParser(Buffer.from((await cameTo(email))[0]!.raw, 'latin1'));
  assert.match(mail.html as string, /&#60;b&#62;|Hello,/);
  assert.doesNotMatch(mail.html as string, /<b>Ann/);
  const linker = `member${++people}@example.com`;
  await paidJoin(server, server.client(), undefined, {
    personalEmail: linker,
    firstName: 'Win at evil.example',
  });
  await send();
  const other = await simpleParser(Buffer.from((await cameTo(linker))[0]!.raw, 'latin1'));
  assert.match(other.text!, /^Hello,/);
  assert.doesNotMatch(`${other.html}${other.text}${other.subject}`, /evil/);
});

test('who was refunded before the receipt went out gets none, and who bought an upgrade by link gets one', async () => {
  const { uuid, email } = await dueLetter();
  await refundJoin(server.deps, uuid, membershipOnly);
  await paidJoin(server, server.client(), 'HONOR101');
  const upgrade = await upgradeByLink(server, '101');
  await send();
  assert.deepEqual(
    (await cameTo(email)).filter(({ raw }) => /^subject: .*confirmed/im.test(raw)),
    [],
  );
  assert.notEqual((await rowOf(uuid)).withdrawn_at, null);
  const { kind, sent_at } = await rowOf(upgrade.uuid);
  assert.deepEqual([kind, sent_at === null], ['upgrade', false]);
});

test('of all that look at once, each takes another letter', async () => {
  for (let count = 0; count < 3; count++) await dueLetter();
  const deps = { database: server.background };
  const taken = await Promise.all(Array.from({ length: 20 }, () => takeLetter(deps)));
  const ids = taken.flatMap((letter) => letter?.id ?? []);
  assert.equal(new Set(ids).size, ids.length, 'none is taken twice');
});

test('two servers that look at once send each letter once', async () => {
  const members = [];
  for (let count = 0; count < 8; count++) members.push(await dueLetter());
  await server.mailFault({ kind: 'slow', at: 'data', ms: 50, times: 8 });
  await Promise.all([send(), send(), send()]);
  for (const { email } of members)
    assert.deepEqual(
      (await cameTo(email)).map(({ arrivals }) => arrivals),
      [1],
      email,
    );
});

for (const [what, fault] of [
  ['answers 451 to the recipient', { kind: 'status', at: 'rcpt', status: 451 }],
  ['answers 452 to the letter', { kind: 'status', at: 'data', status: 452 }],
  ['finds the commands out of order', { kind: 'status', at: 'rcpt', status: 503 }],
  ['cuts the connection in mid-message', { kind: 'cut', at: 'data' }],
] as const)
  test(`a letter at which the server ${what} is sent a minute later, and no other waits for it`, async () => {
    const [late, prompt] = [await dueLetter(), await dueLetter()];
    await server.mailFault({ ...fault, to: late.email });
    await send();
    assert.deepEqual([(await cameTo(late.email)).length, (await cameTo(prompt.email)).length], [0, 1]);
    const { attempts, next_try_at, refusal } = await rowOf(late.uuid);
    const seconds = (next_try_at.getTime() - Date.now()) / 1000;
    assert.ok(seconds > 35 && seconds <= 61, `in ${seconds} s`);
    assert.deepEqual([attempts, refusal], [1, null]);
    await later();
    await send();
    assert.deepEqual(
      (await cameTo(late.email)).map(({ arrivals }) => arrivals),
      [1],
    );
    assert.deepEqual(await notices(), []);
  });

for (const [what, fault, times] of [
  ['falls silent', { kind: 'hang', at: 'data' }, { answerMs: 200 }],
  ['is endlessly slow', { kind: 'slow', at: 'rcpt', ms: 60_000 }, { sendMs: 200 }],
] as const)
  test(`a server that ${what} at a letter holds up nobody, and the letter is sent later`, async () => {
    const [late, prompt] = [await dueLetter(), await dueLetter()];
    await server.mailFault({ ...fault, to: late.email });
    const deps = { ...server.deps, database: server.background };
    await sendDue(deps, settings, { ...mailTimes, ...times });
    assert.deepEqual([(await cameTo(late.email)).length, (await cameTo(prompt.email)).length], [0, 1]);
    await server.mailFault(null);
    await later();
    await send();
    assert.equal((await cameTo(late.email)).length, 1);
  });

test('a server that takes its time after the whole letter has come gets it once', async () => {
  const { email, uuid } = await dueLetter();
  await server.mailFault({ kind: 'slow', at: 'data', ms: 600 });
  const deps = { ...server.deps, database: server.background };
  await sendDue(deps, settings, { ...mailTimes, sendMs: 300 });
  await later();
  await send();
  assert.deepEqual(
    (await cameTo(email)).map(({ arrivals }) => arrivals),
    [1],
  );
  assert.equal((await rowOf(uuid)).attempts, 1);
});

test('a server that greets nobody is given up after a while', async () => {
  const { uuid, email } = await dueLetter();
  await server.mailFault({ kind: 'hang', at: 'connect' });
  await sendDue({ ...server.deps, database: server.background }, settings, { ...mailTimes, openMs: 200 });
  assert.equal((await rowOf(uuid)).attempts, 0);
  await later();
  await send();
  assert.equal((await cameTo(email)).length, 1);
});

test('tries are ever farther apart, up to four hours, and end after five days', async () => {
  const { uuid, email } = await dueLetter();
  await server.mailFault({ kind: 'status', at: 'rcpt', status: 451, message: '4.2.1 Busy', times: 4 });
  const waits: number[] = [];
  for (const attempts of [0, 3, 12]) {
    await sql`update letter set attempts = ${attempts}, next_try_at = now()`.execute(server.background);
    await send();
    waits.push(Math.round(((await rowOf(uuid)).next_try_at.getTime() - Date.now()) / 60_000));
  }
  assert.ok(
    waits[0]! <= 1 && waits[1]! >= 6 && waits[1]! <= 8 && waits[2]! >= 180 && waits[2]! <= 240,
    `${waits}`,
  );
  await sql`update letter set due_at = now() - interval '6 days', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  assert.match((await rowOf(uuid)).refusal!, /^451 4\.2\.1 Busy \(for 5 days\)$/);
  assert.deepEqual(await cameTo(email), []);
});

for (const [what, fault] of [
  ['recipient', { kind: 'status', at: 'rcpt', status: 550, message: '5.1.1 No such user' }],
  ['letter', { kind: 'status', at: 'data', status: 554, message: '5.6.0 Not readable' }],
] as const)
  test(`a ${what} that is refused for good is set aside`, async () => {
    const refused = [await dueLetter(), await dueLetter()];
    const other = await dueLetter();
    for (const { email } of refused) await server.mailFault({ ...fault, to: email });
    await send();
    for (const { uuid } of refused) assert.match((await rowOf(uuid)).refusal!, new RegExp(fault.message));
    assert.equal((await cameTo(other.email)).length, 1);
    assert.deepEqual(await notices(), [], 'letters list shows it');
    await later();
    await send();
    assert.deepEqual(await cameTo(refused[0]!.email), [], 'it is not tried again');
  });

for (const [what, fault, notice] of [
  [
    'refuses the sender',
    { kind: 'status', at: 'mail', status: 550, message: '5.7.1 Not yours' },
    /MAIL_FROM \(550\)/,
  ],
  [
    'wants a login',
    { kind: 'status', at: 'rcpt', status: 530, message: '5.7.0 Log in' },
    /user and password/,
  ],
  ['wants a stronger login', { kind: 'status', at: 'rcpt', status: 534 }, /user and password/],
  ['wants an encrypted login', { kind: 'status', at: 'data', status: 538 }, /user and password/],
  ['refuses us', { kind: 'status', at: 'connect', status: 554, message: 'Go away' }, /refuses us \(554\)/],
  ['is closing', { kind: 'status', at: 'connect', status: 421, message: 'Later' }, null],
  ['is too busy for the sender', { kind: 'status', at: 'mail', status: 451, message: 'Busy' }, null],
] as const)
  test(`a server that ${what} refuses no letter: all wait, and are sent when it is over`, async () => {
    const members = [await dueLetter(), await dueLetter()];
    await server.mailFault({ ...fault, times: 100 });
    for (let round = 0; round < 3; round++) {
      await send();
      await later();
    }
    for (const { uuid } of members) {
      const { refusal, attempts } = await rowOf(uuid);
      assert.deepEqual([refusal, attempts], [null, 0], 'it counts as not tried');
    }
    const told = await notices();
    assert.equal(told.length, notice === null ? 0 : 1, told.join('\n'));
    if (notice) assert.match(told[0]!, notice);
    await server.mailFault(null);
    await later();
    await send();
    for (const { email } of members) assert.equal((await cameTo(email)).length, 1);
  });

for (const [name, { concerns, ...refusal }] of Object.entries(refusals))
  if (concerns === 'account')
    test(`${name}: a server that may refuse our account sets no letter aside, and all are sent when it is over`, async () => {
      const members = [await dueLetter(), await dueLetter(), await dueLetter()];
      await server.mailFault({ kind: 'status', ...refusal, times: 100 });
      for (let round = 0; round < 6; round++) {
        await send();
        await later();
      }
      for (const { uuid } of members) assert.equal((await rowOf(uuid)).refusal, null);
      const told = await notices();
      assert.equal(told.length, 1, told.join('\n'));
      assert.match(told[0]!, new RegExp(`refuses a letter \\(${refusal.status}[^)]*\\)`));
      assert.doesNotMatch(told[0]!, /@/);
      await server.mailFault(null);
      await later();
      await send();
      for (const { email } of members) assert.equal((await cameTo(email)).length, 1);
    });
  else
    test(`${name}: a recipient whom a server does not know costs no other letter its turn`, async () => {
      const [refused, other] = [await dueLetter(), await dueLetter()];
      await server.mailFault({ kind: 'status', ...refusal, to: refused.email });
      await send();
      assert.notEqual((await rowOf(refused.uuid)).refusal, null);
      assert.equal((await cameTo(other.email)).length, 1);
    });

test('a letter that a server refuses without naming its recipient is tried every hour, and given up when others pass for five days', async () => {
  const { uuid } = await dueLetter();
  await server.mailFault({ kind: 'status', at: 'data', status: 554, message: '5.7.1 Spam', times: 100 });
  await sql`update letter set attempts = 12`.execute(server.background);
  await send();
  const minutes = ((await rowOf(uuid)).next_try_at.getTime() - Date.now()) / 60_000;
  assert.ok(minutes > 40 && minutes <= 60, `in ${minutes} minutes`);
  await sql`update letter set due_at = now() - interval '6 days', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  assert.equal((await rowOf(uuid)).refusal, null, 'the server takes no other letter either');
  await server.mailFault(null);
  const other = await dueLetter();
  await send();
  assert.equal((await cameTo(other.email)).length, 1);
  await server.mailFault({ kind: 'status', at: 'data', status: 554, message: '5.7.1 Spam' });
  await later();
  await send();
  assert.match((await rowOf(uuid)).refusal!, /^554 5\.7\.1 Spam \(for 5 days\)$/);
});

test('a code that waits for a server that refuses the account is withdrawn when its minutes are over', async () => {
  const { uuid } = await dueLetter();
  await sql`update letter set kind = 'code' where session_uuid = ${uuid}`.execute(server.background);
  const { concerns: _, ...limit } = refusals.googleUserLimit!;
  await server.mailFault({ kind: 'status', ...limit, times: 100 });
  await send();
  await sql`update letter set due_at = now() - interval '1 day', next_try_at = now()`.execute(
    server.background,
  );
  await send();
  const { withdrawn_at, refusal } = await rowOf(uuid);
  assert.deepEqual([withdrawn_at === null, refusal], [false, null]);
});

test('a letter that is refused on an open connection delays none after it', async () => {
  const [before, refused, after] = [await dueLetter(), await dueLetter(), await dueLetter()];
  await server.mailFault({
    kind: 'status',
    at: 'rcpt',
    status: 550,
    message: '5.1.1 No such user',
    to: refused.email,
  });
  await send();
  for (const { email } of [before, after]) assert.equal((await cameTo(email)).length, 1, email);
  assert.match((await rowOf(refused.uuid)).refusal!, /550/);
});

test('a server that does not answer costs one try at a time, and is told when it lasts', async () => {
  const { uuid } = await dueLetter();
  const silent = { ...settings, port: 9 };
  const deps = { ...server.deps, database: server.background };
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
  assert.equal((await rowOf(uuid)).attempts, 0);
});

test('a letter is nobody else’s for longer than sending it may last', async () => {
  const { uuid } = await dueLetter();
  await server.mailFault({ kind: 'slow', at: 'data', ms: 300 });
  const sending = send();
  let row = await rowOf(uuid);
  while (row.attempts === 0) row = await rowOf(uuid);
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

test('a join of which no address is known is set aside', async () => {
  const { uuid } = await dueLetter();
  await sql`
    with typed as (update join_session set details = details - 'personalEmail' where uuid = ${uuid} returning person_id)
    update person set details = details - 'personalEmail' from typed where id = person_id`.execute(
    server.background,
  );
  await sql`update payment set receipt_email = null where session_uuid = ${uuid}`.execute(server.background);
  await send();
  assert.match((await rowOf(uuid)).refusal!, /^No email address is known/);
});

test('a letter may go to an address that is not its join’s', async () => {
  const { uuid } = await dueLetter();
  await sql`delete from letter`.execute(server.background);
  const intent = await server.background
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  await dueLetters(server.background, server.deps, [
    { kind: 'confirmation', sessionUuid: uuid, occasion: intent.intent_id, email: 'guardian@example.com' },
  ]);
  await send();
  assert.equal((await cameTo('guardian@example.com')).length, 1);
});

test('a receipt that was withdrawn is sent once its membership is held again, since the refund failed', async () => {
  const { uuid, email, intentId } = await dueLetter();
  await refundJoin(server.deps, uuid, membershipOnly);
  await sql`delete from letter where session_uuid = ${uuid} and kind = 'refund'`.execute(server.background);
  await send();
  assert.deepEqual([(await rowOf(uuid)).withdrawn_at === null, await cameTo(email)], [false, []]);
  await failRefund(server, intentId);
  await send();
  assert.equal((await cameTo(email)).length, 1);
});

test('whatever was withdrawn of a membership and its upgrade is due again when both are held again', async () => {
  const client = server.client();
  const email = `member${++people}@example.com`;
  const { uuid, intentId } = await paidJoin(server, client, undefined, { personalEmail: email });
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
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

test('a letter of a later day still comes on that day when a refund fails before it', async () => {
  const email = `member${++people}@example.com`;
  const { uuid, intentId } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
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

test('a join of which only the email of its receipt is known gets its letters there', async () => {
  const { uuid } = await dueLetter();
  await sql`
    with typed as (update join_session set details = details - 'personalEmail' where uuid = ${uuid} returning person_id)
    update person set details = details - 'personalEmail' from typed where id = person_id`.execute(
    server.background,
  );
  await sql`update payment set receipt_email = 'receipt.alone@example.com' where session_uuid = ${uuid}`.execute(
    server.background,
  );
  await send();
  assert.equal((await cameTo('receipt.alone@example.com')).length, 1);
});
