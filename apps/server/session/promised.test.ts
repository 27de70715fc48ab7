import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { dump } from '../../../tests/harness/dump.ts';
import { atStripe, membershipOnly, standingsOf, undergraduate } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { beginPayment, details, openIntent, payByCard, payOrder } from '../../../tests/harness/steps.ts';
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
  const started = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: true },
  });
  const params = { uuid: started.data.uuid };
  await client.call('submitDetails', { params, body: details() });
  await client.call('setMembership', { params, body: { membershipId: 2 } });
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params, body: { productUuid } });
  const { intentId } = await payOrder(server, client, params.uuid);
  assert.equal((await charge(client, params.uuid, intentId)).data.status, 'succeeded');
  return params.uuid;
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
  const wish = { ...membershipOnly, ineligible: true };
  const planned = async () =>
    (await refundJoin(server.deps, uuid, wish, { isTrial: true })).refunds[0]!.amountCents;
  assert.equal(await planned(), 9000);
  assert.match(await confirmationOf(uuid), /refunded less a \$5 processing fee/);
  const { refundNote } = (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  assert.match(refundNote, /your membership fee less a \$5 processing fee/);

  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9000' });
  await followPayment(server.deps, intentId);
  assert.deepEqual(
    [(await refundJoin(server.deps, uuid, wish)).notes, await atStripe(server, intentId)],
    [['Membership has already been refunded.'], [9000]],
    'a refund from the dashboard is read by it, too',
  );
});

/** Makes an open order of the undergraduate programme with only the membership. */
async function undergraduatesOrder(person: Parameters<typeof details>[0]) {
  const client = server.client();
  const { data } = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false },
  });
  const params = { uuid: data.uuid };
  await client.call('submitDetails', { params, body: details(person) });
  await client.call('setMembership', { params, body: { membershipId: 3 } });
  return { client, uuid: data.uuid };
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
