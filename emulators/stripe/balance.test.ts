import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CONFIRMED, emulate, errorOf } from './test-support.ts';

const paid = { ...CONFIRMED, amount: 6500, payment_method: 'pm_card_visa' } as const;

async function movements(stripe: Stripe) {
  const found = await stripe.balanceTransactions.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
  return found.reverse();
}
const told = (found: Stripe.BalanceTransaction[]) =>
  found.map(({ reporting_category, amount, fee, net }) => [reporting_category, amount, fee, net]);

test('whatever moves money is a transaction of the balance, which is their sum', async (t) => {
  const { stripe, control } = await emulate(t);
  const first = await stripe.paymentIntents.create(paid);
  const second = await stripe.paymentIntents.create({ ...paid, amount: 2500 });
  await errorOf(stripe.paymentIntents.create({ ...paid, payment_method: 'pm_card_visa_chargeDeclined' }));
  const refund = await stripe.refunds.create({ payment_intent: first.id, amount: 6000 });
  await control('POST', `refunds/${refund.id}/settle`, { status: 'failed' });
  await stripe.refunds.create({ payment_intent: first.id, amount: 1000 });
  const dispute = await control('POST', 'disputes', { charge: first.latest_charge });
  await control('POST', `disputes/${dispute.id}/close`, { status: 'won' });
  await control('POST', 'disputes', { charge: second.latest_charge });
  const payout = await control('POST', 'payouts', {});
  await control('POST', `payouts/${payout.id}/fail`);
  const all = await movements(stripe);
  assert.deepEqual(told(all), [
    ['charge', 6500, 219, 6281],
    ['charge', 2500, 103, 2397],
    ['refund', -6000, 0, -6000],
    ['refund_failure', 6000, 0, 6000],
    ['refund', -1000, 0, -1000],
    ['dispute', -5500, 1500, -7000],
    ['dispute_reversal', 5500, 0, 5500],
    ['dispute', -2500, 1500, -4000],
    ['payout', -2178, 0, -2178],
    ['payout_reversal', 2178, 0, 2178],
  ]);
  const sum = all.reduce((total, { net }) => total + net, 0);
  assert.deepEqual([(await stripe.balance.retrieve()).available[0]!.amount, sum], [2178, 2178]);
});

test('charge, refund, dispute and payout name their transactions, and a transaction what it is of', async (t) => {
  const { stripe, control } = await emulate(t);
  const { id, latest_charge } = await stripe.paymentIntents.create({ ...paid, metadata: { app: 'induct' } });
  const charge = await stripe.charges.retrieve(latest_charge as string, { expand: ['balance_transaction'] });
  assert.equal((charge.balance_transaction as Stripe.BalanceTransaction).source, charge.id);
  const refund = await stripe.refunds.create({ payment_intent: id, amount: 500 });
  const { id: disputeId } = await control('POST', 'disputes', { charge: charge.id });
  const dispute = await stripe.disputes.retrieve(disputeId);
  assert.deepEqual(
    dispute.balance_transactions.map(({ source, amount }) => [source, amount]),
    [[disputeId, -6000]],
  );
  await stripe.paymentIntents.create(paid);
  const payout = await control('POST', 'payouts', {});
  const listed = await stripe.balanceTransactions.list({ expand: ['data.source.charge'] });
  const sources = listed.data.map(({ source }) => source as Exclude<typeof source, string | null>);
  assert.deepEqual(
    sources.map(({ object }) => object),
    ['payout', 'charge', 'dispute', 'refund', 'charge'],
  );
  assert.equal(sources[0]!.id, payout.id);
  assert.equal(((sources[2] as Stripe.Dispute).charge as Stripe.Charge).metadata.app, 'induct');
  assert.equal(((sources[3] as Stripe.Refund).charge as Stripe.Charge).id, charge.id);
  assert.equal((sources[3] as Stripe.Refund).id, refund.id);
  const one = await stripe.balanceTransactions.retrieve(refund.balance_transaction as string);
  assert.deepEqual([one.type, one.source, one.net], ['refund', refund.id, -500]);
});

test('transactions are listed by type, source, time, and by the automatic payout that took them', async (t) => {
  let now = 1_780_000_000_000;
  const { stripe, control } = await emulate(t, { clock: () => now });
  const early = await stripe.paymentIntents.create(paid);
  const payout = await control('POST', 'payouts', {});
  now += 86_400_000;
  const late = await stripe.paymentIntents.create(paid);
  const manual = await control('POST', 'payouts', { automatic: false });
  const sources = async (params: Stripe.BalanceTransactionListParams) =>
    (await stripe.balanceTransactions.list(params)).data.map(({ source }) => source);
  assert.deepEqual(await sources({ type: 'charge' }), [late.latest_charge, early.latest_charge]);
  assert.deepEqual(await sources({ source: early.latest_charge as string }), [early.latest_charge]);
  assert.deepEqual(await sources({ created: { lt: now / 1000 } }), [payout.id, early.latest_charge]);
  assert.equal(payout.reconciliation_status, 'in_progress');
  assert.equal((await errorOf(sources({ payout: payout.id }))).code, 'payout_reconciliation_not_ready');
  await control('POST', `payouts/${payout.id}/reconcile`, {});
  assert.equal((await stripe.payouts.retrieve(payout.id)).reconciliation_status, 'completed');
  assert.deepEqual(await sources({ payout: payout.id }), [payout.id, early.latest_charge]);
  assert.match((await errorOf(sources({ payout: manual.id }))).message, /only be filtered on automatic/);
  assert.equal((await errorOf(sources({ payout: 'po_none' }))).code, 'resource_missing');
  assert.equal((await errorOf(stripe.balanceTransactions.list({ currency: 'usd' }))).statusCode, 501);
  const payouts = await stripe.payouts.list({ status: 'paid' });
  assert.deepEqual(
    payouts.data.map(({ id, automatic }) => [id, automatic]),
    [
      [manual.id, false],
      [payout.id, true],
    ],
  );
  assert.equal((await stripe.payouts.retrieve(payout.id)).amount, 6281);
});
