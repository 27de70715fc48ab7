import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, CONFIRMED, emulate, errorOf, RETURN_URL } from './test-support.ts';

const paid = { ...CONFIRMED, amount: 6500, payment_method: 'pm_card_visa' } as const;

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
  const won = await control('POST', `disputes/${opened.id}/close`, { status: 'won' });
  const disputed = await stripe.charges.retrieve(charge as string);
  assert.deepEqual([won.is_charge_refundable, disputed.disputed], [true, true], 'it was, for ever');
  const types = (await stripe.events.list({ type: 'charge.dispute.*' })).data
    .map(({ type }) => type)
    .reverse();
  assert.deepEqual(types, [
    'charge.dispute.created',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.funds_reinstated',
    'charge.dispute.closed',
  ]);
  assert.equal((await stripe.refunds.create({ charge: charge as string })).status, 'succeeded');
});

test('a bank may dispute a part of what is left, or the whole charge, of which it takes only what was left', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
  await stripe.refunds.create({ charge: charge as string, amount: 1000 });
  await control('POST', 'disputes', { charge, amount: 6501 });
  assert.deepEqual((await stripe.disputes.list()).data, []);
  const { id } = await control('POST', 'disputes', { charge, amount: 6500 });
  await control('POST', `disputes/${id}/close`, { status: 'lost' });
  const whole = await stripe.disputes.retrieve(id);
  assert.deepEqual(
    [whole.amount, ...whole.balance_transactions.map(({ amount }) => amount)],
    [6500, -6500, 1000],
  );
  const { latest_charge: other } = await stripe.paymentIntents.create(paid);
  assert.equal((await control('POST', 'disputes', { charge: other, amount: 5500 })).amount, 5500);
});

test('a charge is disputed several times, up to its amount', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
  await stripe.refunds.create({ charge: charge as string, amount: 1000 });
  const won = await control('POST', 'disputes', { charge, amount: 4000 });
  await control('POST', `disputes/${won.id}/close`, { status: 'won' });
  const first = await control('POST', 'disputes', { charge, amount: 3000 });
  await control('POST', 'disputes', { charge, amount: 3501 });
  const second = await control('POST', 'disputes', { charge, amount: 3500 });
  await control('POST', `disputes/${first.id}/close`, { status: 'lost' });
  await control('POST', `disputes/${second.id}/close`, { status: 'lost' });
  await control('POST', 'disputes', { charge });
  assert.deepEqual(
    (await stripe.disputes.list()).data.map(({ amount, balance_transactions: moved }) => [
      amount,
      moved.reduce((sum, transaction) => sum + transaction.amount, 0),
    ]),
    [
      [3500, -3500],
      [3000, -2000],
      [4000, 0],
    ],
    'the bank took what was not refunded, in all',
  );
});

test('an inquiry that escalates takes the money, and ends a refund that still waits', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge } = await stripe.paymentIntents.create(paid);
  const charge = latest_charge as string;
  const { id } = await control('POST', 'disputes', { charge, isInquiry: true });
  await control('POST', 'refunds', { answer: 'pending' });
  const refund = await stripe.refunds.create({ charge, amount: 1000 });
  await control('POST', `disputes/${id}/escalate`);
  const { status, is_charge_refundable, balance_transactions } = await stripe.disputes.retrieve(id);
  assert.deepEqual(
    [status, is_charge_refundable, balance_transactions.map(({ amount }) => amount)],
    ['needs_response', false, [-6500]],
  );
  assert.equal((await stripe.refunds.retrieve(refund.id)).status, 'failed');
  const types = (await stripe.events.list({ type: 'charge.dispute.*' })).data.map(({ type }) => type);
  assert.deepEqual(types.reverse(), [
    'charge.dispute.created',
    'charge.dispute.updated',
    'charge.dispute.funds_withdrawn',
  ]);
  await control('POST', `disputes/${id}/escalate`);
  assert.equal((await stripe.balanceTransactions.list({ source: id })).data.length, 1);
});

test('a dispute that is prevented keeps what it has taken, and an inquiry has taken nothing', async (t) => {
  const { stripe, control } = await emulate(t);
  const prevented: unknown[] = [];
  for (const isInquiry of [false, true]) {
    const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
    const { id } = await control('POST', 'disputes', { charge, isInquiry });
    await control('POST', `disputes/${id}/close`, { status: 'prevented' });
    const { status, is_charge_refundable, balance_transactions } = await stripe.disputes.retrieve(id);
    prevented.push([status, is_charge_refundable, balance_transactions.map(({ amount }) => amount)]);
  }
  assert.deepEqual(prevented, [
    ['prevented', false, [-6500]],
    ['prevented', true, []],
  ]);
});

test('a charge whose dispute was lost is not refunded', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
  const { id } = await control('POST', 'disputes', { charge });
  await control('POST', `disputes/${id}/close`, { status: 'lost' });
  assert.equal((await errorOf(stripe.refunds.create({ charge: charge as string }))).code, 'charge_disputed');
});

test('a dispute ends a refund that still waits for the balance, and takes the whole charge', async (t) => {
  const { stripe, control } = await emulate(t);
  const { latest_charge: charge } = await stripe.paymentIntents.create(paid);
  await control('POST', 'refunds', { answer: 'pending' });
  const refund = await stripe.refunds.create({ charge: charge as string });
  const dispute = await control('POST', 'disputes', { charge });
  const failed = await stripe.refunds.retrieve(refund.id);
  assert.deepEqual(
    [failed.status, failed.failure_reason, dispute.amount],
    ['failed', 'charge_for_pending_refund_disputed', 6500],
  );
});

test('a payment held for review has succeeded; its review is approved, or gives it back as fraud', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'reviews', { hold: true });
  const held = async () => {
    const { id, status, review } = await stripe.paymentIntents.create(paid);
    assert.equal(status, 'succeeded');
    assert.equal((await stripe.reviews.retrieve(review as string)).open, true);
    return { id, review: review as string };
  };
  const [good, bad] = [await held(), await held()];
  assert.equal((await stripe.reviews.list()).data.length, 2);
  assert.equal((await stripe.reviews.approve(good.review)).closed_reason, 'approved');
  await control('POST', `reviews/${bad.review}/close`, { reason: 'refunded_as_fraud' });
  const [refund] = (await stripe.refunds.list({ payment_intent: bad.id })).data;
  assert.deepEqual([refund!.amount, refund!.reason], [6500, 'fraudulent']);
  const closed = await stripe.paymentIntents.retrieve(good.id, { expand: ['latest_charge'] });
  assert.deepEqual([closed.review, (closed.latest_charge as Stripe.Charge).amount_refunded], [null, 0]);
  const types = (await stripe.events.list({ type: 'review.*' })).data.map(({ type }) => type);
  assert.deepEqual(types, ['review.closed', 'review.closed', 'review.opened', 'review.opened']);
});

test('a payment that the bank still processes cannot be cancelled', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'processing', { hold: true });
  const { id, status } = await stripe.paymentIntents.create(paid);
  assert.equal(status, 'processing');
  assert.equal((await errorOf(stripe.paymentIntents.cancel(id))).code, 'payment_intent_unexpected_state');
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
  await control('POST', `refunds/${refund.id}/settle`, {
    status: 'failed',
    reason: 'expired_or_canceled_card',
  });
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
    charges.unshift(
      (await errorOf(stripe.paymentIntents.confirm(id, { return_url: RETURN_URL, payment_method }))).charge,
    );
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
