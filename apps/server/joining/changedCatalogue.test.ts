import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { openIntent, orderingJoin, orderLines, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

// What becomes of orders whose products change their price, are retired, or leave the society's file.

const server = await sharedServer();

const uuids = {
  donation25: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021',
  pin: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030',
};

test('an item whose price has changed since it was added is not added a second time', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const body = { productUuid: uuids.pin };
  const first = await client.call('setSessionProduct', { params: { uuid }, body });
  changeSociety(t, server, (source) => source.replace('price: "12.00"', 'price: "15.00"'));
  const second = await client.call('setSessionProduct', { params: { uuid }, body });
  assert.equal(second.data.sessionProductUuid, first.data.sessionProductUuid);
  assert.deepEqual(await orderLines(client, uuid), [
    ['membership', '65.00'],
    ['store', '12.00'],
  ]);
});

test('an item or a donation at another price than the one on the screen is told and not added', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const add = (productUuid: string, amount: number) =>
    client.call('setSessionProduct', { params: { uuid }, body: { productUuid, amount } });
  changeSociety(t, server, (source) =>
    source.replace('price: "12.00"', 'price: "15.00"').replace('price: "25.00"', 'price: "30.00"'),
  );
  const refused = [await add(uuids.pin, 1200), await add(uuids.donation25, 2500)];
  assert.deepEqual(
    refused.map(({ status, message }) => [status, message]),
    [
      [409, 'The price of this item is now $15.00. Please check it and try again.'],
      [409, 'The amount of this donation is now $30.00. Please check it and try again.'],
    ],
  );
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
  assert.equal((await add(uuids.pin, 1500)).status, 200);
});

test('an item that is in the order stays at its price, and another one on the screen is told', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const add = (amount: number) =>
    client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.pin, amount } });
  assert.equal((await add(1200)).status, 200);
  changeSociety(t, server, (source) => source.replace('price: "12.00"', 'price: "15.00"'));
  assert.equal((await add(1200)).status, 200);
  const refused = await add(1500);
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'The price of this item is now $12.00. Please check it and try again.'],
  );
});

test('a membership at another price than the one on the screen is told and not chosen', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const choose = (membershipId: number, amount: number) =>
    client.call('setMembership', { params: { uuid }, body: { membershipId, amount } });
  changeSociety(t, server, (source) =>
    source.replace('price: "89.00"', 'price: "95.00"').replace('price: "65.00"', 'price: "60.00"'),
  );
  const refused = await choose(2, 8900);
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'The price of this membership is now $95.00. Please check it and try again.'],
  );
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
  const { memberships } = (await client.call('getMembershipDetails', { params: { uuid } })).data;
  assert.deepEqual(
    memberships.map(({ price }) => price),
    ['65.00', '95.00'],
    'the chosen one is shown at its price in the order',
  );
  assert.equal((await choose(1, 6500)).status, 200);
  assert.equal((await choose(1, 6000)).status, 409);
  assert.equal((await choose(2, 9500)).status, 200);
  assert.deepEqual(await orderLines(client, uuid), [['membership', '95.00']]);
});

test('what is bought costs what Buy Now has said, though its price changes while Checkout is shown', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id, revision } = await openIntent(client, uuid);
  changeSociety(t, server, (source) => source.replace('price: "65.00"', 'price: "75.00"'));
  const begun = await client.call('beginPayment', {
    params: { uuid },
    body: { revision, agreeToPolicies: true },
  });
  assert.deepEqual([begun.status, begun.data?.amount], [200, 6500]);
  assert.equal((await server.stripe('GET', `/v1/payment_intents/${id}`)).body.amount as unknown, 6500);
});

test('a product that left the catalogue stays in open orders, is shown, can be removed, and is charged at its price', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  for (const productUuid of [uuids.pin, uuids.donation25])
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  changeSociety(t, server, (source) => source.replace(/ {2}- id: 30\n(?: {4}.*\n)+/, ''));
  const { data } = await client.call('getCheckoutDetails', { params: { uuid } });
  const shown = data.products.map(({ productType, name, price }) => [productType, name, price]);
  assert.deepEqual(shown[1], ['store', 'Lapel Pin', '12.00']);
  const { intentId } = await payOrder(server, client, uuid);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  assert.equal((body as unknown as { amount_received: number }).amount_received, 10200);

  const other = await orderingJoin(client, 'LINCOLN2026');
  assert.equal(
    (await client.call('setSessionProduct', { params: { uuid: other }, body: { productUuid: uuids.pin } }))
      .status,
    404,
  );
});

test('a membership that left the catalogue is still paid by who chose it, and can be changed', async (t) => {
  const client = server.client();
  const [kept, changed] = [await orderingJoin(client), await orderingJoin(client)];
  for (const uuid of [kept, changed])
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  changeSociety(t, server, (source) => source.replace(/ {2}- id: 2\n(?: {4}.*\n)+/, ''));
  assert.deepEqual(await orderLines(client, kept), [['membership', '89.00']]);
  const { data } = await client.call('getMembershipDetails', { params: { uuid: changed } });
  assert.deepEqual([data.memberships.map(({ id }) => id), data.selectedMembershipId], [[1], 2]);
  assert.equal(
    (await client.call('setMembership', { params: { uuid: changed }, body: { membershipId: 1 } })).status,
    200,
  );
  assert.deepEqual(await orderLines(client, changed), [['membership', '65.00']]);
  await payOrder(server, client, kept);
  const welcome = await client.call('getWelcome', { params: { uuid: kept } });
  assert.deepEqual(welcome.data.memberships, [{ name: 'Membership with Honor Cord', standing: 'active' }]);
});

test('what is retired is offered nowhere, and goes on where it was ordered or bought', async (t) => {
  const client = server.client();
  const ordered = await orderingJoin(client);
  await client.call('setMembership', { params: { uuid: ordered }, body: { membershipId: 2 } });
  for (const productUuid of [uuids.pin, uuids.donation25])
    await client.call('setSessionProduct', { params: { uuid: ordered }, body: { productUuid } });
  const link = (body: object) =>
    client.call('initiateCheckout', { body: { hubspotContactId: '103', ...body } });
  changeSociety(t, server, (source) => {
    const file = parse(source);
    for (const product of file.catalogue) if ([2, 10, 21, 30].includes(product.id)) product.retired = true;
    return stringify(file);
  });
  const uuid = await orderingJoin(client);
  const params = { uuid };
  const memberships = await client.call('getMembershipDetails', { params });
  assert.deepEqual(
    memberships.data.memberships.map(({ id, features }) => [id, features.map((feature) => feature.id)]),
    [[1, [1, 2, 3, 4]]],
  );
  const { data } = await client.call('getCheckoutDetails', { params });
  assert.equal(
    data.recommendedProducts.some(({ name }) => name === 'Lapel Pin'),
    false,
  );
  assert.equal(
    data.donationOptions.some(({ id }) => id === 21),
    false,
  );
  assert.deepEqual(
    [
      (await client.call('setMembership', { params, body: { membershipId: 2 } })).status,
      (await client.call('setSessionProduct', { params, body: { productUuid: uuids.pin } })).status,
      (await link({ mainProductId: 2 })).status,
      // The upgrade in the link is not sold any more, but the membership in the link is.
      (await link({ mainProductId: 1, upsellProductId: 10 })).status,
    ],
    [404, 404, 404, 200],
  );
  const { intentId } = await payOrder(server, client, uuid);
  const upgrade = await client.call('getUpgradeDetails', { params });
  assert.equal(upgrade.data.isEligibleForUpgrade, false, intentId);

  assert.deepEqual(await orderLines(client, ordered), [
    ['membership', '89.00'],
    ['store', '12.00'],
    ['donation', '25.00'],
  ]);
  await payOrder(server, client, ordered);
  const welcome = await client.call('getWelcome', { params: { uuid: ordered } });
  assert.deepEqual(welcome.data.memberships, [{ name: 'Membership with Honor Cord', standing: 'active' }]);
});
