import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import type { StudentDetails } from '#core/studentDetails.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { details, openIntent, payOrder } from '../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDue } from './sendLetters.ts';
import { STOP_LINK_INVALID } from './stopLinks.ts';

const server = await sharedServer();
const database = server.background;
const send = () => sendDue({ ...server.deps, database }, server.deps.config.mail!);

beforeEachIn(import.meta.filename, async () => {
  await server.mailFault(null);
  await sql`truncate letter, staff_notice, reminder_stop`.execute(database);
});

let people = 0;
const newEmail = () => `left${++people}@example.com`;
/** Makes an undergraduate's join (a high-school join with `isTOLA`) that was abandoned after Student Details. */
async function leftJoin(change: Partial<StudentDetails> = {}, isTOLA = false) {
  const client = server.client();
  const email = change.personalEmail ?? newEmail();
  const started = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA },
  });
  const { uuid } = started.data;
  const body = details({ personalEmail: email, ...change });
  assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
  return { client, uuid, email };
}
const order = (client: Client, uuid: string) =>
  client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });

/** Backdates all times on which reminders depend, as if these hours had passed. */
async function pass(hours: number): Promise<void> {
  const by = sql`make_interval(secs => ${hours * 3600}::float)`;
  await sql`update letter set due_at = due_at - ${by}, next_try_at = next_try_at - ${by}, sent_at = sent_at - ${by}`.execute(
    database,
  );
  await sql`
    update join_session set created_at = created_at - ${by}, updated_at = updated_at - ${by},
      paying_since = paying_since - ${by}, paid_at = paid_at - ${by}`.execute(database);
}
/** Lets these hours pass, then sends the reminders that are due. */
async function after(hours: number): Promise<void> {
  await pass(hours);
  await send();
}
const mailsTo = async (email: string) => (await server.letters()).filter(({ to }) => to === email);
/** Returns the subjects of the reminders to an email, the oldest first. */
const remindersTo = async (email: string) =>
  (await mailsTo(email))
    .map(({ subject }) => subject)
    .filter((subject) => subject.startsWith('Your registration is'))
    .reverse();
const SAVED = 'Your registration is saved';
const OPEN = 'Your registration is still open';
const statesOf = async (uuid: string) => {
  const { rows } = await sql<{ text: string }>`
    select kind || case when sent_at is not null then ' sent' when withdrawn_at is not null then ' withdrawn'
      when refusal is not null then ' refused' when due_at <= now() then ' due' else ' later' end as text
    from letter where session_uuid = ${uuid} and kind like 'reminder%' order by kind desc`.execute(database);
  return rows.map(({ text }) => text);
};

test('who left a join behind is reminded after an hour and after two days, once each', async () => {
  const { client, uuid, email } = await leftJoin();
  // The joiner has opened the card form and given an email for the receipt.
  await order(client, uuid);
  await openIntent(client, uuid);
  await sql`update payment set receipt_email = ${email} where session_uuid = ${uuid}`.execute(database);
  assert.deepEqual(await statesOf(uuid), ['reminder-hour later', 'reminder-days later']);
  await after(0.9);
  assert.deepEqual(await remindersTo(email), []);
  await after(0.2);
  await send();
  assert.deepEqual(await remindersTo(email), [SAVED]);
  await after(46);
  assert.deepEqual(await remindersTo(email), [SAVED]);
  await after(1);
  await after(24);
  await after(24 * 40);
  assert.deepEqual(await remindersTo(email), [SAVED, OPEN]);
  assert.deepEqual(await statesOf(uuid), ['reminder-hour sent', 'reminder-days sent']);
});

test('a reminder opens its join, and its header has the button of mail clients', async () => {
  const { uuid, email } = await leftJoin();
  await after(1.1);
  const [letter] = await mailsTo(email);
  const { headers, text, html, headerLines } = await simpleParser(Buffer.from(letter!.raw, 'latin1'));
  const [, token] = /^http\S+\/pass#(\S+)$/m.exec(text!)!;
  assert.equal((await server.client().call('openPass', { body: { token: token! } })).data.hasDetails, true);
  const list = headers.get('list') as unknown as { unsubscribe: { url: string } };
  assert.match(list.unsubscribe.url, /^http:\/\/[^@]+\/api\/public\/unsubscribe\/[\w-]{43}$/);
  assert.deepEqual(
    headerLines.filter(({ key }) => key === 'list-unsubscribe-post').map(({ line }) => line),
    ['List-Unsubscribe-Post: List-Unsubscribe=One-Click'],
  );
  const [page] = /http\S+\/unsubscribe\/\S+$/m.exec(text!)!;
  assert.ok((html as string).includes(`href="${page}"`));
  for (const link of [list.unsubscribe.url, page!])
    assert.doesNotMatch(link, new RegExp(`${uuid}|left|example`));
});

test('activity postpones a reminder: an hour after the last', async () => {
  const { client, uuid, email } = await leftJoin();
  await pass(0.9);
  await order(client, uuid);
  await after(0.2);
  assert.deepEqual(
    [await remindersTo(email), await statesOf(uuid)],
    [[], ['reminder-hour later', 'reminder-days later']],
  );
  await after(0.7);
  assert.deepEqual(await remindersTo(email), []);
  await after(0.2);
  assert.deepEqual(await remindersTo(email), [SAVED]);
  await pass(40);
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: email }) });
  await after(10);
  assert.deepEqual(await remindersTo(email), [SAVED], 'two days after the last activity');
  await after(39);
  assert.deepEqual(await remindersTo(email), [SAVED, OPEN]);
});

test('a payment that is under way postpones it, and one that was made ends it', async () => {
  const { client, uuid, email } = await leftJoin();
  await order(client, uuid);
  await sql`update join_session set state = 'paying', paying_since = now() where uuid = ${uuid}`.execute(
    database,
  );
  await after(1.1);
  assert.deepEqual(
    [await remindersTo(email), await statesOf(uuid)],
    [[], ['reminder-hour later', 'reminder-days later']],
  );
  await sql`update join_session set state = 'ordering', paying_since = null where uuid = ${uuid}`.execute(
    database,
  );
  await payOrder(server, client, uuid);
  await after(1.1);
  await after(50);
  assert.deepEqual(await remindersTo(email), []);
  assert.deepEqual(await statesOf(uuid), ['reminder-hour withdrawn', 'reminder-days withdrawn']);
  assert.deepEqual((await sql`select from staff_notice`.execute(database)).rows, []);
});

test('who paid with another join of the same email is not reminded, whatever became of the money', async () => {
  const { uuid, email } = await leftJoin();
  const other = await leftJoin({ personalEmail: email.toUpperCase(), firstName: 'Sam' });
  await sql`update join_session set created_at = now() - interval '1 day' where uuid = ${other.uuid}`.execute(
    database,
  );
  await order(other.client, other.uuid);
  const { intentId } = await payOrder(server, other.client, other.uuid);
  await sql`update payment set receipt_email = null where intent_id = ${intentId}`.execute(database);
  await sql`update membership set standing = 'refunded' where payment_intent = ${intentId}`.execute(database);
  await after(1.1);
  assert.deepEqual([await remindersTo(email), (await statesOf(uuid))[0]], [[], 'reminder-hour withdrawn']);
});

test('an email that a receipt went to, one of a member in HubSpot, and a contact who is a member are not reminded', async () => {
  const [receipt, mirrored, invited] = [await leftJoin(), await leftJoin(), await leftJoin()];
  const profiled = await leftJoin();
  await sql`insert into person (contact_id, is_member) values ('7776', true)`.execute(database);
  await sql`update join_session set person_id = (select id from person where contact_id = '7776') where uuid = ${invited.uuid}`.execute(
    database,
  );
  const paid = await leftJoin();
  await order(paid.client, paid.uuid);
  const { intentId } = await payOrder(server, paid.client, paid.uuid);
  await sql`update payment set receipt_email = ${receipt.email} where intent_id = ${intentId}`.execute(
    database,
  );
  await sql`
    insert into person (contact_id, profile, words, is_member)
    values ('7777', ${JSON.stringify({ personalEmail: mirrored.email.toUpperCase() })}, ${mirrored.email}, true),
      ('7779', ${JSON.stringify({ email: profiled.email.toUpperCase() })}, ${profiled.email}, true)`.execute(
    database,
  );
  await after(1.1);
  for (const { uuid } of [receipt, mirrored, profiled, invited])
    assert.deepEqual((await statesOf(uuid))[0], 'reminder-hour withdrawn');
});

test('a newer join of the same email has the reminders, and an address gets two in thirty days', async () => {
  const older = await leftJoin({ personalEmail: newEmail().replace('left', 'Left') });
  const newer = await leftJoin({ personalEmail: older.email });
  await after(1.1);
  assert.deepEqual(
    [(await statesOf(older.uuid))[0], (await statesOf(newer.uuid))[0]],
    ['reminder-hour withdrawn', 'reminder-hour sent'],
  );
  await after(48);
  assert.deepEqual(await remindersTo(older.email), [SAVED, OPEN]);
  await pass(24 * 10);
  const again = await leftJoin({ personalEmail: older.email });
  await after(1.1);
  assert.deepEqual(
    [(await statesOf(again.uuid))[0], (await mailsTo(older.email)).length],
    ['reminder-hour withdrawn', 2],
  );
  await pass(24 * 20);
  await leftJoin({ personalEmail: older.email });
  await after(1.1);
  assert.deepEqual(await remindersTo(older.email), [SAVED, OPEN, SAVED]);
});

test('minors are not reminded, unless the society says so', async (t) => {
  const minor = await leftJoin({}, true);
  assert.deepEqual(await statesOf(minor.uuid), []);
  changeSociety(t, server, (source) =>
    source.replace('  reminders: true', '  reminders: true\n  remindMinors: true'),
  );
  const { uuid, email } = await leftJoin({}, true);
  await after(1.1);
  assert.deepEqual(
    [await statesOf(uuid), await remindersTo(email)],
    [['reminder-hour sent', 'reminder-days later'], [SAVED]],
  );
});

test('a society that reminds nobody any more sends none that was due, and makes none due', async (t) => {
  const { uuid } = await leftJoin();
  changeSociety(t, server, (source) => source.replace('  reminders: true', '  reminders: false'));
  await after(1.1);
  assert.deepEqual((await statesOf(uuid))[0], 'reminder-hour withdrawn');
  assert.deepEqual(await statesOf((await leftJoin()).uuid), []);
});

test('without an email, or policies agreed to, nobody is reminded; nor at an address that only a contact has', async () => {
  const [gone, open] = [await leftJoin(), await leftJoin()];
  await sql`insert into person (contact_id, profile) values ('7778', '{"personalEmail": "known@example.com"}')`.execute(
    database,
  );
  await sql`update join_session set details = details - 'personalEmail', person_id = (select id from person where contact_id = '7778') where uuid = ${gone.uuid}`.execute(
    database,
  );
  await sql`update join_session set has_agreed_to_policies = false where uuid = ${open.uuid}`.execute(
    database,
  );
  await after(1.1);
  for (const { uuid } of [gone, open]) assert.deepEqual((await statesOf(uuid))[0], 'reminder-hour withdrawn');
  assert.deepEqual(await mailsTo('known@example.com'), []);
});

test('who came by a link to the checkout has given no details, and is not reminded', async () => {
  const client = server.client();
  const body = { hubspotContactId: '102', mainProductId: 3 };
  const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
  const { products } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.equal(products.length, 1);
  await after(50);
  assert.deepEqual(await statesOf(uuid), []);
});

/** Returns the unsubscribe links in the newest reminder to an email. */
async function linksTo(email: string) {
  const { headers, text } = await simpleParser(Buffer.from((await mailsTo(email))[0]!.raw, 'latin1'));
  const { unsubscribe } = headers.get('list') as unknown as { unsubscribe: { url: string } };
  const [page] = /http\S+\/unsubscribe\/\S+$/m.exec(text!)!;
  // The link in the mail has the public address, but the test's server listens on another address.
  const oneClick = server.url + new URL(unsubscribe.url).pathname;
  return { oneClick, page: page!, token: page!.split('/').at(-1)! };
}

test('one click stops the reminders of every join of the email, and no other letter', async () => {
  let last: Awaited<ReturnType<typeof leftJoin>>;
  for (const init of [
    { body: 'List-Unsubscribe=One-Click', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    {
      body: (() => {
        const form = new FormData();
        form.set('List-Unsubscribe', 'One-Click');
        return form;
      })(),
    },
    { headers: { 'content-type': 'application/json' }, body: 'no json' },
    {},
  ]) {
    last = await leftJoin({ personalEmail: newEmail().replace('left', 'Left') });
    const { email } = last;
    await after(1.1);
    const { oneClick } = await linksTo(email);
    const answer = await fetch(oneClick, { method: 'POST', redirect: 'error', ...init });
    assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [200, null]);
    const other = await leftJoin({ personalEmail: email.toLowerCase() });
    await after(1.1);
    await after(50);
    assert.deepEqual(await remindersTo(email), [SAVED]);
    for (const state of await statesOf(other.uuid)) assert.match(state, /withdrawn$/);
  }
  const { client, uuid, email } = last!;
  await order(client, uuid);
  await payOrder(server, client, uuid);
  await send();
  assert.equal((await mailsTo(email))[0]!.subject, 'Your membership is confirmed');
});

test('opening the link of the button changes nothing, and leads to the page', async () => {
  const { email } = await leftJoin();
  await after(1.1);
  const { oneClick, page, token } = await linksTo(email);
  const answer = await fetch(oneClick, { redirect: 'manual' });
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, page]);
  await fetch(oneClick, { method: 'HEAD', redirect: 'manual' });
  const client = server.client();
  assert.deepEqual((await client.call('getReminders', { params: { token } })).data, { areStopped: false });
  await after(47);
  assert.deepEqual(await remindersTo(email), [SAVED, OPEN]);
});

test('the page stops reminders and undoes it, as often as one likes', async () => {
  const { email } = await leftJoin();
  await after(1.1);
  const { token } = await linksTo(email);
  const client = server.client();
  const read = async () => (await client.call('getReminders', { params: { token } })).data.areStopped;
  for (const areStopped of [true, true, false, false, true, false]) {
    await client.call('setReminders', { params: { token }, body: { areStopped } });
    assert.equal(await read(), areStopped);
  }
  await after(47);
  assert.deepEqual(await remindersTo(email), [SAVED, OPEN]);
});

test('a link that is not complete, or not ours, says so and stops nothing', async () => {
  const { email } = await leftJoin();
  await after(1.1);
  const { token } = await linksTo(email);
  const client = server.client();
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  for (const wrong of [
    token.slice(0, -1),
    token.slice(0, -1) + last,
    `${token}A`,
    'x',
    '%00',
    'A'.repeat(43),
  ]) {
    const params = { token: wrong };
    const [read, set] = [
      await client.call('getReminders', { params }),
      await client.call('setReminders', { params, body: { areStopped: true } }),
    ];
    const clicked = await client.fetch(`/api/public/unsubscribe/${encodeURIComponent(wrong)}`, {
      method: 'POST',
    });
    assert.deepEqual([read.status, set.status, clicked.status], [403, 403, 403], wrong);
    assert.deepEqual([read.message, set.message], [STOP_LINK_INVALID, STOP_LINK_INVALID]);
  }
  const { rows } = await sql`select from reminder_stop`.execute(database);
  assert.deepEqual(rows, []);
});

test('clicks are limited by address', async (t) => {
  limitWith(t, server, { LIMIT_REMINDER_STOPS_PER_ADDRESS: '2/60' });
  const { email } = await leftJoin();
  await after(1.1);
  const { oneClick, token } = await linksTo(email);
  const click = async () => (await fetch(oneClick, { method: 'POST' })).status;
  assert.deepEqual([await click(), await click(), await click()], [200, 200, 429]);
  const { status } = await server
    .client()
    .call('setReminders', { params: { token }, body: { areStopped: false } });
  assert.equal(status, 429);
  assert.equal((await server.client().call('getReminders', { params: { token } })).data.areStopped, true);
});
