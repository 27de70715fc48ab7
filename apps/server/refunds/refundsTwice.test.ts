import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { RefundWish } from '#core/refunds.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { details, orderingJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcile } from '../settlement/reconcile.ts';
import { refundPayment } from '../settlement/refundPayment.ts';
import { sweepRefunds } from '../settlement/sweep.ts';
import { followPayment } from './followPayment.ts';
import { NotRefundable, refundJoin } from './refundJoin.ts';

const server = await sharedServer();

const membershipOnly: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'none' };
/** Of the catalogue: $79.00; the membership is $65.00. */
const framedCertificate = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0032';

async function withCertificate() {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: framedCertificate } });
  return payOrder(server, client, uuid);
}
async function atStripe(intentId: string): Promise<number[]> {
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  return (body as unknown as { data: { amount: number }[] }).data.map(({ amount }) => amount);
}
async function inDashboard(intentId: string, cents: number): Promise<void> {
  const { status } = await server.stripe('POST', '/v1/refunds', {
    payment_intent: intentId,
    amount: String(cents),
  });
  assert.equal(status, 200);
}
const paymentOf = (intentId: string) =>
  server.deps.database
    .selectFrom('payment')
    .innerJoin('membership', 'payment_intent', 'intent_id')
    .select(['status', 'standing', 'refunded_cents'])
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
const differencesOf = async (intentId: string) =>
  (await reconcile(server.deps, { graceMinutes: 0 })).differences
    .filter(({ subject }) => subject === intentId)
    .map(({ kind }) => kind);
const waitOver = () => sql`update refund set next_try_at = now()`.execute(server.deps.database);

test('a refund that Stripe would not make yet, made by staff in the dashboard instead, is not made a second time', async () => {
  const { uuid, intentId } = await withCertificate();
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await inDashboard(intentId, 6500);
  await waitOver();
  await sweepRefunds(server.deps);
  await waitOver();
  await sweepRefunds(server.deps);
  assert.deepEqual(await atStripe(intentId), [6500]);
  assert.deepEqual(
    [await paymentOf(intentId), await differencesOf(intentId)],
    [{ status: 'succeeded', standing: 'refunded', refunded_cents: 6500 }, []],
  );
});

test('a refund of a payment for which Stripe stops answering halfway decides nothing', async () => {
  const { intentId } = await withCertificate();
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', skip: 1, times: 50 });
  await assert.rejects(
    refundPayment(server.deps, intentId),
    (error) => error instanceof NotRefundable && /Stripe does not answer/.test(error.message),
  );
  await server.stripeFault(null);
  assert.deepEqual(await paymentOf(intentId), {
    status: 'succeeded',
    standing: 'active',
    refunded_cents: 0,
  });
  assert.deepEqual(await differencesOf(intentId), []);
});

test('a membership that a dashboard refund less the fee has ended stays ended when the society changes its fee', async (t) => {
  const client = server.client();
  const started = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false },
  });
  const { uuid } = started.data;
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  const { intentId } = await payOrder(server, client, uuid);
  await inDashboard(intentId, 9000);
  await followPayment(server.deps, intentId);
  assert.equal((await paymentOf(intentId)).standing, 'refunded');
  changeSociety(t, server, (source) => source.replace(/processingFee: "5.00"/, 'processingFee: "10.00"'));
  await followPayment(server.deps, intentId);
  assert.equal((await paymentOf(intentId)).standing, 'refunded');
});
