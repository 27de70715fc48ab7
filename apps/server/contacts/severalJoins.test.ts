import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, editAtHubspot } from '../../../tests/harness/deliver.ts';
import { orderingJoin, paidJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { tellHubspot } from './tellHubspot.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { database } = server.deps;

const everything = { membership: true, ineligible: false, upgrade: true, items: 'all' } as const;

/** Whoever paid under one name and email is a member as long as one of their memberships is held. */
const person = (id: string) => ({ personalEmail: `several-${id}@example.com` });

/** What HubSpot says that a contact has bought. */
async function boughtBy(id: string) {
  await deliver(server);
  const told = await atHubspot(
    server,
    id,
    'membership_status',
    'membership_name',
    'upgrade_name',
    'amount_paid',
  );
  return [told.membership_status, told.membership_name, told.upgrade_name || null, told.amount_paid];
}

/** An upgrade that a contact buys by a link, in a join of its own. */
async function upgradeByLink(hubspotContactId: string): Promise<string> {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId, mainProductId: 10 } });
  const uuid = data.joinSessionUuid;
  await sql`update join_session set has_agreed_to_policies = true where uuid = ${uuid}`.execute(database);
  await payOrder(server, client, uuid);
  return uuid;
}

test('HubSpot has of a contact what all of their joins have bought, whichever of them changed last', async () => {
  const { uuid: base } = await paidJoin(server, server.client(), 'HONOR103', person('103'));
  assert.deepEqual(await boughtBy('103'), ['member', 'Membership', null, '65.00']);
  const upgrade = await upgradeByLink('103');
  const both = ['member', 'Membership', 'Distinguished Member upgrade', '110.00'];
  assert.deepEqual(await boughtBy('103'), both);
  for (const uuid of [base, upgrade]) {
    await tellHubspot(database, uuid);
    await editAtHubspot(server, '103', { amount_paid: '45.00', upgrade_name: '' });
    assert.deepEqual(await boughtBy('103'), both);
  }
  await refundJoin(server.deps, upgrade, everything);
  assert.deepEqual(await boughtBy('103'), ['member', 'Membership', null, '65.00']);
});

test('of a membership that was refunded and one that was bought anew HubSpot has the one that is held', async () => {
  const { uuid: first } = await paidJoin(server, server.client(), 'HONOR104', person('104'));
  await refundJoin(server.deps, first, everything);
  assert.deepEqual(await boughtBy('104'), ['former', 'Membership', null, '0.00']);
  const client = server.client();
  const second = await orderingJoin(client, 'HONOR104', person('104'));
  await client.call('setMembership', { params: { uuid: second }, body: { membershipId: 2 } });
  await payOrder(server, client, second);
  const anew = ['member', 'Membership with Honor Cord', null, '89.00'];
  assert.deepEqual(await boughtBy('104'), anew);
  await tellHubspot(database, first);
  assert.deepEqual(await boughtBy('104'), anew);
});

test('a join that is begun and left says nothing of what its contact has bought before', async () => {
  const { uuid } = await paidJoin(server, server.client(), 'HONOR102', person('102'));
  const before = await boughtBy('102');
  await sql`insert into join_session (origin, programme, contact_id, profile_revision) select origin, programme, contact_id, 1 from join_session where uuid = ${uuid}`.execute(
    database,
  );
  assert.deepEqual(await boughtBy('102'), before);
});
