import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { membershipsOf, stateOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { ALREADY_MEMBER } from './members.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

const NO_MEMBER =
  'This upgrade is for members only, and we have no record of your membership. Please join first, or contact us if you think this is a mistake.';
const mirror = (contactId: string, isMember: boolean) =>
  sql`update person set is_member = ${isMember}, fetched_at = now() where contact_id = ${contactId}`.execute(
    server.deps.database,
  );
const checkout = (client: Client, hubspotContactId: string, mainProductId: number) =>
  client.call('initiateCheckout', { body: { hubspotContactId, mainProductId } });
const check = async (invitationCode: string) =>
  (await server.client().call('checkEligibility', { body: { invitationCode } })).data;
const askToPay = (client: Client, uuid: string, amount: number) =>
  client.call('createPaymentIntent', {
    params: { uuid },
    body: { amount, currency: 'usd', billingEmail: 'jordan.rivera@example.com' },
  });

const isMirrored = async (id: string) =>
  (
    await server.deps.database
      .selectFrom('person')
      .select('is_member')
      .where('contact_id', '=', id)
      .executeTakeFirstOrThrow()
  ).is_member;

/** Creates a contact with an invite code, in HubSpot and in the mirror. `status` is its membership status in HubSpot. */
async function person(name: string, status = ''): Promise<{ id: string; code: string }> {
  const code = `${name.toUpperCase()}1`;
  const id = await newContact(server, `${name}@example.com`, {
    firstname: name,
    lastname: 'Rivera',
    invitation_code: code,
    membership_status: status,
  });
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  return { id, code };
}

test('who became a member in HubSpot after the join began is refused at every step, and not charged again', async () => {
  const { id, code } = await person('mirrored');
  const client = server.client();
  const uuid = await orderingJoin(client, code);
  const intent = await openIntent(client, uuid);
  await mirror(id, true);

  for (const refused of [
    await client.call('getMembershipDetails', { params: { uuid } }),
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } }),
    await askToPay(client, uuid, intent.amount),
    await beginPayment(client, uuid, intent.revision),
  ])
    assert.deepEqual([refused.status, refused.message], [409, ALREADY_MEMBER]);
  assert.equal((await client.call('submitDetails', { params: { uuid }, body: details() })).status, 200);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('who was refunded is let in again by code at once, before and after HubSpot was told', async () => {
  const { id, code } = await person('again');
  const first = await paidJoin(server, server.client(), code);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  assert.equal((await check(code)).status, 'failed', 'a member');

  await refundJoin(server.deps, first.uuid, everything);
  assert.equal((await check(code)).status, 'success');
  // HubSpot has the status `member`. Only our database knows that the membership has ended.
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  assert.equal((await check(code)).status, 'success');
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'former');
  const second = await paidJoin(server, server.client(), code);
  assert.equal((await membershipsOf(server, second.uuid)).length, 1);
});

test('who was refunded is no member in the mirror, an upgrade that stays or not', async () => {
  const { id, code } = await person('keeper');
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, code);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await deliver(server);
  await server.deps.contacts.refresh(id);
  await refundJoin(server.deps, uuid, { ...everything, upgrade: false });
  assert.equal(await isMirrored(id), false);
});

test('whom staff make a member again in HubSpot, once it was told of the refund, is one here', async () => {
  const { id, code } = await person('restored');
  const { uuid } = await paidJoin(server, server.client(), code, {
    personalEmail: 'restored@example.com',
  });
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  await editAtHubspot(server, id, { membership_status: 'member' });
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  assert.equal((await check(code)).status, 'failed', 'a member');
});

test('whom only the mirror calls a member is looked up in HubSpot before being refused, by code and by link', async () => {
  const { id, code } = await person('mended', 'member');
  assert.equal((await check(code)).status, 'failed');
  await editAtHubspot(server, id, { membership_status: '' });
  assert.equal((await check(code)).status, 'success');

  await mirror(id, true);
  const started = await server.client().call('initiateJoin', {
    body: { contactId: id, invitationCode: code, isTOLA: true },
  });
  assert.equal(started.status, 200);
  await mirror(id, true);
  assert.equal((await server.client().call('initJoin', { params: { id }, body: {} })).status, 200);
  await mirror(id, true);
  assert.equal((await checkout(server.client(), id, 1)).status, 200);
});

test('in an outage whom the mirror calls a member is refused, unless we ended that membership ourselves', async () => {
  const held = await person('held', 'member');
  const ended = await person('ended');
  const { uuid } = await paidJoin(server, server.client(), ended.code);
  await deliver(server);
  await refundJoin(server.deps, uuid, everything);
  await server.hubspotFault({ kind: 'cut', times: 1_000 });
  try {
    assert.equal((await check(held.code)).status, 'failed');
    assert.equal((await check(ended.code)).status, 'success');
  } finally {
    await server.hubspotFault(null);
    await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
      server.deps.database,
    );
  }
});

test('an upgrade link sells nothing to somebody who is no member, at the link, at the order and at its freezing', async () => {
  const stranger = await person('stranger');
  const refused = await checkout(server.client(), stranger.id, 10);
  assert.deepEqual([refused.status, refused.message], [409, NO_MEMBER]);

  const lapsed = await person('lapsed', 'member');
  const client = server.client();
  const uuid = (await checkout(client, lapsed.id, 10)).data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  await mirror(lapsed.id, false);
  const body = { revision: intent.revision, agreeToPolicies: true };
  for (const late of [
    await askToPay(client, uuid, 4500),
    await client.call('beginPayment', { params: { uuid }, body }),
  ])
    assert.deepEqual([late.status, late.message], [409, NO_MEMBER]);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('an upgrade by link that is paid when its buyer is no member any more goes back, and HubSpot hears nothing of it', async () => {
  const lapsed = await person('late', 'member');
  const client = server.client();
  const uuid = (await checkout(client, lapsed.id, 10)).data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  await editAtHubspot(server, lapsed.id, { membership_status: 'former' });
  await mirror(lapsed.id, false);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'refunded');
  assert.deepEqual(await membershipsOf(server, uuid), []);
  await deliver(server);
  assert.equal((await atHubspot(server, lapsed.id, 'membership_status')).membership_status, 'former');
});

test('who is no member any more chooses a membership in place of the upgrade by link, and can pay it', async () => {
  const { id } = await person('rejoining', 'member');
  const client = server.client();
  const uuid = (await checkout(client, id, 10)).data.joinSessionUuid;
  const params = { uuid };
  await editAtHubspot(server, id, { membership_status: 'former' });
  await mirror(id, false);
  assert.equal((await client.call('setMembership', { params, body: { membershipId: 1 } })).status, 200);
  const { products } = (await client.call('getCheckoutDetails', { params })).data;
  assert.deepEqual(
    products.map(({ productType }) => productType),
    ['membership'],
  );
  await payOrder(server, client, uuid);
  assert.deepEqual(
    (await membershipsOf(server, uuid)).map(({ type }) => type),
    ['membership'],
  );
});

test('a member is sold an upgrade by link once', async () => {
  const { id } = await person('upgraded', 'member');
  const client = server.client();
  const uuid = (await checkout(client, id, 10)).data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  const twice = await checkout(server.client(), id, 10);
  assert.deepEqual([twice.status, twice.message], [409, ALREADY_MEMBER]);
});

test('an upgrade by link that is refunded leaves the membership in HubSpot as it is', async () => {
  const { id, code } = await person('kept');
  await paidJoin(server, server.client(), code);
  await deliver(server);
  const client = server.client();
  const { uuid } = await payOrder(server, client, await upgradeOrder(client, id));
  await deliver(server);
  const status = async () => (await atHubspot(server, id, 'membership_status')).membership_status;
  assert.equal(await status(), 'member');
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.equal(await status(), 'member');
});

/** Makes an order of an upgrade by link. */
async function upgradeOrder(client: Client, contactId: string): Promise<string> {
  const uuid = (await checkout(client, contactId, 10)).data.joinSessionUuid;
  await sql`update join_session set has_agreed_to_policies = true where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  return uuid;
}
