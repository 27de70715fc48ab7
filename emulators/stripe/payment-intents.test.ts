import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, emulate, errorOf } from './test-support.ts';

test('an intent is created, updated with the same client secret, confirmed and charged once', async (t) => {
  const { stripe } = await emulate(t);
  const customer = await stripe.customers.create({ email: 'payer@example.com' });
  const created = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 6500,
    customer: customer.id,
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
    expand: ['latest_charge', 'payment_method'],
  });
  const charge = paid.latest_charge as Stripe.Charge;
  const method = paid.payment_method as Stripe.PaymentMethod;
  assert.equal(paid.status, 'succeeded');
  assert.equal(paid.amount_received, 7700);
  assert.equal(charge.amount, 7700);
  assert.deepEqual(charge.metadata, paid.metadata);
  assert.equal(method.customer, customer.id, 'setup_future_usage saves the card to the customer');
  assert.equal((await stripe.charges.list({ payment_intent: created.id })).data.length, 1);
});

test('a succeeded intent can be neither confirmed, canceled nor given another amount', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    payment_method: 'pm_card_visa',
    confirm: true,
  });
  for (const call of [
    stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' }),
    stripe.paymentIntents.cancel(id),
    stripe.paymentIntents.update(id, { amount: 600 }),
  ]) {
    const error = await errorOf(call);
    assert.equal(error.statusCode, 400);
    assert.equal(error.code, 'payment_intent_unexpected_state');
    assert.equal(error.payment_intent?.status, 'succeeded');
  }
  assert.equal(
    (await stripe.paymentIntents.update(id, { metadata: { note: 'kept' } })).metadata.note,
    'kept',
  );
});

test('a decline is 402 with its code, leaves a failed charge and lets the next card pay', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const error = await errorOf(
    stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_chargeDeclinedInsufficientFunds' }),
  );
  assert.equal(error.statusCode, 402);
  assert.equal(error.type, 'StripeCardError');
  assert.equal(error.code, 'card_declined');
  assert.equal(error.decline_code, 'insufficient_funds');
  assert.equal(error.payment_intent?.status, 'requires_payment_method');

  const after = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
  assert.equal(after.payment_method, null);
  assert.equal(after.last_payment_error?.decline_code, 'insufficient_funds');
  assert.equal((after.latest_charge as Stripe.Charge).status, 'failed');
  assert.equal(
    (await stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_mastercard' })).last_payment_error,
    null,
  );
});

for (const [card, code, declineCode] of [
  ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline'],
  ['pm_card_chargeDeclinedExpiredCard', 'expired_card', 'expired_card'],
  ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc'],
  ['pm_card_chargeDeclinedProcessingError', 'processing_error', 'processing_error'],
] as const) {
  test(`${card} is declined with ${declineCode}`, async (t) => {
    const { stripe } = await emulate(t);
    const error = await errorOf(
      stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, payment_method: card, confirm: true }),
    );
    assert.deepEqual([error.code, error.decline_code], [code, declineCode]);
  });
}

test('a card that asks for authentication asks again with the customer present, and not off-session once set up', async (t) => {
  const { stripe, url } = await emulate(t);
  const customer = await stripe.customers.create();
  const order = { ...CARDS_ONLY, amount: 500, customer: customer.id, confirm: true };
  const first = await stripe.paymentIntents.create({
    ...order,
    payment_method: 'pm_card_authenticationRequiredOnSetup',
    setup_future_usage: 'off_session',
  });
  assert.equal(first.status, 'requires_action');
  assert.equal(first.next_action?.type, 'use_stripe_sdk');
  await answerAuthentication(url, first, 'complete');
  const paid = await stripe.paymentIntents.retrieve(first.id);
  assert.equal(paid.status, 'succeeded');

  const saved = paid.payment_method as string;
  assert.equal(
    (await stripe.paymentIntents.create({ ...order, payment_method: saved })).status,
    'requires_action',
  );
  assert.equal(
    (await stripe.paymentIntents.create({ ...order, payment_method: saved, off_session: true })).status,
    'succeeded',
  );
});

test('a card that always asks is declined off-session with authentication_required', async (t) => {
  const { stripe } = await emulate(t);
  const customer = await stripe.customers.create();
  const method = await stripe.paymentMethods.attach('pm_card_authenticationRequired', {
    customer: customer.id,
  });
  const error = await errorOf(
    stripe.paymentIntents.create({
      ...CARDS_ONLY,
      amount: 500,
      customer: customer.id,
      payment_method: method.id,
      off_session: true,
      confirm: true,
    }),
  );
  assert.deepEqual([error.statusCode, error.code], [402, 'authentication_required']);
});

test('failed authentication takes the card away and charges nothing', async (t) => {
  const { stripe, url } = await emulate(t);
  const asking = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    payment_method: 'pm_card_threeDSecure2Required',
    confirm: true,
  });
  await answerAuthentication(url, asking, 'fail');
  const failed = await stripe.paymentIntents.retrieve(asking.id);
  assert.equal(failed.status, 'requires_payment_method');
  assert.equal(failed.last_payment_error?.code, 'payment_intent_authentication_failure');
  assert.equal((await stripe.charges.list()).data.length, 0);
});

test('with a return address the issuer is a page of its own that goes back to it', async (t) => {
  const { stripe } = await emulate(t);
  const asking = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    payment_method: 'pm_card_threeDSecure2Required',
    confirm: true,
    return_url: 'https://society.example/back?x=1',
  });
  const { url } = asking.next_action!.redirect_to_url!;
  assert.match(await (await fetch(url!)).text(), /Complete authentication/);
  const back = await fetch(url!, {
    method: 'POST',
    body: new URLSearchParams({ client_secret: asking.client_secret!, outcome: 'complete' }),
    redirect: 'manual',
  });
  const address = new URL(back.headers.get('location')!);
  assert.equal(address.origin + address.pathname, 'https://society.example/back');
  assert.equal(address.searchParams.get('x'), '1');
  assert.equal(address.searchParams.get('redirect_status'), 'succeeded');
  assert.equal(address.searchParams.get('payment_intent'), asking.id);
});

test('a card that was charged without a customer cannot be charged again', async (t) => {
  const { stripe } = await emulate(t);
  const first = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    payment_method: 'pm_card_visa',
    confirm: true,
  });
  const again = { ...CARDS_ONLY, amount: 500, payment_method: first.payment_method as string, confirm: true };
  assert.match((await errorOf(stripe.paymentIntents.create(again))).message, /may not be used again/);
});

test("a saved card cannot be charged for another customer's payment", async (t) => {
  const { stripe } = await emulate(t);
  const [mine, other] = [await stripe.customers.create(), await stripe.customers.create()];
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: mine.id });
  for (const customer of [{ customer: other.id }, {}]) {
    const error = await errorOf(
      stripe.paymentIntents.create({
        ...CARDS_ONLY,
        ...customer,
        amount: 500,
        payment_method: method.id,
        confirm: true,
      }),
    );
    assert.match(error.message, /belongs to/);
  }
  assert.equal(
    (await stripe.paymentIntents.list()).data.length,
    0,
    'a refused request leaves nothing behind',
  );
});

test('a request that is refused halfway leaves nothing behind but its answer', async (t) => {
  const { stripe } = await emulate(t);
  // Without a choice of methods a redirect is possible, and confirming without a return address is refused.
  const order = { amount: 500, currency: 'usd', payment_method: 'pm_card_visa', confirm: true };
  const refused = () => errorOf(stripe.paymentIntents.create(order, { idempotencyKey: 'k1' }));
  assert.match((await refused()).message, /return_url/);
  assert.equal((await refused()).headers?.['idempotent-replayed'], 'true');
  assert.equal((await stripe.paymentIntents.list()).data.length, 0);
  assert.equal((await stripe.events.list()).data.length, 0);
});

test('an intent that a test holds stays in processing until it is settled', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'processing', { hold: true });
  const order = { ...CARDS_ONLY, amount: 500, payment_method: 'pm_card_visa', confirm: true };
  const held = await stripe.paymentIntents.create(order);
  assert.equal(held.status, 'processing');
  await control('POST', `payment_intents/${held.id}/settle`, {});
  assert.equal((await stripe.paymentIntents.retrieve(held.id)).amount_received, 500);
  const lost = await stripe.paymentIntents.create(order);
  await control('POST', `payment_intents/${lost.id}/settle`, { declines: 'generic_decline' });
  assert.equal((await stripe.paymentIntents.retrieve(lost.id)).status, 'requires_payment_method');
});

test('a saved card that its issuer closed is declined from then on', async (t) => {
  const { stripe, control } = await emulate(t);
  const customer = await stripe.customers.create();
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
  await control('POST', `payment_methods/${method.id}`, { declines: 'lost_card' });
  const order = {
    ...CARDS_ONLY,
    amount: 500,
    customer: customer.id,
    payment_method: method.id,
    confirm: true,
  };
  assert.equal((await errorOf(stripe.paymentIntents.create(order))).decline_code, 'lost_card');
});

test('a canceled intent stays canceled and says why', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const canceled = await stripe.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' });
  assert.deepEqual([canceled.status, canceled.cancellation_reason], ['canceled', 'abandoned']);
  assert.equal(
    (await errorOf(stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' }))).code,
    'payment_intent_unexpected_state',
  );
});

async function answerAuthentication(
  url: string,
  intent: Stripe.PaymentIntent,
  outcome: 'complete' | 'fail',
): Promise<void> {
  await fetch(`${url}/authenticate/${intent.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_secret: intent.client_secret, outcome }),
  });
}
