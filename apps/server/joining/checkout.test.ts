import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { lineUuid, MOST_REVISIONS } from '#core/orderLine.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  orderLines,
  payByCard,
  payOrder,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();

const uuids = {
  donation25: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021',
  pin: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030',
  membership: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0002',
};

test('checkout shows the order, the presets, what is recommended, and what is known of the payer', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { data } = await client.call('getCheckoutDetails', { params: { uuid } });
  assert.deepEqual(
    data.products.map(({ productId, price, displayPrice }) => [productId, price, displayPrice]),
    [[1, '65.00', '$65.00']],
  );
  assert.deepEqual(
    data.donationOptions.map(({ id, amount, does }) => [id, amount, does]),
    [
      [20, 10, 'a study guide'],
      [21, 25, 'a practice test'],
      [22, 50, 'a test fee'],
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

test('whose name no certificate can show is told before paying, and who cannot be looked up may pay', async (t) => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const problem = async (name: Partial<StudentDetails>) => {
    await client.call('submitDetails', { params: { uuid }, body: details(name) });
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
    return (await client.call('getCheckoutDetails', { params: { uuid } })).data.nameProblem;
  };
  for (const lastName of ['Núñez-O’Brien', 'Łuczak', 'Nguyễn', 'Παπαδοπούλου', 'Иванова'])
    assert.equal(await problem({ lastName }), null, lastName);
  for (const [name, letters] of [
    [{ lastName: '李' }, '李'],
    [{ firstName: 'Jordan 🎓' }, '🎓'],
    [{ middleName: 'किरण' }, 'क'],
  ] as const)
    assert.match((await problem(name))!, new RegExp(`your name has others \\(.*${letters}`));
  t.mock.method(server.deps.printer, 'print', () => Promise.reject(new Error('no thread')));
  assert.equal(await problem({ lastName: '李' }), null);
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

test('a ZIP code that lost its zero goes into the billing address mended, or not at all', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const billed = async (state: string) => {
    await client.call('submitDetails', { params: { uuid }, body: details({ state, zipcode: '2139' }) });
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
    return (await client.call('getCheckoutDetails', { params: { uuid } })).data.billing.postalCode;
  };
  assert.equal(await billed('Massachusetts'), '02139');
  assert.equal(await billed('Texas'), null);
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
  assert.deepEqual(await orderLines(client, uuid), [
    ['membership', '65.00'],
    ['donation', '25.00'],
    ['store', '12.00'],
  ]);
});

test('a typed donation enters as typed; another amount is another line, the same amount is not', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  for (const amount of [33.33, 40, '40.00'])
    assert.equal(
      (await client.call('setCustomDonation', { params: { uuid }, body: { amount } })).status,
      200,
    );
  assert.deepEqual(await orderLines(client, uuid), [
    ['membership', '65.00'],
    ['donation_other', '33.33'],
    ['donation_other', '40.00'],
  ]);
});

test('a typed donation of too little is refused with a sentence, and nothing is added', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const body = { amount: 0.49 };
  const { status, errors } = await client.call('setCustomDonation', { params: { uuid }, body });
  assert.equal(status, 400);
  assert.match(errors?.amount ?? '', /from \$0\.50 to \$10,000\.00/);
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
});

test('removing twice is safe, what was removed can be added again, the membership stays, also when it was exchanged, and a line that never was is 404', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const add = () => client.call('setSessionProduct', { params: { uuid }, body: { productUuid: uuids.pin } });
  const sessionProductUuid = (await add()).data.sessionProductUuid!;
  const revision = async () => (await client.call('getCheckoutDetails', { params: { uuid } })).data.revision;
  const before = await revision();
  for (let press = 0; press < 2; press++) {
    const removed = await client.call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
    assert.deepEqual([removed.status, removed.data.status], [200, 'success']);
    assert.equal(await revision(), before + 1);
  }
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
  const again = (await add()).data.sessionProductUuid!;
  assert.notEqual(again, sessionProductUuid);
  await client.call('deleteSessionProduct', { params: { sessionProductUuid: again }, body: {} });
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
  assert.deepEqual(await orderLines(client, uuid), [['membership', '89.00']]);
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
  assert.equal(begun.status, 200, begun.message!);
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
  assert.equal((await orderLines(client, uuid)).length, 2);
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
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
});

test('a checkout link sells the default membership, or what it names, at its price', async () => {
  const client = server.client();
  const start = async (body: object) =>
    (await client.call('initiateCheckout', { body: { hubspotContactId: '103', ...body } })).data
      .joinSessionUuid;
  assert.deepEqual(await orderLines(client, await start({})), [['membership', '65.00']]);
  assert.deepEqual(await orderLines(client, await start({ mainProductId: 2 })), [['membership', '89.00']]);
  assert.deepEqual(
    await orderLines(client, await start({ mainProductId: 1, overrideMainPriceCents: 2000 })),
    [['membership', '20.00']],
  );
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
  assert.deepEqual(await orderLines(client, data.joinSessionUuid), [['membership_upgrade', '45.00']]);
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

test('a membership of another programme cannot be chosen', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { status, message } = await client.call('setMembership', {
    params: { uuid },
    body: { membershipId: 3 },
  });
  assert.deepEqual(
    [status, message],
    [404, 'This membership is not available. Please choose one of those shown.'],
  );
  assert.deepEqual(await orderLines(client, uuid), [['membership', '65.00']]);
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
