import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { parse, stringify } from 'yaml';
import { lineUuid, MOST_REVISIONS } from '#core/orderLine.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();

const uuids = {
  donation25: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021',
  pin: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030',
  membership: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0002',
};
const lines = async (client: Client, uuid: string) =>
  (await client.call('getCheckoutDetails', { params: { uuid } })).data.products.map(
    ({ productType, price }) => [productType, price],
  );

test('checkout shows the order, the presets, what is recommended, and what is known of the payer', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { data } = await client.call('getCheckoutDetails', { params: { uuid } });
  assert.deepEqual(
    data.products.map(({ productId, price, displayPrice }) => [productId, price, displayPrice]),
    [[1, '65.00', '$65.00']],
  );
  assert.deepEqual(
    data.donationOptions.map(({ id, amount }) => [id, amount]),
    [
      [20, 10],
      [21, 25],
      [22, 50],
    ],
  );
  assert.deepEqual(
    data.recommendedProducts.map(({ productId }) => productId),
    [30, 31],
  );
  assert.equal(data.billingEmail, 'jordan.rivera@example.com');
  assert.deepEqual(data.billing, {
    name: 'Jordan Rivera',
    line1: '12 Oak Street',
    line2: null,
    city: 'Austin',
    state: 'TX',
    postalCode: '78701',
    country: 'US',
  });
  assert.equal(data.isCheckoutOnly, false);
});

test('a payer from a country where cards are not billed gets no address of it, one from Canada gets theirs', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ country: 'India', state: 'Kerala' }),
  });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  const { billing } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.deepEqual(
    [billing.country, billing.line1, billing.state, billing.name],
    ['US', null, null, 'Jordan Rivera'],
  );
  const canadian = details({ country: 'Canada', state: 'Ontario', zipcode: 'K1A 0B1', address2: 'Unit 4' });
  await client.call('submitDetails', { params: { uuid }, body: canadian });
  const { billing: theirs } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.deepEqual(
    [theirs.country, theirs.line1, theirs.line2, theirs.state, theirs.postalCode],
    ['CA', '12 Oak Street', 'Unit 4', 'ON', 'K1A 0B1'],
  );
});

test('the same preset or item twice is the one already there', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  for (const productUuid of [uuids.donation25, uuids.pin]) {
    const [first, second] = await Promise.all(
      [1, 2].map(() => client.call('setSessionProduct', { params: { uuid }, body: { productUuid } })),
    );
    assert.equal(first?.data.sessionProductUuid, second?.data.sessionProductUuid);
  }
  const { revision } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.equal(revision, 3, 'the other two changed nothing');
  assert.deepEqual(await lines(client, uuid), [
    ['membership', '65.00'],
    ['donation', '25.00'],
    ['store', '12.00'],
  ]);
});

test('an item whose price has changed since it was added is not added a second time', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const body = { productUuid: uuids.pin };
  const first = await client.call('setSessionProduct', { params: { uuid }, body });
  changeSociety(t, server, (source) => source.replace('price: "12.00"', 'price: "15.00"'));
  const second = await client.call('setSessionProduct', { params: { uuid }, body });
  assert.equal(second.data.sessionProductUuid, first.data.sessionProductUuid);
  assert.deepEqual(await lines(client, uuid), [
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
  assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
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
  assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
  const { memberships } = (await client.call('getMembershipDetails', { params: { uuid } })).data;
  assert.deepEqual(
    memberships.map(({ price }) => price),
    ['65.00', '95.00'],
    'the chosen one is shown at its price in the order',
  );
  assert.equal((await choose(1, 6500)).status, 200);
  assert.equal((await choose(1, 6000)).status, 409);
  assert.equal((await choose(2, 9500)).status, 200);
  assert.deepEqual(await lines(client, uuid), [['membership', '95.00']]);
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

test('a typed donation enters as typed; another amount is another line, the same amount is not', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  for (const amount of [33.33, 40, '40.00'])
    assert.equal(
      (await client.call('setCustomDonation', { params: { uuid }, body: { amount } })).status,
      200,
    );
  assert.deepEqual(await lines(client, uuid), [
    ['membership', '65.00'],
    ['donation_other', '33.33'],
    ['donation_other', '40.00'],
  ]);
});

for (const amount of [0, -5, 0.49, 1.234, 10_000.01, '', 'abc', '1e3'])
  test(`a typed donation of ${JSON.stringify(amount)} is refused with a sentence, and nothing is added`, async () => {
    const client = server.client();
    const uuid = await orderingJoin(client, 'LINCOLN2026');
    const { status, errors } = await client.call('setCustomDonation', { params: { uuid }, body: { amount } });
    assert.equal(status, 400);
    assert.match(errors?.amount ?? '', /from \$0\.50 to \$10,000\.00/);
    assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
  });

test('removing twice is safe, the membership stays, also when it was exchanged, and a line that never was is 404', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { sessionProductUuid } = (
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.pin } })
  ).data;
  for (let press = 0; press < 2; press++) {
    const removed = await client.call('deleteSessionProduct', {
      params: { sessionProductUuid: sessionProductUuid! },
      body: {},
    });
    assert.deepEqual([removed.status, removed.data.status], [200, 'success']);
  }
  assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
  for (const membershipId of [1, 2]) {
    await client.call('setMembership', { params: { uuid }, body: { membershipId } });
    const { products } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
    const params = { sessionProductUuid: products[0]!.sessionProductUuid! };
    assert.equal((await client.call('deleteSessionProduct', { params })).status, 409);
  }
  for (const sessionProductUuid of [uuid, lineUuid(uuid, 40)])
    assert.equal(
      (await client.call('deleteSessionProduct', { params: { sessionProductUuid } })).status,
      404,
      sessionProductUuid,
    );
});

test('what was removed can be added again', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const add = () => client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.pin } });
  const first = (await add()).data.sessionProductUuid!;
  await client.call('deleteSessionProduct', { params: { sessionProductUuid: first } });
  assert.notEqual((await add()).data.sessionProductUuid, first);
  assert.equal((await lines(client, uuid)).length, 2);
});

test('each change of an order is a revision, and what changes nothing is none', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const revision = async () => (await client.call('getCheckoutDetails', { params: { uuid } })).data.revision;
  const before = await revision();
  const add = () => client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.pin } });
  const sessionProductUuid = (await add()).data.sessionProductUuid!;
  await add();
  assert.equal(await revision(), before + 1);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.donation25 } });
  for (let press = 0; press < 2; press++) {
    await client.call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
    assert.equal(await revision(), before + 3);
  }
});

test('a membership of another programme cannot be chosen', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { status, message } = await client.call('setMembership', {
    params: { uuid },
    body: { membershipId: 3 },
  });
  assert.deepEqual(
    [status, message],
    [404, 'This membership is not on offer. Please choose one of those shown.'],
  );
  assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
});

test('a join of a programme that the society has given up is offered the memberships of the default one, and can be paid', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await sql`update join_session set programme = 'graduate' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const { memberships } = (await client.call('getMembershipDetails', { params: { uuid } })).data;
  assert.deepEqual(
    memberships.map(({ id }) => id),
    [1, 2],
  );
  const choose = (membershipId: number) =>
    client.call('setMembership', { params: { uuid }, body: { membershipId } });
  assert.equal((await choose(3)).status, 404);
  assert.equal((await choose(2)).status, 200);
  assert.deepEqual(await lines(client, uuid), [['membership', '89.00']]);
  await payOrder(server, client, uuid);
});

test('what is being paid can be looked at, however long it takes, and nothing be removed from it', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { data } = await client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: uuids.pin },
  });
  const { revision, id } = await openIntent(client, uuid);
  const begun = await client.call('beginPayment', {
    params: { uuid },
    body: { revision, agreeToPolicies: true },
  });
  assert.equal(begun.status, 200, begun.message);
  const remove = () =>
    client.call('deleteSessionProduct', {
      params: { sessionProductUuid: data.sessionProductUuid! },
      body: {},
    });
  assert.equal((await remove()).status, 409);
  // Simulates that the payer was sent to the bank's page a minute ago, and that Stripe was last asked about the payment then.
  await sql`
    with looked as (update payment set looked_at = now() - interval '1 minute' where session_uuid = ${uuid})
    update join_session set paying_since = now() - interval '1 minute' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await lines(client, uuid)).length, 2);
  assert.equal(
    (await server.stripe('GET', `/v1/payment_intents/${id}`)).body.status,
    'requires_payment_method',
  );
});

test('an order whose payment nobody reported is not shown as open, and its joiner is led on', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await payByCard(server, id);
  const { status, goOn } = await client.call('getCheckoutDetails', { params: { uuid } });
  assert.deepEqual([status, goOn], [409, `/registration/upgrade?payment_intent=${id}`]);
});

test('add-ons are not sold without a membership, nor memberships as add-ons', async () => {
  const client = server.client();
  const uuid = await startJoin(client);
  const { status, goOn } = await client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: uuids.pin },
  });
  assert.deepEqual([status, goOn], [409, '/registration/student-details']);
  const open = await orderingJoin(client);
  assert.equal(
    (
      await client.call('setSessionProduct', {
        params: { uuid: open },
        body: { productUuid: uuids.membership },
      })
    ).status,
    404,
  );
});

test('a checkout link sells the default membership, or what it names, at its price', async () => {
  const client = server.client();
  const start = async (body: object) =>
    (await client.call('initiateCheckout', { body: { hubspotContactId: '103', ...body } })).data
      .joinSessionUuid;
  assert.deepEqual(await lines(client, await start({})), [['membership', '65.00']]);
  assert.deepEqual(await lines(client, await start({ mainProductId: 2 })), [['membership', '89.00']]);
  assert.deepEqual(await lines(client, await start({ mainProductId: 1, overrideMainPriceCents: 2000 })), [
    ['membership', '20.00'],
  ]);
  const uuid = await start({ mainProductId: null, upsellProductId: null, overrideMainPriceCents: null });
  assert.equal((await client.call('getCheckoutDetails', { params: { uuid } })).data.isCheckoutOnly, true);
});

const joins = () => server.deps.database.selectFrom('join_session').select('uuid').execute();
const refusedLinks: [object, number, RegExp][] = [
  [{ overrideMainPriceCents: 1999 }, 400, /costs at least \$20\.00/],
  [{ mainProductId: 30 }, 404, /cannot be bought/],
  [{ mainProductId: 999 }, 404, /cannot be bought/],
  [{ upsellProductId: 1 }, 404, /not an upgrade/],
  [{ hubspotContactId: '999999' }, 404, /Failed to initiate checkout\./],
  // These are not ids of HubSpot: 103 with leading zeros, and two numbers that are not below 2^63.
  [{ hubspotContactId: '0103' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '00000000000000000103' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '9223372036854775808' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '99999999999999999999' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: 'abc' }, 400, /problem with your request/],
  [{ hubspotContactId: '105' }, 409, /already a member/],
];
for (const [change, expected, sentence] of refusedLinks)
  test(`a checkout link with ${JSON.stringify(change)} is refused with ${expected}, and starts no join`, async () => {
    const before = await joins();
    const { status, message } = await server
      .client()
      .call('initiateCheckout', { body: { hubspotContactId: '103', ...change } });
    assert.equal(status, expected);
    assert.match(message ?? '', sentence);
    assert.deepEqual(await joins(), before);
  });

test('who comes by a checkout link is told what the fee buys and who is eligible; who saw the membership screen is not', async () => {
  const client = server.client();
  const unseen = async (uuid: string) =>
    (await client.call('getCheckoutDetails', { params: { uuid } })).data.unseen;
  const { data } = await client.call('initiateCheckout', {
    body: { hubspotContactId: '103', mainProductId: 1 },
  });
  assert.equal(data.programme, 'high-school');
  const told = await unseen(data.joinSessionUuid);
  assert.equal(told?.features[0]?.description, 'Lifetime membership, no renewals');
  assert.deepEqual(told?.eligibility?.rules, ['SAT 1300+', 'ACT 27+', 'Cumulative GPA 3.5+']);
  const upgrade = await client.call('initiateCheckout', {
    body: { hubspotContactId: '105', mainProductId: 10 },
  });
  const toMember = await unseen(upgrade.data.joinSessionUuid);
  assert.equal(toMember?.features.length, 4);
  assert.equal(toMember?.eligibility, null, 'a member is eligible');
  assert.equal(await unseen(await orderingJoin(client)), null);
});

test('a member may still be sold an upgrade by link', async () => {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', {
    body: { hubspotContactId: '105', mainProductId: 10 },
  });
  assert.deepEqual(await lines(client, data.joinSessionUuid), [['membership_upgrade', '45.00']]);
  const { products } = (await client.call('getCheckoutDetails', { params: { uuid: data.joinSessionUuid } }))
    .data;
  const removed = await client.call('deleteSessionProduct', {
    params: { sessionProductUuid: products[0]!.sessionProductUuid! },
  });
  assert.deepEqual(
    [removed.status, removed.message],
    [409, 'The membership can be changed but not removed.'],
  );
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
  assert.deepEqual(await lines(client, kept), [['membership', '89.00']]);
  const { data } = await client.call('getMembershipDetails', { params: { uuid: changed } });
  assert.deepEqual([data.memberships.map(({ id }) => id), data.selectedMembershipId], [[1], 2]);
  assert.equal(
    (await client.call('setMembership', { params: { uuid: changed }, body: { membershipId: 1 } })).status,
    200,
  );
  assert.deepEqual(await lines(client, changed), [['membership', '65.00']]);
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

  assert.deepEqual(await lines(client, ordered), [
    ['membership', '89.00'],
    ['store', '12.00'],
    ['donation', '25.00'],
  ]);
  await payOrder(server, client, ordered);
  const welcome = await client.call('getWelcome', { params: { uuid: ordered } });
  assert.deepEqual(welcome.data.memberships, [{ name: 'Membership with Honor Cord', standing: 'active' }]);
});

test('an order takes fifty items; what is among them can be added again, and makes room when it is removed', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const donate = (amount: number) => client.call('setCustomDonation', { params: { uuid }, body: { amount } });
  for (let dollars = 1; dollars < 50; dollars++) assert.equal((await donate(dollars)).status, 200);
  const refused = await donate(50);
  assert.deepEqual([refused.status, refused.message], [409, 'An order has at most 50 items.']);
  const again = await donate(7);
  assert.deepEqual([again.status, again.data.price], [200, '7.00']);
  const params = { sessionProductUuid: again.data.sessionProductUuid! };
  assert.equal((await client.call('deleteSessionProduct', { params })).status, 200);
  assert.equal((await donate(50)).status, 200);
});

test('an order whose lines have used up their numbers takes no more of them, and gives back what it has', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const add = (productUuid: string) =>
    client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const { sessionProductUuid } = (await add(uuids.pin)).data;
  await sql`update join_session set revision = ${MOST_REVISIONS} where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await add(uuids.donation25)).status, 409);
  const other = await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  assert.equal(other.status, 409);
  assert.equal((await add(uuids.pin)).data.sessionProductUuid, sessionProductUuid);
  const params = { sessionProductUuid: sessionProductUuid! };
  assert.equal((await client.call('deleteSessionProduct', { params })).status, 200);
  assert.deepEqual(await lines(client, uuid), [['membership', '65.00']]);
});
