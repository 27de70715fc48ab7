import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  atHubspot,
  deliver,
  deliveryOf,
  editAtHubspot,
  setDelivery,
} from '../../../tests/harness/deliver.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { everything, failRefund, lapelPin, membershipOnly } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { newOrder, orderingJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { eraseJoins } from '../people/privacy/eraseJoins.ts';

/** Tests which of staff's edits in HubSpot stay, and which are overwritten by later events here. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps } = server;
const { invited, nominated, paid, statusAt } = identityOn(server);
const { merge } = hubspotPeople(server);

const refundPins = { membership: false, ineligible: false, upgrade: false, items: 'all' } as const;

async function heldAt(id: string, ...properties: string[]): Promise<(string | null)[]> {
  const held = await atHubspot(server, id, ...properties);
  return properties.map((name) => held[name] || null);
}

/** Makes a paid join with a pin, and sends it to HubSpot. */
async function paidWithPin(code: string, personalEmail: string): Promise<string> {
  const { client, uuid } = await newOrder(server, code, { personalEmail });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  await payOrder(server, client, uuid);
  await deliver(server);
  return uuid;
}

const erase = (uuid: string) => deps.database.transaction().execute((trx) => eraseJoins(trx, deps, [uuid]));

for (const [status, amount] of [
  ['former', '65.00'],
  ['prospect', ''],
] as const)
  test(`who pays after staff set their contact to ${status} is a member there, with the amount`, async () => {
    const email = `edited.${status}@example.com`;
    const { id, code } = await invited(email);
    const client = server.client();
    const own = await orderingJoin(client, code, { personalEmail: email });
    await deliver(server);
    await paid({ personalEmail: email });
    await deliver(server);
    assert.deepEqual(await heldAt(id, 'membership_status', 'amount_paid'), ['member', '65.00']);
    await editAtHubspot(server, id, { membership_status: status, amount_paid: amount });
    await payOrder(server, client, own);
    await deliver(server);
    assert.deepEqual(await heldAt(id, 'membership_status', 'amount_paid'), ['member', '65.00']);
  });

test('who is refunded and joins anew before HubSpot is told is a member, though staff have written former', async () => {
  const email = 'edited.anew@example.com';
  const { id, code } = await invited(email);
  const first = await paid({ personalEmail: email }, code);
  await deliver(server);
  await editAtHubspot(server, id, { membership_status: 'former' });
  await refundJoin(deps, first.uuid, everything);
  await paid({ personalEmail: email }, code);
  await deliver(server);
  assert.equal(await statusAt(id), 'member');
});

test('what a member types in a later form is written, though an earlier join had written the same and staff have changed it', async () => {
  const email = 'edited.city@example.com';
  const { id, code } = await invited(email, { city: 'Austin' });
  const first = await paid({ personalEmail: email, city: 'Austin' }, code);
  await deliver(server);
  await refundJoin(deps, first.uuid, everything);
  await deliver(server);
  await editAtHubspot(server, id, { city: 'Dallas', zip: '75001' });
  await deps.contacts.refresh(id);
  await paid({ personalEmail: email, city: 'Austin', zipcode: '75001' }, code);
  await deliver(server);
  assert.deepEqual(await heldAt(id, 'city', 'zip', 'membership_status'), ['Austin', '75001', 'member']);
});

test('a status that HubSpot took, and a process that died before it noted that, leave nobody former whose refund fails', async () => {
  const email = 'edited.unnoted@example.com';
  const { id, code } = await invited(email);
  const { uuid, intentId } = await paid({ personalEmail: email }, code);
  await deliver(server);
  const { sent } = await deliveryOf(server, uuid);
  await refundJoin(deps, uuid, membershipOnly);
  await deliver(server);
  assert.equal(await statusAt(id), 'former');
  const noted = sql`sent = ${JSON.stringify(sent)}::jsonb, due_at = now(), due_since = now(), tries = 1`;
  await setDelivery(server, uuid, noted);
  await failRefund(server, intentId);
  await deliver(server);
  assert.equal(await statusAt(id), 'member');
});

test('a contact that was merged once is not told anew at each read, and keeps what staff change', async () => {
  const { id, code } = await invited('edited.merged@example.com');
  const other = await invited('edited.merged.other@example.com');
  await paid({ personalEmail: 'edited.merged@example.com' }, code);
  await deliver(server);
  const merged = await merge(id, other.id);
  await deps.contacts.refresh(merged);
  await deliver(server);
  await editAtHubspot(server, merged, { membership_name: 'Honorary' });
  await deps.contacts.refresh(merged);
  assert.equal(await deliver(server), 0);
  assert.deepEqual(await heldAt(merged, 'membership_name'), ['Honorary']);
});

test('an abandoned join that is erased changes nothing of what HubSpot is told of the others', async () => {
  for (const whose of ['own', 'attached'] as const) {
    const email = `edited.erased.${whose}@example.com`;
    const { id, code } = await invited(email);
    const uuid = await paidWithPin(code, email);
    const begin = async () => {
      if (whose === 'attached') return (await nominated({ personalEmail: email })).uuid;
      const body = { hubspotContactId: id, mainProductId: 10 };
      return (await server.client().call('initiateCheckout', { body })).data.joinSessionUuid;
    };
    const abandoned = await begin();
    await deliver(server);
    await editAtHubspot(server, id, { membership_name: 'Honorary' });
    await erase(abandoned);
    await refundJoin(deps, uuid, refundPins);
    await deliver(server);
    assert.deepEqual(
      await heldAt(id, 'store_items', 'amount_paid', 'membership_name'),
      [null, '65.00', 'Honorary'],
      whose,
    );
    const upgrade = await upgradeByLink(server, id);
    await deliver(server);
    assert.deepEqual(await noticesOf(server, upgrade.uuid), [], 'they are no member already');
  }
});
