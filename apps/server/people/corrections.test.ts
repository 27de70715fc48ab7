import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { dump } from '../../../tests/harness/dump.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import {
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { beforeStripe, charge, upgradeIntentOf } from '../../../tests/harness/upgrades.ts';
import { reconcile } from '../books/reconcile.ts';
import { sendDueLinks } from '../joining/pass/sendLinks.ts';
import { ChangedMeanwhile, correctPerson, previewCorrection } from './correctPerson.ts';
import { personNamed } from './personNamed.ts';

/**
 * Tests corrections of persons who share an email or a contact with others, have several joins, or are changed at the same time.
 */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const { sync } = hubspotPeople(server);
const {
  beginByCode,
  contactOf,
  invited,
  lettersTo,
  mail,
  paid,
  personOf,
  refund,
  run,
  statusAt,
  statusOf,
  statusOfEmail,
} = identityOn(server);

const correct = (t: TestContext, uuid: string, ...change: string[]) =>
  run(t, 'person correct', uuid, ...change);
const emailOf = async (uuid: string) => (await personOf(uuid)).details?.personalEmail;

test('a correction that was made after the backup holds for a join that the backup has', async (t) => {
  const { uuid } = await paid({ personalEmail: 'backup.typo@example.com' });
  const restore = await dump(server);
  await correct(t, uuid, '--email', 'backup.right@example.com');
  await restore();
  await run(t, 'settle', '--missing');
  assert.equal(await emailOf(uuid), 'backup.right@example.com');
});

test('an email that is corrected to somebody else’s and back leaves their status, and its own contact is a member', async (t) => {
  const [mine, their] = ['back.mine@example.com', 'back.theirs@example.com'];
  const theirs = await newContact(server, their, { membership_status: 'former' });
  const { uuid } = await paid({ personalEmail: mine });
  await deliver(server);
  for (const email of [their, mine]) {
    await correct(t, uuid, '--email', email);
    await deliver(server);
  }
  assert.deepEqual([await statusOfEmail(mine), await statusAt(theirs)], ['member', 'former']);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`HubSpot knows contact ${theirs} by it`));
});

test('an email that is corrected away from the contact that it had found and back has a member in HubSpot', async (t) => {
  const [mine, found] = ['away.mine@example.com', 'away.found@example.com'];
  const theirs = await newContact(server, found, { firstname: 'Ada' });
  const { uuid } = await paid({ personalEmail: found });
  await deliver(server);
  await correct(t, uuid, '--email', mine);
  await deliver(server);
  assert.equal(await statusAt(theirs), null);
  await correct(t, uuid, '--email', found);
  await deliver(server);
  assert.equal(await statusOf(uuid), 'member');
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`HubSpot knows contact ${theirs} by it`));
});

test('when the email is corrected of whose join made a contact, who is attached to it gets one of their own', async (t) => {
  const [email, own] = ['attached.slip@example.com', 'attached.right@example.com'];
  const anna = await paid({ personalEmail: email, firstName: 'Anna' });
  await deliver(server);
  await refund(anna.uuid);
  const again = await paid({ personalEmail: email, firstName: 'Anna' });
  await deliver(server);
  assert.equal(await contactOf(again.uuid), await contactOf(anna.uuid));
  await correct(t, anna.uuid, '--email', own);
  await deliver(server);
  await sync();
  await deliver(server);
  assert.deepEqual([await statusOfEmail(own), await statusOfEmail(email)], ['former', 'member']);
});

test('who is corrected away from a contact that they had found leaves it to another who had', async (t) => {
  const [email, own] = ['mother.shared@example.com', 'mother.anna@example.com'];
  const id = await newContact(server, email, { firstname: 'Anna' });
  const given = { personalEmail: email, firstName: 'Anna' };
  const anna = await paid(given);
  await refund(anna.uuid);
  const again = await paid(given);
  await deliver(server);
  assert.deepEqual([await contactOf(anna.uuid), await contactOf(again.uuid)], [id, id]);
  await correct(t, anna.uuid, '--email', own);
  await deliver(server);
  assert.deepEqual([await statusAt(id), await statusOfEmail(own)], ['member', 'former']);
  await refund(again.uuid);
  assert.equal(await statusAt(id), 'former');
});

test('of several joins of one person all follow a correction: the open one, HubSpot, letters and links', async (t) => {
  const given = (email: string) => ({ personalEmail: email, firstName: 'Several' });
  const first = await paid(given('several.first@example.com'), 'HONOR104');
  await deliver(server);
  await refund(first.uuid);
  const open = await orderingJoin(server.client(), 'HONOR104', given('several.open@example.com'));
  const last = await paid(given('several.last@example.com'), 'HONOR104');
  await mail();
  assert.equal(await emailOf(last.uuid), 'several.last@example.com');
  const right = 'several.right@example.com';
  await correct(t, last.uuid, '--email', right, '--resend');
  const { details: typed } = await database
    .selectFrom('join_session')
    .select('details')
    .where('uuid', '=', open)
    .executeTakeFirstOrThrow();
  assert.equal(typed?.personalEmail, right);
  const subjects = (await lettersTo(right)).map(({ subject }) => subject);
  assert.deepEqual(subjects, ['Your membership is confirmed']);
  await deliver(server);
  const { personal_email, membership_status } = await atHubspot(
    server,
    '104',
    'personal_email',
    'membership_status',
  );
  assert.deepEqual([personal_email, membership_status], [right, 'member']);
  for (const former of ['first', 'open', 'last']) {
    const email = `several.${former}@example.com`;
    await server.client().call('sendPassLinks', { body: { email } });
    await sendDueLinks(deps);
    const { rows } = await sql`select from letter where kind = 'link' and email = ${email}`.execute(database);
    assert.equal(rows.length, 0, email);
  }
});

test('a pass is opened by the corrected last name and ZIP code, and no more by those of before', async (t) => {
  const { uuid } = await paid({ personalEmail: 'by.name@example.com', lastName: 'Wrongname' });
  await correct(t, uuid, '--last-name', 'Rightname', '--zip', '78799');
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  const prove = async (lastName: string, zipcode: string) =>
    (await server.client().call('provePassByName', { body: { token, lastName, zipcode } })).status;
  assert.deepEqual([await prove('Wrongname', '78701'), await prove('rightname', '78799')], [400, 200]);
});

test('each correction ends the links of before, and the confirmation that is sent again has one that opens', async (t) => {
  const [one, two] = ['link.one@example.com', 'link.two@example.com'];
  const { uuid } = await paid({ personalEmail: one });
  /** The tokens of the links that were mailed to an email, the newest first. */
  const tokens = async (email: string) => {
    const texts = (await lettersTo(email)).map(({ raw }) => simpleParser(Buffer.from(raw, 'latin1')));
    return (await Promise.all(texts)).map(({ text }) => /\/pass\S*#(\S+)/.exec(text!)![1]!);
  };
  const opens = async (token: string) =>
    (await server.client().call('openPass', { body: { token } })).status === 200;
  const [first] = await tokens(one);
  await correct(t, uuid, '--email', two, '--resend');
  const [second, ...more] = await tokens(two);
  assert.deepEqual([await opens(first!), await opens(second!), more], [false, true, []]);
  await correct(t, uuid, '--email', one, '--resend');
  const [third, again, ...others] = await tokens(one);
  assert.deepEqual([again, others], [first, []]);
  assert.deepEqual([await opens(first!), await opens(second!), await opens(third!)], [false, false, true]);
});

test('whom a checkout link was paid for corrects their email once proven, and keeps their name in HubSpot', async () => {
  const id = await newContact(server, 'kid@example.com', { firstname: 'Kid', lastname: 'Eight' });
  const link = deps.links.sign(
    { kind: 'checkout', contactId: id, parameters: {} },
    new Date(Date.now() + 86_400_000),
  );
  const payer = server.client();
  const started = await payer.call('initiateCheckout', { body: { hubspotContactId: id, ...link } });
  const uuid = started.data.joinSessionUuid;
  const intent = await openIntent(payer, uuid);
  const agreed = { revision: intent.revision, agreeToPolicies: true, hasGuardianConsent: true };
  await payer.call('beginPayment', { params: { uuid }, body: agreed });
  await payByCard(server, intent.id);
  await reportPayment(payer, uuid, intent);
  const change = { params: { uuid }, body: { email: 'kid.new@example.com' } };
  assert.equal((await payer.call('correctEmail', change)).status, 403);
  const kid = server.client();
  assert.equal(await proveByCode(server, kid, uuid), 200);
  assert.equal((await kid.call('correctEmail', change)).status, 200);
  await deliver(server);
  const there = await atHubspot(server, id, 'personal_email', 'membership_status', 'firstname');
  assert.deepEqual(
    [there.personal_email, there.membership_status, there.firstname],
    ['kid.new@example.com', 'member', 'Kid'],
  );
});

test('their contact says member of two who are kept apart until both are refunded', async (t) => {
  const person = { personalEmail: 'apart.one@example.com', firstName: 'Sam', lastName: 'Ten' };
  const [father, son] = [await paid(person), await paid(person)];
  await deliver(server);
  await run(t, 'person keep-apart', father.uuid, son.uuid);
  await deliver(server);
  await refund(father.uuid);
  assert.equal(await statusOfEmail(person.personalEmail), 'member');
  await refund(son.uuid);
  assert.equal(await statusOfEmail(person.personalEmail), 'former');
  const { differences } = await reconcile(deps);
  assert.deepEqual(
    differences.filter(({ subject }) => [father.uuid, son.uuid].includes(subject)),
    [],
  );
});

test('whose membership ended is former as soon as they are kept apart from who holds one', async (t) => {
  const { id, code } = await invited('apart.contact@example.com', { firstname: 'Sam', lastname: 'Eleven' });
  const person = { personalEmail: 'apart.two@example.com', firstName: 'Sam', lastName: 'Eleven' };
  const [ended, holder] = [await paid(person, code), await paid(person)];
  await deliver(server);
  await refund(ended.uuid);
  assert.equal(await statusAt(id), 'member');
  await run(t, 'person keep-apart', ended.uuid, holder.uuid);
  await deliver(server);
  assert.deepEqual([await statusAt(id), await statusOfEmail(person.personalEmail)], ['former', 'member']);
});

test('whose membership ended is a member in HubSpot while a corrected email makes them likely the same as a holder', async (t) => {
  const { id, code } = await invited('alike.contact@example.com', { firstname: 'Sam', lastname: 'Twelve' });
  const person = { personalEmail: 'alike.me@example.com', firstName: 'Sam', lastName: 'Twelve' };
  const ended = await paid(person, code);
  const holder = await paid({ ...person, personalEmail: 'alike.typo@example.com' });
  await deliver(server);
  await refund(ended.uuid);
  assert.equal(await statusAt(id), 'former');
  for (const [email, status] of [
    ['alike.me@example.com', 'member'],
    ['alike.brother@example.com', 'former'],
  ] as const) {
    await correct(t, holder.uuid, '--email', email);
    await deliver(server);
    assert.equal(await statusAt(id), status, email);
  }
});

test('an upgrade that is paid after a correction has its receipt at the corrected email', async (t) => {
  const { client, uuid, intentId } = await paid({ personalEmail: 'upgrade.typo@example.com' });
  await correct(t, uuid, '--email', 'upgrade.right@example.com');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const intent = await deps.payments.retrieveIntent(await upgradeIntentOf(server, uuid));
  assert.equal(intent.receiptEmail, 'upgrade.right@example.com');
  assert.deepEqual(await lettersTo('upgrade.typo@example.com'), []);
});

test('letters about a refunded join go to its corrected email, whatever an open join of the same code has', async (t) => {
  const { uuid } = await paid({ personalEmail: 'refund.typo@example.com' }, 'HONOR103');
  await mail();
  await correct(t, uuid, '--email', 'refund.right@example.com');
  await refund(uuid);
  const client = server.client();
  const params = { uuid: await startJoin(client, 'HONOR103') };
  const body = details({ personalEmail: 'refund.other@example.com' });
  assert.equal((await client.call('submitDetails', { params, body })).status, 200);
  assert.equal((await lettersTo('refund.right@example.com')).length, 1);
  assert.deepEqual(await lettersTo('refund.other@example.com'), []);
});

test('an email that is corrected while HubSpot is told leaves nothing in the contact of the mistyped one, who may join', async (t) => {
  const { id, code } = await invited('told.theirs@example.com', { firstname: 'Vic' });
  const { uuid, client } = await paid({ personalEmail: 'told.theirs@example.com' });
  beforeStripe(server, t, 'writeNotes', () => deliver(server));
  const body = { email: 'told.mine@example.com' };
  assert.equal((await client.call('correctEmail', { params: { uuid }, body })).status, 200);
  await deliver(server);
  await sync();
  await deps.contacts.refresh(id);
  const left = await atHubspot(server, id, 'membership_status', 'amount_paid');
  assert.deepEqual([left.membership_status || null, left.amount_paid || null], [null, null]);
  assert.equal(await beginByCode(id, code), 200);
  assert.deepEqual(await noticesOf(server, uuid), []);
  assert.notEqual(await contactOf(uuid), id);
});

test('of corrections that are made at once the last one holds, here and in what Stripe notes', async () => {
  const { client, uuid, intentId } = await paid({ personalEmail: 'at.once@example.com' });
  const answers = await Promise.all(
    ['one', 'two', 'three'].map((name) =>
      client.call('correctEmail', { params: { uuid }, body: { email: `at.once.${name}@example.com` } }),
    ),
  );
  assert.ok(answers.some(({ status }) => status === 200));
  assert.ok(answers.every(({ status }) => [200, 503].includes(status)));
  const { metadata } = await deps.payments.retrieveIntent(intentId);
  assert.equal(metadata.email, await emailOf(uuid));
});

test('while Stripe is told of a correction, another of the same person is asked to try again', async (t) => {
  const { client, uuid } = await paid({ personalEmail: 'in.turn@example.com' });
  const correctEmail = (name: string) =>
    client.call('correctEmail', { params: { uuid }, body: { email: `in.turn.${name}@example.com` } });
  const second = Promise.withResolvers<number>();
  let isFirst = true;
  beforeStripe(server, t, 'writeNotes', async () => {
    if (!isFirst) return;
    isFirst = false;
    second.resolve((await correctEmail('two')).status);
  });
  assert.equal((await correctEmail('one')).status, 200);
  assert.equal(await second.promise, 503);
  assert.equal(await emailOf(uuid), 'in.turn.one@example.com');
});

test('who was merged away since staff looked is not corrected', async (t) => {
  const one = await paid({ personalEmail: 'looked.one@example.com', lastName: 'One' });
  const other = await paid({ personalEmail: 'looked.other@example.com', lastName: 'Other' });
  const personId = (await personNamed(database, one.uuid))!;
  const change = { personalEmail: 'looked.right@example.com' };
  const seen = await previewCorrection(deps, personId, change);
  await run(t, 'person merge', one.uuid, other.uuid);
  const given = { seen, resends: false };
  await assert.rejects(correctPerson(deps, personId, change, given), ChangedMeanwhile);
  assert.notEqual(await emailOf(one.uuid), change.personalEmail);
});

test('who corrects their email while staff merge them is asked to try again, and nothing is corrected', async (t) => {
  const one = await paid({ personalEmail: 'meanwhile.one@example.com', lastName: 'One' });
  const other = await paid({ personalEmail: 'meanwhile.other@example.com', lastName: 'Other' });
  let isMerged = false;
  beforeStripe(server, t, 'writeNotes', async () => {
    if (isMerged) return;
    isMerged = true;
    await run(t, 'person merge', one.uuid, other.uuid);
  });
  const email = 'meanwhile.right@example.com';
  const correctEmail = () => one.client.call('correctEmail', { params: { uuid: one.uuid }, body: { email } });
  assert.equal((await correctEmail()).status, 503);
  assert.notEqual(await emailOf(one.uuid), email);
  assert.equal((await correctEmail()).status, 200);
  assert.equal(await emailOf(other.uuid), email);
});

const subjectsTo = async (email: string) => (await lettersTo(email)).map(({ subject }) => subject);

test('a member corrects their email on the welcome page: the confirmation goes to the new one, and the former is told', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: 'mistyped@example.com' });
  const [confirmation] = await subjectsTo('mistyped@example.com');
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  const body = { email: ' Right@example.com ' };
  const { status, data } = await client.call('correctEmail', { params: { uuid }, body });
  assert.deepEqual([status, data], [200, { email: 'Right@example.com' }]);
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.email, 'Right@example.com');
  assert.deepEqual(await subjectsTo('Right@example.com'), [confirmation]);
  const told = await subjectsTo('mistyped@example.com');
  assert.equal(told.length, 2);
  assert.match(told.join(), /was changed/);
  assert.equal((await server.client().call('openPass', { body: { token } })).status, 403);
  assert.equal((await client.call('correctEmail', { params: { uuid }, body })).status, 200, 'said twice');
  assert.equal((await subjectsTo('Right@example.com')).length, 1, 'and done once');
});

test('the email is corrected by nobody else: not by who knows the join alone, but by who has proven to be the joiner', async () => {
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'mine@example.com',
  });
  const other = server.client();
  const correct = (email: string) => other.call('correctEmail', { params: { uuid }, body: { email } });
  assert.equal((await correct('theirs@example.com')).status, 404);
  assert.equal(await proveByCode(server, other, uuid), 200);
  assert.equal((await correct('my.other@example.com')).status, 200);
  const unpaid = await orderingJoin(other, 'LINCOLN2026', { personalEmail: 'unpaid@example.com' });
  const early = await other.call('correctEmail', {
    params: { uuid: unpaid },
    body: { email: 'a@example.com' },
  });
  assert.equal(early.status, 409);
});

test('an email to which no letter can go is refused with a sentence, and five corrections a day are enough', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: 'first@example.com' });
  limitWith(t, server, { LIMIT_EMAIL_CORRECTIONS_PER_JOIN: '2/60' });
  const correct = (email: string) => client.call('correctEmail', { params: { uuid }, body: { email } });
  for (const email of ['', 'none', 'name@gmail..com']) {
    const { status, errors } = await correct(email);
    assert.deepEqual([status, Object.keys(errors ?? {})], [400, ['email']], email);
  }
  for (const email of ['second@example.com', 'third@example.com'])
    assert.equal((await correct(email)).status, 200);
  assert.equal((await correct('fourth@example.com')).status, 429);
  const { rows } = await sql<{ email: string }>`
    select details ->> 'personalEmail' as email from person where id = (select person_id from join_session where uuid = ${uuid})`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ email: 'third@example.com' }]);
});
