import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf } from '#contract/calls.ts';
import { newContact } from '../../../tests/harness/deliver.ts';
import { stateOf } from '../../../tests/harness/rows.ts';
import {
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from './refunds/refundJoin.ts';

const server = await sharedServer();

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
  const client = server.client();
  const { uuid: first, intentId } = await paidJoin(server, client);
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
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
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
