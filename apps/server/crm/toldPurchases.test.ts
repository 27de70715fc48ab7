import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { atHubspot, deliver, deliveryOf, newContact } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { everything, lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { diffOf } from './diffJoin.ts';
import { tellHubspot } from './hubspotIsToHear.ts';

/** These tests are about what HubSpot is told of purchases: of several joins of one person, and of what went back. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { atContact, contactOf, paid, pay, refund, statusAt, statusOf } = identityOn(server);

const stole = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0031';
const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';

test('who pays by a school code while they pay by a code of their own is a member until both went back', async () => {
  const personalEmail = 'both.codes@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', invitation_code: 'BOTHCODES' });
  const client = server.client();
  const own = await orderingJoin(client, 'BOTHCODES', { personalEmail });
  const intent = await openIntent(client, own);
  assert.equal((await beginPayment(client, own, intent.revision)).status, 200);
  const school = await pay({ personalEmail });
  assert.deepEqual([await contactOf(school), await statusAt(id)], [id, 'member']);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  await deliver(server);
  await refund(own);
  assert.equal(await statusAt(id), 'member');
  await refund(school);
  assert.equal(await statusAt(id), 'former');
});

test('a join whose money went back before HubSpot was told of it leaves the status that staff gave', async () => {
  const personalEmail = 'a6@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'prospect' });
  const { uuid } = await paid({ personalEmail });
  await refund(uuid);
  assert.deepEqual([await contactOf(uuid), await statusAt(id)], [id, 'prospect']);
  assert.doesNotMatch((await noticesOf(server, uuid)).join(), new RegExp(id));
});

for (const [way, code] of [
  ['by a code of their own', 'ANEWBYCODE'],
  ["by a school's code", 'LINCOLN2026'],
] as const)
  test(`who joined ${way}, was refunded and has joined anew by a school's code is a member of the same contact until that went back, and has not paid twice`, async () => {
    const personalEmail = `anew.${code.toLowerCase()}@example.com`;
    if (code !== 'LINCOLN2026')
      await newContact(server, personalEmail, {
        firstname: 'Jordan',
        lastname: 'Rivera',
        invitation_code: code,
      });
    const { uuid: first } = await paid({ personalEmail }, code);
    await deliver(server);
    await refund(first);
    assert.equal(await statusOf(first), 'former');
    const second = await pay({ personalEmail });
    assert.equal(await contactOf(second), await contactOf(first));
    assert.deepEqual([await statusOf(first), await noticesOf(server, second)], ['member', []]);
    await refund(second);
    assert.equal(await statusOf(first), 'former');
  });

test('whose payment made a contact a member stays one when that contact is merged into a prospect', async () => {
  const personalEmail = 'merged@example.com';
  const id = await newContact(server, personalEmail);
  const other = await newContact(server, 'merged.other@example.com', { membership_status: 'prospect' });
  await pay({ personalEmail });
  assert.equal(await statusAt(id), 'member');
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  assert.equal(await statusAt(merged.id), 'member');
});

test('whose contact is merged in HubSpot while their bank asks them is a member there once they have paid', async () => {
  const personalEmail = 'paying@example.com';
  const id = await newContact(server, personalEmail, { invitation_code: 'PAYING1' });
  const other = await newContact(server, 'paying.other@example.com');
  const client = server.client();
  const uuid = await orderingJoin(client, 'PAYING1', { personalEmail });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await deliver(server);
  assert.equal(await statusAt(merged.id), 'member');
});

test('what somebody likely the same gave stays said of a contact that buys by itself since, and nothing is left to write', async () => {
  const personalEmail = 'told@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', membership_status: 'member' });
  const uuid = await pay({ personalEmail }, donation25);
  await upgradeByLink(server, id);
  await deliver(server);
  const told = ['membership_status', 'membership_name', 'upgrade_name', 'donation_amount'];
  assert.deepEqual(await atContact(id, told), [
    'member',
    'Membership',
    'Distinguished Member upgrade',
    '25.00',
  ]);
  const diff = await diffOf({ ...server.deps, database: server.background }, uuid);
  assert.deepEqual(diff, { contactId: id, changes: [] });
});

test('what one who paid twice gets back leaves what they have bought again', async () => {
  const personalEmail = 'pins@example.com';
  const id = await newContact(server, personalEmail);
  const first = await pay({ personalEmail }, lapelPin);
  await pay({ personalEmail }, lapelPin);
  const told = ['store_items', 'amount_paid', 'membership_status'];
  assert.deepEqual(await atContact(id, told), ['Lapel Pin; Lapel Pin', '154.00', 'member']);
  await refundJoin(server.deps, first, {
    membership: false,
    ineligible: false,
    upgrade: false,
    items: 'all',
  });
  await deliver(server);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '142.00', 'member']);
  await refund(first);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '77.00', 'member']);
});

test('a refund and a merge of the same person’s contact do not kill one another', async (t) => {
  for (let turn = 0; turn < 8; turn++) {
    const personalEmail = `lock${turn}@example.com`;
    const code = `LOCK${turn}`;
    const id = await newContact(server, personalEmail, { invitation_code: code });
    const other = await newContact(server, `lock${turn}.other@example.com`);
    const first = await paidJoin(server, server.client(), code, { personalEmail });
    await refundJoin(server.deps, first.uuid, everything);
    await deliver(server);
    const second = await paidJoin(server, server.client(), code, { personalEmail });
    await deliver(server);
    const [low] = [first.uuid, second.uuid].sort();
    const holder = await lockHolder(t, server);
    await holder.query('select from join_session where uuid = $1 for update', [low]);
    const refunding = refundJoin(
      { ...server.deps, database: server.background },
      second.uuid,
      everything,
    ).then(
      () => 'refunded',
      (error: Error) => error.message,
    );
    await waiting(holder, 1);
    const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
      primaryObjectId: other,
      objectIdToMerge: id,
    });
    const merging = server.deps.contacts.refresh(merged.id).catch((error: Error) => error.message);
    await waiting(holder, 2);
    await holder.query('commit');
    assert.deepEqual([await refunding, await merging], ['refunded', 'known'], `turn ${turn}`);
  }
});

test('the upgrade that is still held makes nobody a member whose membership has ended', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR101');
  const body = { paymentIntent: intentId };
  assert.equal(
    (await client.call('createUpgradeCharge', { params: { uuid }, body })).data.status,
    'succeeded',
  );
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name']), [
    'member',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, { ...everything, ineligible: true, upgrade: false, items: 'none' });
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'membership_name', 'upgrade_name']), [
    'former',
    'Membership',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name', 'amount_paid']), [
    'former',
    null,
    '0.00',
  ]);
});

test('a join that has ended does not make former who has joined anew', async () => {
  const first = await paidJoin(server, server.client(), 'HONOR104');
  await deliver(server);
  await refundJoin(server.deps, first.uuid, everything);
  await paidJoin(server, server.client(), 'HONOR104');
  await deliver(server);
  await tellHubspot(server.deps.database, first.uuid);
  await deliver(server);
  assert.deepEqual(await atContact('104', ['membership_status']), ['member']);
});

test('donations and store items are told by themselves, less what went back', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR102');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  for (const productUuid of [donation25, lapelPin, stole])
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: 12.5 } });
  await payOrder(server, client, uuid);
  await deliver(server);
  const told = ['donation_amount', 'store_items', 'amount_paid'];
  assert.deepEqual(await atContact('102', told), ['37.50', 'Lapel Pin; Honor Stole', '176.50']);

  const items = { membership: false, ineligible: false, upgrade: false } as const;
  await refundJoin(server.deps, uuid, { ...items, items: [21, 30] });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['12.50', 'Honor Stole', '139.50']);
  await refundJoin(server.deps, uuid, { ...items, items: 'all' });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['0.00', null, '89.00']);
  assert.deepEqual(await atContact('102', ['membership_status']), ['member']);
});

test('a HubSpot without the properties that came later is told the rest, and of these once they are there', async (t) => {
  const older = await startTestServer();
  t.after(() => older.close());
  const properties = `${older.hubspotUrl}/crm/properties/2026-09/contacts`;
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' };
  for (const name of ['upgrade_name', 'donation_amount', 'store_items']) {
    assert.equal((await fetch(`${properties}/${name}`, { method: 'DELETE', headers })).status, 204);
  }
  const client = older.client();
  const uuid = await startJoin(client, 'HONOR103');
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'sam@example.com' }),
  });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  await payOrder(older, client, uuid);
  await deliver(older);
  const { refusal, sent } = await deliveryOf(older, uuid);
  assert.deepEqual([refusal, sent.membershipStatus, sent.items], [null, 'member', undefined]);
  const { membership_status, amount_paid } = await atHubspot(
    older,
    '103',
    'membership_status',
    'amount_paid',
  );
  assert.deepEqual([membership_status, amount_paid], ['member', '77.00']);

  const body = JSON.stringify({
    name: 'store_items',
    label: 'Store items',
    type: 'string',
    fieldType: 'text',
    groupName: 'contactinformation',
  });
  assert.equal((await fetch(properties, { method: 'POST', headers, body })).status, 201);
  older.deps.now = () => new Date(Date.now() + 11 * 60_000);
  await tellHubspot(older.deps.database, uuid);
  await deliver(older);
  assert.equal((await atHubspot(older, '103', 'store_items')).store_items, 'Lapel Pin');
});
