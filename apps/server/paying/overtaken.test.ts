import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { atStripe as refundedAtStripe } from '../../../tests/harness/refunds.ts';
import { noticesOf, stateOf } from '../../../tests/harness/rows.ts';
import {
  askIntent,
  beginPayment,
  details,
  newOrder,
  openIntent,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcile } from '../books/reconcile.ts';

const server = await sharedServer();

const donate = (client: Client, uuid: string) =>
  client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021' },
  });
const ask = (client: Client, uuid: string, amount: number) => askIntent(client, uuid, amount);
const correctEmail = (client: Client, uuid: string, personalEmail: string) =>
  client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
const atStripe = async (intentId: string) => {
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  return body as unknown as { amount: number; status: string };
};
/** Makes Stripe apply the next update of an intent without answering it. */
const loseAnswer = (intentId: string) =>
  server.stripeFault({ kind: 'status_after', method: 'POST', path: `/v1/payment_intents/${intentId}` });

/** Runs `call`, and sets the columns `overtake` of the join after the call has read it and before the call writes it. */
async function overtaken<T>(t: TestContext, uuid: string, call: () => Promise<T>, overtake: string) {
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for no key update', [uuid]);
  const called = call();
  assert.equal(await Promise.race([called, waiting(holder, 1)]), 'waiting');
  await holder.query(`update join_session set ${overtake} where uuid = $1`, [uuid]);
  await holder.query('commit');
  return called;
}

test('an order that another tab changes while its payment is begun is not frozen', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { revision } = await openIntent(client, uuid);
  const begin = () => beginPayment(client, uuid, revision);
  assert.equal((await overtaken(t, uuid, begin, 'revision = revision + 1')).status, 409);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a join that is paid while its payment is begun again stays paid', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { revision } = await openIntent(client, uuid);
  const begin = () => beginPayment(client, uuid, revision);
  const { status, message } = await overtaken(t, uuid, begin, "state = 'paid', paid_at = now()");
  assert.deepEqual([status, message], [409, 'This membership has already been paid for.']);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('an intent is not changed to a total that another tab has changed meanwhile', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await donate(client, uuid);
  const withoutDonation = `revision = revision + 1, lines = jsonb_path_query_array(lines, '$[*] ? (@.type != "donation")')`;
  const late = await overtaken(t, uuid, () => ask(client, uuid, 9000), withoutDonation);
  assert.equal(late.status, 409);
  assert.equal((await atStripe(id)).amount, 6500);
});

test('an intent that another tab is changing is not changed beside it', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await donate(client, uuid);
  const change = t.mock.method(server.deps.payments, 'updateIntent');
  const left = "intent_change = 'a6d3b8c0-6a5c-4f0e-9a51-1d1f4d9b7e11', intent_changing_since = '-infinity'";
  const { data } = await overtaken(t, uuid, () => ask(client, uuid, 9000), left);
  assert.equal(change.mock.callCount(), 0);
  assert.notEqual(data.clientSecret.split('_secret_')[0], id);
});

test('a change that Stripe refuses is made by the next one, on the same intent', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await donate(client, uuid);
  const path = `/v1/payment_intents/${id}`;
  await server.stripeFault({ kind: 'status', status: 400, method: 'POST', path });
  assert.equal((await ask(client, uuid, 9000)).status, 502);
  assert.equal((await openIntent(client, uuid)).id, id);
  assert.equal((await atStripe(id)).amount, 9000);
});

test('an intent is not changed once another tab has begun to pay it', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { clientSecret } = await openIntent(client, uuid);
  await correctEmail(client, uuid, 'corrected@example.com');
  const change = t.mock.method(server.deps.payments, 'updateIntent');
  const begun = "state = 'paying', paying_since = now()";
  const { data } = await overtaken(t, uuid, () => ask(client, uuid, 6500), begun);
  assert.deepEqual([data.clientSecret, change.mock.callCount()], [clientSecret, 0]);
});

test('an order is not changed while its bank decides on the payment, and Stripe is asked for it once', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  await donate(client, uuid);
  const { payments } = server.deps;
  const real = payments.updateIntent.bind(payments);
  const change = t.mock.method(payments, 'updateIntent', (...given: Parameters<typeof real>) => {
    assert.equal(change.mock.callCount(), 0);
    return real(...given);
  });
  assert.equal((await ask(client, uuid, 9000)).status, 409);
  assert.equal((await atStripe(id)).status, 'processing');
});

test('an intent that was paid while a change of it had no answer is paid for when the next change is asked for', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await donate(client, uuid);
  await loseAnswer(id);
  assert.equal((await ask(client, uuid, 9000)).status, 503);
  await payByCard(server, id);
  const { status, message } = await ask(client, uuid, 9000);
  assert.deepEqual([status, message], [409, 'This membership has already been paid for.']);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('a change without an answer is not forgotten when its intent cannot be cancelled yet', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await donate(client, uuid);
  await loseAnswer(id);
  assert.equal((await ask(client, uuid, 9000)).status, 503);
  const path = `/v1/payment_intents/${id}/cancel`;
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path, times: 3 });
  assert.equal((await ask(client, uuid, 9000)).status, 503);
  await server.stripeFault(null);
  assert.notEqual((await openIntent(client, uuid)).id, id);
});

test('an email that is put back while its change has no answer gets an intent that can be paid', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await correctEmail(client, uuid, 'corrected@example.com');
  await loseAnswer(id);
  assert.equal((await ask(client, uuid, 6500)).status, 503);
  await correctEmail(client, uuid, 'jordan.rivera@example.com');
  const next = await openIntent(client, uuid);
  assert.notEqual(next.id, id);
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
});

for (const declined of [true, false])
  test(`a tab is not charged what another has made of the order since Buy Now${declined ? ', though its card was declined there' : ''}`, async () => {
    const { client, uuid } = await newOrder(server);
    const { id, clientSecret, revision } = await openIntent(client, uuid);
    if (declined) {
      await beginPayment(client, uuid, revision);
      await payByCard(server, id, 'pm_card_chargeDeclined');
    }
    const begun = await beginPayment(client, uuid, revision);
    assert.deepEqual([begun.status, begun.data.amount], [200, 6500]);
    // Another tab changes the order.
    await client.call('releasePayment', { params: { uuid }, body: {} });
    await donate(client, uuid);
    assert.equal((await ask(client, uuid, 9000)).status, 200);

    await payByCard(server, id);
    const { data } = await reportPayment(client, uuid, { id, clientSecret });
    assert.deepEqual(
      [data.status, data.refunded?.why, data.refunded?.amount, data.refunded?.isReturned],
      ['refunded', 'other_amount', 9000, true],
    );
    assert.equal(await stateOf(server, uuid), 'ordering');
    assert.deepEqual(await noticesOf(server, uuid), [
      `Payment ${id} took $90.00, while the order on the screen was $65.00. It goes back in full.`,
    ]);
    const { differences } = await reconcile(server.deps);
    assert.deepEqual(
      differences.filter(({ subject }) => [uuid, id].includes(subject)),
      [],
    );
    await payOrder(server, client, uuid);
    assert.equal(await stateOf(server, uuid), 'paid');
  });

test('of a payment of another amount than was shown that much goes back as staff have not returned themselves', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, clientSecret, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await client.call('releasePayment', { params: { uuid }, body: {} });
  await donate(client, uuid);
  await ask(client, uuid, 9000);
  await payByCard(server, id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: id, amount: '1000' });
  assert.equal((await reportPayment(client, uuid, { id, clientSecret })).data.status, 'refunded');
  assert.deepEqual((await refundedAtStripe(server, id)).sort(), [1000, 8000]);
});
