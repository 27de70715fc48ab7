import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { subject } from '../subject.ts';
import { CARDS_ONLY, CONFIRMED, errorOf } from '../test-support.ts';

const paid = { ...CONFIRMED, amount: 6500, payment_method: 'pm_card_visa' } as const;

test('refunds add up to the charge and never beyond it', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create(paid);
  const first = await stripe.refunds.create({
    payment_intent: id,
    amount: 6000,
    metadata: { why: 'not eligible' },
  });
  assert.deepEqual([first.status, first.amount, first.payment_intent], ['succeeded', 6000, id]);
  assert.deepEqual(first.metadata, { why: 'not eligible' });
  const [listed] = (await stripe.refunds.list({ payment_intent: id })).data;
  assert.deepEqual([listed?.id, listed?.metadata], [first.id, { why: 'not eligible' }]);
  const part = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
  const partly = part.latest_charge as Stripe.Charge;
  assert.deepEqual([part.status, partly.amount_refunded, partly.refunded], ['succeeded', 6000, false]);

  const tooMuch = await errorOf(stripe.refunds.create({ payment_intent: id, amount: 501 }));
  assert.equal(tooMuch.statusCode, 400);
  assert.match(tooMuch.message, /\$5\.01\) is greater than unrefunded amount on charge \(\$5\.00/);
  assert.equal(
    (await stripe.refunds.create({ payment_intent: id })).amount,
    500,
    'the rest without an amount',
  );
  const again = await errorOf(stripe.refunds.create({ payment_intent: id }));
  assert.deepEqual([again.statusCode, again.code], [400, 'charge_already_refunded']);

  const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
  const charge = intent.latest_charge as Stripe.Charge;
  assert.deepEqual([charge.amount_refunded, charge.refunded], [6500, true]);
  assert.equal((await stripe.refunds.list({ charge: charge.id })).data.length, 2);
});

test('a refund keeps metadata of 500 characters a value, and not beyond', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create(paid);
  const noted = (length: number) =>
    stripe.refunds.create({
      payment_intent: id,
      amount: 100,
      metadata: { lines: `a\n${'x'.repeat(length)}` },
    });
  assert.equal((await errorOf(noted(499))).statusCode, 400);
  const { metadata } = await noted(498);
  assert.equal(metadata?.lines, `a\n${'x'.repeat(498)}`);
});

test('a payment that never succeeded cannot be refunded', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  afterwards(() => stripe.paymentIntents.cancel(id));
  assert.equal((await errorOf(stripe.refunds.create({ payment_intent: id }))).statusCode, 400);
  assert.equal((await errorOf(stripe.refunds.create({}))).statusCode, 400);
});

test('the card that is disputed after payment opens a dispute by itself', async (t) => {
  const { stripe, eventually } = await subject(t);
  const intent = await stripe.paymentIntents.create({ ...paid, payment_method: 'pm_card_createDispute' });
  const [dispute] = await eventually(
    async () => (await stripe.disputes.list({ payment_intent: intent.id })).data,
  );
  assert.deepEqual([dispute?.reason, dispute?.amount], ['fraudulent', 6500]);
  assert.equal((await stripe.charges.retrieve(intent.latest_charge as string)).disputed, true);
});
