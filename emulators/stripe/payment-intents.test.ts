import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, CONFIRMED, emulate, errorOf } from './test-support.ts';

test('a card that asks for authentication asks again with the customer present, and not off-session once set up', async (t) => {
  const { stripe, url } = await emulate(t);
  const customer = await stripe.customers.create();
  const order = { ...CONFIRMED, amount: 500, customer: customer.id };
  const first = await stripe.paymentIntents.create({
    ...order,
    payment_method: 'pm_card_authenticationRequiredOnSetup',
    setup_future_usage: 'off_session',
    use_stripe_sdk: true,
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

test('failed authentication takes the card away and charges nothing', async (t) => {
  const { stripe, url } = await emulate(t);
  const asking = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_threeDSecure2Required',
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

test('a request that is refused halfway leaves nothing behind but its answer', async (t) => {
  const { stripe } = await emulate(t);
  const order = { ...CARDS_ONLY, amount: 500, payment_method: 'pm_card_visa', confirm: true };
  const refused = () => errorOf(stripe.paymentIntents.create(order, { idempotencyKey: 'k1' }));
  assert.match((await refused()).message, /return_url/);
  assert.equal((await refused()).headers?.['idempotent-replayed'], 'true');
  assert.equal((await stripe.paymentIntents.list()).data.length, 0);
  assert.equal((await stripe.events.list()).data.length, 0);
});

test('a server gives a return address when it confirms, also an intent of cards alone, unless nothing redirects', async (t) => {
  const { stripe } = await emulate(t);
  const order = { amount: 500, currency: 'usd', payment_method: 'pm_card_visa', confirm: true };
  for (const types of [{}, { ...CARDS_ONLY }])
    assert.match((await errorOf(stripe.paymentIntents.create({ ...order, ...types }))).message, /return_url/);
  const automatic_payment_methods = { enabled: true, allow_redirects: 'never' } as const;
  assert.equal(
    (await stripe.paymentIntents.create({ ...order, automatic_payment_methods })).status,
    'succeeded',
  );
  const customer = await stripe.customers.create();
  const offSession = { ...CARDS_ONLY, customer: customer.id, off_session: true };
  assert.equal((await stripe.paymentIntents.create({ ...order, ...offSession })).status, 'succeeded');
});

test('an intent that a test holds stays in processing until it is settled', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'processing', { hold: true });
  const order = { ...CONFIRMED, amount: 500, payment_method: 'pm_card_visa' };
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
    ...CONFIRMED,
    amount: 500,
    customer: customer.id,
    payment_method: method.id,
  };
  assert.equal((await errorOf(stripe.paymentIntents.create(order))).decline_code, 'lost_card');
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
