import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { subject } from '../subject.ts';
import { CARDS_ONLY, CONFIRMED, errorOf, RETURN_URL } from '../test-support.ts';

test('an intent is created, updated with the same client secret, confirmed and charged once', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer({ email: 'payer@example.com' });
  const created = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 6500,
    customer: payer,
    receipt_email: 'payer@example.com',
    setup_future_usage: 'on_session',
    metadata: { revision: '1', app: 'induct' },
  });
  assert.equal(created.status, 'requires_payment_method');
  assert.deepEqual(created.payment_method_types, ['card']);

  const updated = await stripe.paymentIntents.update(created.id, {
    amount: 7700,
    metadata: { revision: '2' },
  });
  assert.equal(updated.client_secret, created.client_secret);
  assert.deepEqual(updated.metadata, { revision: '2', app: 'induct' });

  const paid = await stripe.paymentIntents.confirm(created.id, {
    payment_method: 'pm_card_visa',
    return_url: RETURN_URL,
    expand: ['latest_charge', 'payment_method'],
  });
  const charge = paid.latest_charge as Stripe.Charge;
  const method = paid.payment_method as Stripe.PaymentMethod;
  assert.equal(paid.status, 'succeeded');
  assert.equal(paid.amount_received, 7700);
  assert.equal(charge.amount, 7700);
  assert.deepEqual(charge.metadata, paid.metadata);
  assert.deepEqual([method.card?.brand, method.card?.last4], ['visa', '4242']);
  assert.equal(method.customer, payer, 'setup_future_usage saves the card to the customer');
  assert.equal((await stripe.charges.list({ payment_intent: created.id })).data.length, 1);
  assert.equal((await stripe.paymentIntents.retrieve(created.id)).status, 'succeeded');
});

test('metadata is merged, and a key given as nothing is removed', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const { id } = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    metadata: { a: '1', b: '2' },
  });
  afterwards(() => stripe.paymentIntents.cancel(id));
  const updated = await stripe.paymentIntents.update(id, { metadata: { b: '', c: '3' } });
  assert.deepEqual(updated.metadata, { a: '1', c: '3' });
  assert.deepEqual((await stripe.paymentIntents.retrieve(id)).metadata, { a: '1', c: '3' });
});

test('a charge has notes of its own: what its intent noted when it was made, changed by nothing but the charge', async (t) => {
  const { stripe } = await subject(t);
  const person = { first_name: 'Jordan', revision: '1' };
  const intent = { ...CARDS_ONLY, amount: 500, description: 'Society: Membership', metadata: person };
  const { id } = await stripe.paymentIntents.create(intent);
  await errorOf(
    stripe.paymentIntents.confirm(id, {
      return_url: RETURN_URL,
      payment_method: 'pm_card_visa_chargeDeclined',
    }),
  );
  await stripe.paymentIntents.confirm(id, { return_url: RETURN_URL, payment_method: 'pm_card_visa' });
  await stripe.paymentIntents.update(id, { metadata: { first_name: '' }, description: 'Another' });
  const charges = await stripe.charges.list({ payment_intent: id });
  assert.deepEqual(
    charges.data.map(({ status, metadata, description }) => ({ status, metadata, description })),
    ['succeeded', 'failed'].map((status) => ({ status, metadata: person, description: intent.description })),
  );
  const changed = { metadata: { first_name: '' }, description: 'Third' };
  const charge = await stripe.charges.update(charges.data[0]!.id, changed);
  assert.deepEqual([charge.metadata, charge.description], [{ revision: '1' }, 'Third']);
  assert.deepEqual((await stripe.charges.retrieve(charge.id)).metadata, { revision: '1' });
  const { metadata, description } = await stripe.paymentIntents.retrieve(id);
  assert.deepEqual([metadata, description], [{ revision: '1' }, 'Another'], 'nor does the intent hear of it');
  const unknown = await errorOf(stripe.charges.update('ch_none', { metadata: {} }));
  assert.deepEqual([unknown.statusCode, unknown.code], [404, 'resource_missing']);
});

test('a succeeded intent can be neither confirmed, canceled nor given another amount', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  for (const call of [
    () => stripe.paymentIntents.confirm(id, { return_url: RETURN_URL, payment_method: 'pm_card_visa' }),
    () => stripe.paymentIntents.cancel(id),
    () => stripe.paymentIntents.update(id, { amount: 600 }),
  ]) {
    const error = await errorOf(call());
    assert.equal(error.statusCode, 400);
    assert.equal(error.code, 'payment_intent_unexpected_state');
    assert.equal(error.payment_intent?.status, 'succeeded');
  }
  assert.equal(
    (await stripe.paymentIntents.update(id, { metadata: { note: 'kept' } })).metadata.note,
    'kept',
  );
});

test('an intent without a payment method cannot be confirmed', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  afterwards(() => stripe.paymentIntents.cancel(id));
  const error = await errorOf(stripe.paymentIntents.confirm(id, { return_url: RETURN_URL }));
  assert.deepEqual([error.statusCode, error.code], [400, 'payment_intent_unexpected_state']);
});

test('a canceled intent stays canceled and says why', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const canceled = await stripe.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' });
  assert.deepEqual([canceled.status, canceled.cancellation_reason], ['canceled', 'abandoned']);
  for (const call of [
    () => stripe.paymentIntents.confirm(id, { return_url: RETURN_URL, payment_method: 'pm_card_visa' }),
    () => stripe.paymentIntents.cancel(id),
  ])
    assert.equal((await errorOf(call())).code, 'payment_intent_unexpected_state');
});

test('a decline is 402 with its code, leaves a failed charge and lets the next card pay', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const error = await errorOf(
    stripe.paymentIntents.confirm(id, {
      return_url: RETURN_URL,
      payment_method: 'pm_card_visa_chargeDeclinedInsufficientFunds',
    }),
  );
  assert.equal(error.statusCode, 402);
  assert.equal(error.type, 'StripeCardError');
  assert.equal(error.code, 'card_declined');
  assert.equal(error.decline_code, 'insufficient_funds');
  assert.equal(error.message, 'Your card has insufficient funds.');
  assert.equal(error.payment_intent?.status, 'requires_payment_method');

  const after = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
  assert.equal(after.payment_method, null);
  assert.equal(after.last_payment_error?.decline_code, 'insufficient_funds');
  assert.equal((after.latest_charge as Stripe.Charge).status, 'failed');
  const paid = await stripe.paymentIntents.confirm(id, {
    return_url: RETURN_URL,
    payment_method: 'pm_card_mastercard',
  });
  assert.deepEqual([paid.status, paid.last_payment_error], ['succeeded', null]);
});

// In Stripe's table of test cards (https://docs.stripe.com/testing), the last three of these cards have no decline code.
for (const [card, code, declineCode] of [
  ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline'],
  ['pm_card_visa_chargeDeclinedLostCard', 'card_declined', 'lost_card'],
  ['pm_card_visa_chargeDeclinedStolenCard', 'card_declined', 'stolen_card'],
  ['pm_card_chargeDeclinedExpiredCard', 'expired_card'],
  ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc'],
  ['pm_card_chargeDeclinedProcessingError', 'processing_error'],
] as const) {
  test(`${card} is declined with ${declineCode ?? code}`, async (t) => {
    const { stripe } = await subject(t);
    const error = await errorOf(
      stripe.paymentIntents.create({ ...CONFIRMED, amount: 500, payment_method: card }),
    );
    assert.deepEqual([error.statusCode, error.code], [402, code]);
    if (declineCode) assert.equal(error.decline_code, declineCode);
    assert.ok(error.payment_intent?.id, 'the intent that stays behind is named');
  });
}

test('a card that asks for authentication waits in requires_action for Stripe.js, and can be canceled', async (t) => {
  const { stripe } = await subject(t);
  const asking = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_threeDSecure2Required',
    use_stripe_sdk: true,
  });
  assert.equal(asking.status, 'requires_action');
  assert.equal(asking.next_action?.type, 'use_stripe_sdk');
  assert.equal(asking.amount_received, 0);
  assert.equal((await stripe.paymentIntents.cancel(asking.id)).status, 'canceled');
});

test('a card that always asks is declined off-session with authentication_required', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const method = await stripe.paymentMethods.attach('pm_card_authenticationRequired', { customer: payer });
  const error = await errorOf(
    stripe.paymentIntents.create({
      ...CONFIRMED,
      amount: 500,
      customer: payer,
      payment_method: method.id,
      off_session: true,
    }),
  );
  assert.deepEqual([error.statusCode, error.code], [402, 'authentication_required']);
});

test('a card that was saved by a payment is charged again with its owner present', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const first = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 6500,
    customer: payer,
    setup_future_usage: 'on_session',
    payment_method: 'pm_card_visa',
  });
  const saved = first.payment_method as string;
  const second = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 4500,
    customer: payer,
    payment_method: saved,
    use_stripe_sdk: true,
    expand: ['payment_method'],
  });
  assert.deepEqual([second.status, second.amount_received], ['succeeded', 4500]);
  assert.equal((second.payment_method as Stripe.PaymentMethod).id, saved);
  const cards = await stripe.customers.listPaymentMethods(payer, { type: 'card' });
  assert.deepEqual(
    cards.data.map(({ id }) => id),
    [saved],
  );
});

test('a saved card whose issuer says no is declined when it is charged', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const method = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: payer });
  const error = await errorOf(
    stripe.paymentIntents.create({
      ...CONFIRMED,
      amount: 500,
      customer: payer,
      payment_method: method.id,
    }),
  );
  assert.deepEqual([error.statusCode, error.code], [402, 'card_declined']);
});

test('most cards that would be declined cannot be saved to a customer at all', async (t) => {
  const { stripe, customer } = await subject(t);
  const error = await errorOf(
    stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer: await customer() }),
  );
  assert.deepEqual([error.statusCode, error.code], [402, 'card_declined']);
});

test('a card that was charged without a customer cannot be charged again', async (t) => {
  const { stripe } = await subject(t);
  const first = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  const again = { ...CONFIRMED, amount: 500, payment_method: first.payment_method as string };
  const error = await errorOf(stripe.paymentIntents.create(again));
  assert.equal(error.statusCode, 400);
  assert.match(error.message, /may not be used again/);
});

test("a saved card cannot be charged for another customer's payment", async (t) => {
  const { stripe, customer } = await subject(t);
  const [mine, other] = [await customer(), await customer()];
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: mine });
  for (const payer of [{ customer: other }, {}]) {
    const order = { ...CONFIRMED, ...payer, amount: 500, payment_method: method.id };
    assert.equal((await errorOf(stripe.paymentIntents.create(order))).statusCode, 400);
  }
  assert.equal((await stripe.paymentIntents.list({ customer: other })).data.length, 0);
});

test('a test token becomes a card that pays', async (t) => {
  const { stripe } = await subject(t);
  const method = await stripe.paymentMethods.create({ type: 'card', card: { token: 'tok_mastercard' } });
  assert.deepEqual([method.card?.brand, method.card?.last4], ['mastercard', '4444']);
  const paid = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: method.id,
  });
  assert.equal(paid.status, 'succeeded');
  const none = { type: 'card', card: { token: 'tok_none' } } as const;
  assert.equal((await errorOf(stripe.paymentMethods.create(none))).code, 'resource_missing');
});

test('a card that paid without a customer and is to be kept can be given to one afterwards, and then pays again', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const paid = { ...CONFIRMED, amount: 500, payment_method: 'pm_card_visa' } as const;
  const { payment_method: card } = await stripe.paymentIntents.create({
    ...paid,
    setup_future_usage: 'on_session',
  });
  const payment_method = card as string;
  const again = await errorOf(stripe.paymentIntents.create({ ...paid, payment_method }));
  assert.deepEqual(
    [again.statusCode, again.rawType],
    [400, 'invalid_request_error'],
    'not while it is nobody’s',
  );
  const customer = await stripe.customers.create({ payment_method });
  afterwards(() => stripe.customers.del(customer.id));
  assert.equal((await stripe.paymentMethods.retrieve(payment_method)).customer, customer.id);
  const second = await stripe.paymentIntents.create({ ...paid, payment_method, customer: customer.id });
  assert.equal(second.status, 'succeeded');
});

test('a card that paid without a customer and is not to be kept can be given to none', async (t) => {
  const { stripe } = await subject(t);
  const { payment_method } = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  const error = await errorOf(stripe.customers.create({ payment_method: payment_method as string }));
  assert.equal(error.statusCode, 400);
  assert.match(error.message, /may not be used again/);
});

test('the email of a receipt can be taken away again', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const order = { ...CARDS_ONLY, amount: 500, receipt_email: 'payer@example.com' };
  const { id } = await stripe.paymentIntents.create(order);
  afterwards(() => stripe.paymentIntents.cancel(id));
  assert.equal((await stripe.paymentIntents.update(id, { receipt_email: '' })).receipt_email, null);
});
