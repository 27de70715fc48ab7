import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, emulate, errorOf } from './test-support.ts';

const paid = { ...CARDS_ONLY, amount: 6500, payment_method: 'pm_card_visa', confirm: true } as const;

test('every refund is an event of its charge and lowers the balance, and the fee is not given back', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create(paid);
  await stripe.refunds.create({ payment_intent: id, amount: 6000 });
  assert.equal((await stripe.balance.retrieve()).available[0]!.amount, 500 - 219);
  await stripe.refunds.create({ payment_intent: id });
  assert.equal((await stripe.balance.retrieve()).available[0]!.amount, -219);
  assert.equal((await stripe.events.list({ type: 'charge.refunded' })).data.length, 2);
});

test('a dispute takes the money until it is won', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
  const opened = await control('POST', 'disputes', { charge, reason: 'product_not_received' });
  assert.equal((await stripe.disputes.retrieve(opened.id)).status, 'needs_response');
  assert.equal((await errorOf(stripe.refunds.create({ charge: charge as string }))).code, 'charge_disputed');
  await control('POST', `disputes/${opened.id}/close`, { status: 'won' });
  const types = (await stripe.events.list({ type: 'charge.dispute.*' })).data
    .map(({ type }) => type)
    .reverse();
  assert.deepEqual(types, [
    'charge.dispute.created',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.funds_reinstated',
    'charge.dispute.closed',
  ]);
});

test('a refund may wait, be refused for now, or come back from the bank', async (t) => {
  const { stripe, control } = await emulate(t);
  const { id, latest_charge: charge } = await stripe.paymentIntents.create(paid);
  const refundedCents = async () => (await stripe.charges.retrieve(charge as string)).amount_refunded;
  await control('POST', 'refunds', { answer: 'refused' });
  const refused = await errorOf(stripe.refunds.create({ payment_intent: id }, { idempotencyKey: 'first' }));
  assert.deepEqual([refused.statusCode, refused.code, await refundedCents()], [400, undefined, 0]);
  await control('POST', 'refunds', { answer: 'pending' });
  const again = await errorOf(stripe.refunds.create({ payment_intent: id }, { idempotencyKey: 'first' }));
  assert.equal(again.message, refused.message, 'an error is kept under its key like any other answer');
  const refund = await stripe.refunds.create({ payment_intent: id, amount: 1000 });
  assert.deepEqual(
    [refund.status, refund.pending_reason, await refundedCents()],
    ['pending', 'insufficient_funds', 1000],
  );
  await control('POST', `refunds/${refund.id}/settle`, { status: 'succeeded' });
  assert.equal((await stripe.refunds.retrieve(refund.id)).status, 'succeeded');
  await control('POST', `refunds/${refund.id}/settle`, { status: 'failed' });
  assert.equal((await stripe.refunds.retrieve(refund.id)).failure_reason, 'expired_or_canceled_card');
  assert.equal(await refundedCents(), 0);
  await control('POST', 'refunds', { answer: 'requires_action' });
  const asking = await stripe.refunds.create({ payment_intent: id });
  await control('POST', `refunds/${asking.id}/settle`, { status: 'canceled' });
  assert.deepEqual([asking.status, await refundedCents()], ['requires_action', 0]);
  const types = (await stripe.events.list({ type: 'refund.failed' })).data;
  assert.equal(types.length, 1);
});

test('an event about a declined card names the charge of that moment, whatever became of the intent since', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 6500 });
  const charges: (string | undefined)[] = [];
  for (const payment_method of ['pm_card_chargeDeclined', 'pm_card_chargeDeclinedInsufficientFunds'])
    charges.unshift((await errorOf(stripe.paymentIntents.confirm(id, { payment_method }))).charge);
  const { data } = await stripe.events.list({ type: 'payment_intent.payment_failed' });
  const named = data.map(({ data: { object } }) => {
    const intent = object as Stripe.PaymentIntent;
    return [intent.latest_charge, intent.last_payment_error?.charge];
  });
  assert.deepEqual(
    named,
    charges.map((charge) => [charge, charge]),
  );
  assert.equal(new Set(charges).size, 2);
});
