import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import {
  deliver,
  editAtHubspot,
  newContact,
  refillBudget,
  setDelivery,
} from '../../../tests/harness/deliver.ts';
import { lockHolder } from '../../../tests/harness/locks.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf, stateOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  details,
  newIntent,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { queueForHubspot } from '../crm/queuePersonsForHubspot.ts';
import { confirmPayment } from './confirmPayment.ts';
import { refundJoin } from './refunds/refundJoin.ts';

/**
 * Tests payments by people who already hold the product, or perhaps do, because somebody with the same name and email has paid
 * for it.
 */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/**
 * Makes a paid join. Staff have made its contact a member in HubSpot after Buy Now and before the confirmation of the payment.
 */
async function paidMeanwhile(code: string) {
  const personalEmail = `${code.toLowerCase()}@example.com`;
  const id = await newContact(server, personalEmail, { invitation_code: code });
  const { client, uuid, intent } = await newIntent(server, code, { personalEmail });
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await editAtHubspot(server, id, { membership_status: 'member', membership_name: 'Paid by cheque' });
  await server.deps.contacts.refresh(id);
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  return { id, uuid };
}

async function endOutage(): Promise<void> {
  await server.hubspotFault(null);
  await refillBudget(server);
}

/** Asserts that the join has exactly one notice, which says that its contact already was a member in HubSpot. */
async function isToldOnce(uuid: string, contactId: string): Promise<void> {
  const notices = await noticesOf(server, uuid);
  assert.equal(notices.length, 1, JSON.stringify(notices));
  assert.match(
    notices[0]!,
    new RegExp(`HubSpot already said that its contact ${contactId} is a member\\. .* refund ${uuid} `),
  );
}

test('staff are told when the contact of a payment had become a member by hand since Buy Now', async () => {
  const { id, uuid } = await paidMeanwhile('CHEQUE1');
  const { status } = await server.deps.database
    .selectFrom('payment')
    .select('status')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.equal(status, 'succeeded');
  await isToldOnce(uuid, id);
  await deliver(server);
  await isToldOnce(uuid, id);
});

test('a member by hand is told to staff, too, when HubSpot was last asked long before the payment, but after the join began', async () => {
  const id = await newContact(server, 'asked.long.ago@example.com', { invitation_code: 'LONGAGO1' });
  const { client, uuid } = await newOrder(server, 'LONGAGO1', {
    personalEmail: 'asked.long.ago@example.com',
  });
  await sql`update person set fetched_at = now() - interval '1 hour' where contact_id = ${id}`.execute(
    server.background,
  );
  await sql`update join_session set created_at = now() - interval '2 hours' where uuid = ${uuid}`.execute(
    server.background,
  );
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await editAtHubspot(server, id, { membership_status: 'member', membership_name: 'Paid by cheque' });
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  await deliver(server);
  await isToldOnce(uuid, id);
});

test('a member whose signed link sold them a membership again while HubSpot was down is told to staff once', async () => {
  const properties = { firstname: 'Jordan', lastname: 'Rivera', membership_status: 'member' };
  const id = await newContact(server, 'by.hand@example.com', properties);
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const client = server.client();
  const target = { kind: 'checkout', contactId: id, parameters: { mp: '1' } } as const;
  const signature = server.deps.links.sign(target, new Date(Date.now() + 86_400_000));
  const started = await client.call('initiateCheckout', {
    body: { hubspotContactId: id, mainProductId: 1, ...signature },
  });
  assert.equal(started.status, 200, 'nobody knows yet that they are a member');
  const uuid = started.data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await endOutage();
  await deliver(server);
  await isToldOnce(uuid, id);
});

test('a member whom an import invited, and who paid again while HubSpot was down, is told to staff once', async () => {
  const id = await newContact(server, 'imported@example.com', { membership_status: 'member' });
  await sql`insert into person (contact_id, profile) values (${id}, '{"firstName": "Jordan"}')`.execute(
    server.background,
  );
  await sql`insert into invitation (code, person_id) values ('IMPORTEDMEMBER', (select id from person where contact_id = ${id}))`.execute(
    server.background,
  );
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const { uuid } = await newMember(server, 'IMPORTEDMEMBER', { personalEmail: 'imported@example.com' });
  await endOutage();
  await deliver(server);
  await isToldOnce(uuid, id);
});

test('whom a payment has made a member in HubSpot, which a server that died could not record, has not paid twice', async () => {
  const id = await newContact(server, 'died@example.com', { invitation_code: 'SERVERDIED' });
  const { uuid } = await newMember(server, 'SERVERDIED', { personalEmail: 'died@example.com' });
  await deliver(server);
  await setDelivery(server, uuid, sql`sent = sent - 'membershipStatus'`);
  await queueForHubspot(server.background, uuid);
  await sql`update person set fetched_at = null where contact_id = ${id}`.execute(server.background);
  await deliver(server);
  assert.deepEqual(await noticesOf(server, uuid), []);
});

test('no card is saved for an upgrade that is not offered, since its contact holds one', async () => {
  const personalEmail = 'a5@example.com';
  await newContact(server, personalEmail, { invitation_code: 'REJOIN5' });
  const client = server.client();
  const first = await paidJoin(server, client, 'REJOIN5', { personalEmail });
  const charged = await charge(client, first.uuid, first.intentId);
  assert.equal(charged.data.status, 'succeeded');
  await refundJoin(server.deps, first.uuid, { ...everything, upgrade: false });
  await deliver(server);
  const again = server.client();
  const uuid = await orderingJoin(again, 'REJOIN5', { personalEmail });
  const intent = await openIntent(again, uuid);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intent.id}`);
  await payOrder(server, again, uuid);
  const details = await again.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(details.data.isEligibleForUpgrade, false);
  assert.equal((body as unknown as { setup_future_usage: string | null }).setup_future_usage, null);
});

test('a payment does not wait for another join of its payer that is locked, or the two could deadlock', async (t) => {
  const person = { personalEmail: 'ended.before@example.com' };
  const ended = await newMember(server, 'LINCOLN2026', person);
  await refundJoin(server.deps, ended.uuid, everything);
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for update', [ended.uuid]);
  const { intentId } = await newMember(server, 'LINCOLN2026', person);
  assert.equal(await confirmPayment(server.deps, intentId), 'succeeded');
});

async function orderFor(client: Client, change: Parameters<typeof details>[0] = {}): Promise<string> {
  const uuid = await startJoin(client, 'LINCOLN2026');
  await client.call('submitDetails', { params: { uuid }, body: details(change) });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  return uuid;
}

async function begin(client: Client, uuid: string, more: object = {}) {
  const { revision } = await openIntent(client, uuid);
  return client.call('beginPayment', { params: { uuid }, body: { revision, ...more } });
}

test('who pays a second time for the same name and email in one browser is asked first, and can say that it is meant', async () => {
  const client = server.client();
  await paidJoin(server, client);
  const uuid = await orderFor(client, { firstName: ' jordan', personalEmail: 'Jordan.Rivera@Example.com' });
  const asked = await begin(client, uuid);
  assert.deepEqual([asked.status, (asked.body as { code?: string }).code], [409, 'perhaps_paid']);
  assert.equal(await stateOf(server, uuid), 'ordering');
  assert.equal((await begin(client, uuid, { isForAnother: true })).status, 200);
});

test('nobody is asked for another person, or in another browser', async () => {
  const client = server.client();
  await paidJoin(server, client);
  assert.equal((await begin(client, await orderFor(client, { firstName: 'Sam' }))).status, 200);
  assert.equal(
    (await begin(client, await orderFor(client, { personalEmail: 'sam@example.com' }))).status,
    200,
  );
  const other = server.client();
  assert.equal((await begin(other, await orderFor(other))).status, 200);
});

test('nobody is asked once the first membership has ended, whether or not its upgrade is kept', async () => {
  const { client, uuid: first, intentId } = await newMember(server);
  assert.equal((await charge(client, first, intentId)).data.status, 'succeeded');
  const uuid = await orderFor(client);
  assert.equal((await begin(client, uuid)).status, 409);
  await refundJoin(server.deps, first, {
    membership: true,
    ineligible: false,
    upgrade: false,
    items: 'none',
  });
  assert.equal((await begin(client, uuid)).status, 200);
});

test('a browser holds what it paid for, however many joins are started in it, and none that it only names', async () => {
  const { client, uuid } = await newMember(server);
  for (let count = 0; count < 4; count++) await orderingJoin(client);
  const { data } = await client.call('getWelcome', { params: { uuid } });
  assert.deepEqual([data.firstName, data.receipt?.payments.length], ['Jordan', 1]);
  const upgrade = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(upgrade.data.isEligibleForUpgrade, true);
  const response = await fetch(server.url + pathOf('getWelcome', { uuid }), {
    headers: { cookie: `induct_join=${uuid}.${'A'.repeat(43)}` },
  });
  assert.equal(response.status, 404);
});

test('a member who buys an upgrade by a link is not asked whether it is for somebody else', async () => {
  const client = server.client();
  const name = { firstname: 'Kim', lastname: 'Lee' };
  const hubspotContactId = await newContact(server, 'upgrade.link@example.com', name);
  const order = async (mainProductId: number | null) => {
    const body = { hubspotContactId, mainProductId };
    return (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
  };
  const uuid = await order(null);
  const intent = await openIntent(client, uuid);
  const { revision } = intent;
  await client.call('beginPayment', { params: { uuid }, body: { revision, agreeToPolicies: true } });
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  const upgrade = await order(10);
  assert.equal((await begin(client, upgrade, { agreeToPolicies: true })).status, 200);
});
