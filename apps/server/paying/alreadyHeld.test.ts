import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, editAtHubspot, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { lockHolder } from '../../../tests/harness/locks.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { tellHubspot } from '../crm/hubspotIsToHear.ts';
import { confirmPayment } from './confirmPayment.ts';
import { refundJoin } from './refunds/refundJoin.ts';

/** Tests payments of contacts that already hold the product that they pay for. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/**
 * Makes a paid join. Staff have made its contact a member in HubSpot after Buy Now and before the confirmation of the payment.
 */
async function paidMeanwhile(code: string) {
  const personalEmail = `${code.toLowerCase()}@example.com`;
  const id = await newContact(server, personalEmail, { invitation_code: code });
  const client = server.client();
  const uuid = await orderingJoin(client, code, { personalEmail });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await editAtHubspot(server, id, { membership_status: 'member', membership_name: 'Paid by cheque' });
  await server.deps.contacts.refresh(id);
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  return { id, uuid };
}

async function endOutage(): Promise<void> {
  await server.hubspotFault(null);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.background,
  );
}

async function fillMirror(): Promise<void> {
  await deliver(server);
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
  const client = server.client();
  const uuid = await orderingJoin(client, 'LONGAGO1', { personalEmail: 'asked.long.ago@example.com' });
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

for (const [how, learn] of [
  ['the mirror is filled', fillMirror],
  ['they are told to it', async () => 'nothing'],
] as const)
  test(`a member whose signed link sold them a membership again while HubSpot was down is told to staff once, when ${how}`, async () => {
    const properties = { firstname: 'Jordan', lastname: 'Rivera', membership_status: 'member' };
    const id = await newContact(server, `by.hand.${how.length}@example.com`, properties);
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
    await learn();
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
  const { uuid } = await paidJoin(server, server.client(), 'IMPORTEDMEMBER', {
    personalEmail: 'imported@example.com',
  });
  await endOutage();
  await deliver(server);
  await isToldOnce(uuid, id);
});

test('whom a payment has made a member in HubSpot, which a server that died could not record, has not paid twice', async () => {
  const id = await newContact(server, 'died@example.com', { invitation_code: 'SERVERDIED' });
  const { uuid } = await paidJoin(server, server.client(), 'SERVERDIED', {
    personalEmail: 'died@example.com',
  });
  await deliver(server);
  await setDelivery(server, uuid, sql`sent = sent - 'membershipStatus'`);
  await tellHubspot(server.background, uuid);
  await sql`update person set fetched_at = null where contact_id = ${id}`.execute(server.background);
  await deliver(server);
  assert.deepEqual(await noticesOf(server, uuid), []);
});

test('no card is saved for an upgrade that is not offered, since its contact holds one', async () => {
  const personalEmail = 'a5@example.com';
  await newContact(server, personalEmail, { invitation_code: 'REJOIN5' });
  const client = server.client();
  const first = await paidJoin(server, client, 'REJOIN5', { personalEmail });
  const charged = await client.call('createUpgradeCharge', {
    params: { uuid: first.uuid },
    body: { paymentIntent: first.intentId },
  });
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
  const ended = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await refundJoin(server.deps, ended.uuid, everything);
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for update', [ended.uuid]);
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  assert.equal(await confirmPayment(server.deps, intentId), 'succeeded');
});
