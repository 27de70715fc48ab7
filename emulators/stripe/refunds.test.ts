import assert from 'node:assert/strict';
import { test } from 'node:test';
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
