import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import type { StudentDetails } from '#core/studentDetails.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { dump } from '../../../tests/harness/dump.ts';
import {
  atStripe,
  lapelPin,
  membershipOnly,
  standingsOf,
  undergraduate,
} from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  nominatedOrder,
  openIntent,
  orderingJoin,
  orderLines,
  payByCard,
  payOrder,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { compose } from '../letters/compose.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { listParcels, parcelOf } from '../membership/orders.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';

/** Tests that an order keeps the goods and the processing fee with which it was sold, even if society.yaml changes later. */
const server = await sharedServer();

/** Changes society.yaml so that only undergraduate memberships are sold, without goods and with another processing fee. */
function sellOtherThings(t: TestContext): void {
  changeSociety(t, server, (source) => {
    const file = parse(source);
    delete file.programmes['high-school'];
    file.programmes.undergraduate.processingFee = '20.00';
    file.catalogue = file.catalogue
      .filter(({ programme, type }: { programme?: string; type: string }) =>
        type === 'store' ? false : programme !== 'high-school',
      )
      .map(({ ships, ...product }: { ships?: string }) => product);
    return stringify(file);
  });
}

/** Removes goods and fee from a snapshot, as if a restore had not found them at Stripe. */
const forgetPromises = (uuid: string) =>
  server.deps.database
    .updateTable('order_snapshot')
    .set({ goods: null, processing_fee_cents: null })
    .where('session_uuid', '=', uuid)
    .execute();

/** Makes a paid join with a pin and with the membership that includes a cord. Then buys the upgrade that includes a medallion. */
async function withGoods(): Promise<string> {
  const client = server.client();
  const uuid = await nominatedOrder(client, { membershipId: 2, items: [lapelPin] });
  const { intentId } = await payOrder(server, client, uuid);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  return uuid;
}

const toSend = async (uuid: string) => {
  const parcels = await listParcels(server.deps, { all: false });
  return parcels.find((parcel) => parcel.uuid === uuid)?.goods.map(({ name }) => name) ?? [];
};

test('goods that were paid for are sent, though their products and programme are not in the file any more', async (t) => {
  const uuid = await withGoods();
  sellOtherThings(t);
  const goods = ['Honor Cord', 'Lapel Pin', 'Engraved Medallion'];
  assert.deepEqual(await toSend(uuid), goods);
  const parcel = await parcelOf(server.deps.database, server.deps.society, uuid);
  assert.deepEqual(
    parcel?.goods.map(({ name, state }) => `${name} ${state.is}`),
    goods.map((name) => `${name} open`),
  );
});

test('a product that begins to send something sends it to who buys it from then on', async (t) => {
  const { uuid } = await undergraduate(server);
  assert.deepEqual(await toSend(uuid), ['Lapel Pin']);
  changeSociety(t, server, (source) => {
    const file = parse(source);
    file.catalogue.find(({ id }: { id: number }) => id === 3).ships = 'Honor Cord';
    return stringify(file);
  });
  assert.deepEqual(await toSend(uuid), ['Lapel Pin']);
  const later = await undergraduate(server);
  assert.deepEqual(await toSend(later.uuid), ['Honor Cord', 'Lapel Pin']);
  await forgetPromises(uuid);
  assert.deepEqual(
    await toSend(uuid),
    ['Honor Cord', 'Lapel Pin'],
    'of an order whose promise is not known, the file says it',
  );
});

/** Returns the text of a join's confirmation letter on one line, as it would be sent now. */
async function confirmationOf(uuid: string): Promise<string> {
  const { id } = await server.deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'confirmation')
    .executeTakeFirstOrThrow();
  const letter = compose(server.deps, (await readLetter(server.deps, id))!, new Date())!;
  return letter.text.replace(/\n/g, ' ');
}

test('the processing fee is the one of the day on which the membership was sold', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  sellOtherThings(t);
  assert.equal(await plannedFor(uuid), 9000);
  assert.match(await confirmationOf(uuid), /refunded less a \$5 processing fee/);
  const { refundNote } = (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  assert.match(refundNote, /your membership fee less a \$5 processing fee/);

  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9000' });
  await followPayment(server.deps, intentId);
  assert.deepEqual(
    [
      (await refundJoin(server.deps, uuid, { ...membershipOnly, ineligible: true })).notes,
      await atStripe(server, intentId),
    ],
    [['Membership has already been refunded.'], [9000]],
    'a refund from the dashboard is read by it, too',
  );
});

/** Makes an open order of the undergraduate programme with only the membership. */
async function undergraduatesOrder(person: Partial<StudentDetails>) {
  const client = server.client();
  return { client, uuid: await nominatedOrder(client, { isTOLA: false, membershipId: 3, person }) };
}

/** Changes society.yaml so that the membership includes a cord and the processing fee is `fee`. */
function promiseACord(t: TestContext, fee: string): void {
  changeSociety(t, server, (source) => {
    const file = parse(source);
    file.programmes.undergraduate.processingFee = fee;
    file.catalogue.find(({ id }: { id: number }) => id === 3).ships = 'Honor Cord';
    return stringify(file);
  });
}

const plannedFor = async (uuid: string) => {
  const wish = { ...membershipOnly, ineligible: true };
  return (await refundJoin(server.deps, uuid, wish, { isTrial: true })).refunds[0]!.amountCents;
};

test('what Checkout showed last before the payment began is what was promised', async (t) => {
  const { client, uuid } = await undergraduatesOrder({ personalEmail: 'last.shown@example.com' });
  const { id } = await openIntent(client, uuid);
  promiseACord(t, '1.00');
  const { refundNote } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.match(refundNote, /less a \$1 processing fee/);
  assert.equal((await payOrder(server, client, uuid)).intentId, id, 'the intent stays open for it');
  assert.equal(await plannedFor(uuid), 9400);
  assert.deepEqual(await toSend(uuid), ['Honor Cord']);
  const { metadata } = await server.deps.payments.retrieveIntent(id);
  assert.deepEqual([metadata.fee, metadata.goods], ['1.00', 'Honor Cord'], 'Stripe keeps it, too');
});

test('what was promised stays once its payment has begun, whoever opens Checkout meanwhile', async (t) => {
  const { client, uuid } = await undergraduatesOrder({ personalEmail: 'begun@example.com' });
  const { id, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  promiseACord(t, '1.00');
  await openIntent(client, uuid);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  await openIntent(client, uuid).catch(() => null);
  assert.equal(await plannedFor(uuid), 9000);
  assert.deepEqual(await toSend(uuid), []);
});

test('the processing fee of an order whose promise is not known is the one that the file says, to staff and in what the joiner reads', async (t) => {
  const { client, uuid } = await undergraduate(server);
  sellOtherThings(t);
  await forgetPromises(uuid);
  assert.equal(await plannedFor(uuid), 7500);
  const { refundNote } = (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  assert.match(refundNote, /less a \$20 processing fee/);
  assert.match(await confirmationOf(uuid), /refunded less a \$20 processing fee/);
});

test('what a restore has lost is made again with the goods and the fee that it was sold with', async (t) => {
  const restore = await dump(server);
  const uuid = await withGoods();
  const [kept, returned] = [await undergraduate(server), await undergraduate(server)];
  await server.stripe('POST', '/v1/refunds', { payment_intent: returned.intentId, amount: '9000' });
  sellOtherThings(t);
  await restore();
  const { code, out } = await runCommand(t, server, 'settle', ['--missing']);
  assert.equal(code, 0, out);
  // The names are sorted because Stripe dates payments in whole seconds, so either payment may come first.
  assert.deepEqual((await toSend(uuid)).sort(), ['Engraved Medallion', 'Honor Cord', 'Lapel Pin']);
  assert.equal(await plannedFor(kept.uuid), 9000);
  assert.deepEqual(await standingsOf(server, returned.uuid), [{ type: 'membership', standing: 'refunded' }]);
});

// Tests orders whose products change their price, are retired, or are removed from the society's file.

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
