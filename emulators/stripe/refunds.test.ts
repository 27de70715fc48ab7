import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, emulate, errorOf } from './test-support.ts';

const paid = { ...CARDS_ONLY, amount: 6500, payment_method: 'pm_card_visa', confirm: true } as const;

test('refunds add up to the charge and never beyond it', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create(paid);
  const first = await stripe.refunds.create({
    payment_intent: id,
    amount: 6000,
    metadata: { why: 'not eligible' },
  });
  assert.deepEqual([first.status, first.amount], ['succeeded', 6000]);
  const tooMuch = await errorOf(stripe.refunds.create({ payment_intent: id, amount: 501 }));
  assert.equal(tooMuch.message, 'Refund amount ($5.01) is greater than unrefunded amount on charge ($5.00)');
  assert.equal((await stripe.refunds.create({ payment_intent: id })).amount, 500);
  assert.equal(
    (await errorOf(stripe.refunds.create({ payment_intent: id }))).code,
    'charge_already_refunded',
  );

  const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
  const charge = intent.latest_charge as Stripe.Charge;
  assert.deepEqual([charge.amount_refunded, charge.refunded], [6500, true]);
  assert.equal((await stripe.refunds.list({ charge: charge.id })).data.length, 2);
  assert.equal((await stripe.events.list({ type: 'charge.refunded' })).data.length, 2);
  assert.equal((await stripe.balance.retrieve()).available[0]!.amount, 0);
});

test('a payment that never succeeded cannot be refunded', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  assert.equal((await errorOf(stripe.refunds.create({ payment_intent: id }))).statusCode, 400);
  assert.equal((await errorOf(stripe.refunds.create({}))).statusCode, 400);
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

test('the card that is disputed after payment opens a dispute by itself', async (t) => {
  const { stripe } = await emulate(t);
  const intent = await stripe.paymentIntents.create({ ...paid, payment_method: 'pm_card_createDispute' });
  const [dispute] = (await stripe.disputes.list({ payment_intent: intent.id })).data;
  assert.equal(dispute?.reason, 'fraudulent');
  assert.equal((await stripe.charges.retrieve(intent.latest_charge as string)).disputed, true);
});
