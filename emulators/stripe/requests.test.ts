import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, CONFIRMED, clientOf, emulate, errorOf } from './test-support.ts';

test('what the emulator does not stand in for answers 501, be it a call or a parameter', async (t) => {
  const { stripe } = await emulate(t);
  const call = await errorOf(stripe.setupIntents.create({}));
  const parameter = await errorOf(
    stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, application_fee_amount: 1 }),
  );
  assert.deepEqual([call.statusCode, parameter.statusCode], [501, 501]);
  assert.match(parameter.message, /application_fee_amount/);
  assert.equal(call.headers?.['stripe-should-retry'], 'false');
});

test('a browser of another origin may call the API and load the script', async (t) => {
  const { url } = await emulate(t);
  const asked = await fetch(`${url}/v1/payment_methods`, {
    method: 'OPTIONS',
    headers: { 'access-control-request-headers': 'content-type' },
  });
  const script = await fetch(`${url}/stripe.js`);
  for (const { status, headers } of [asked, script]) {
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*']);
  }
  assert.match(script.headers.get('content-type')!, /^text\/javascript/);
});

test('a refused request leaves nothing behind', async (t) => {
  const { stripe } = await emulate(t);
  const order = { ...CARDS_ONLY, amount: 500, colour: 'red' };
  await errorOf(stripe.paymentIntents.create(order as Stripe.PaymentIntentCreateParams));
  assert.equal((await stripe.paymentIntents.list()).data.length, 0);
  assert.equal((await stripe.events.list()).data.length, 0);
});

test('a wrong client secret is 404 to a browser, as a wrong id is, and an update is 403', async (t) => {
  const { stripe, browser } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const wrong = await browser('GET', `payment_intents/${id}`, { client_secret: `${id}_secret_x` });
  assert.equal(wrong.status, 404);
  assert.equal((await browser('POST', `payment_intents/${id}`, { amount: 50 })).status, 403);
});

test('a card number is taken from a browser only, and its faults are card errors', async (t) => {
  const { stripe, browser, control } = await emulate(t);
  const { id, client_secret } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const confirm = (card: object) =>
    browser('POST', `payment_intents/${id}/confirm`, {
      client_secret,
      payment_method_data: { type: 'card', card },
    });
  const good = { number: '4242424242424242', exp_month: 12, exp_year: 2099 - 40, cvc: '123' };
  for (const [fault, code] of [
    [{ number: '4242424242424241' }, 'incorrect_number'],
    [{ exp_month: 13 }, 'invalid_expiry_month'],
    [{ exp_year: 2020 }, 'invalid_expiry_year'],
    [{ cvc: '12' }, 'invalid_cvc'],
  ] as const) {
    const { status, body } = await confirm({ ...good, ...fault });
    assert.deepEqual([status, body.error.type, body.error.code], [402, 'card_error', code]);
  }
  assert.equal((await confirm(good)).body.status, 'succeeded');
  const raw = { type: 'card', card: good } as unknown as Stripe.PaymentMethodCreateParams;
  assert.equal((await errorOf(stripe.paymentMethods.create(raw))).statusCode, 402);
  assert.doesNotMatch(
    JSON.stringify(await control('GET', 'requests')),
    /4242424242424242/,
    'the ledger holds no card number',
  );
});

test('lists are filtered by time, customer and type', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const { stripe } = await emulate(t, { clock: () => now });
  const customer = await stripe.customers.create();
  const old = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, customer: customer.id });
  now += 3_600_000;
  const young = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const ids = async (params: Stripe.PaymentIntentListParams) =>
    (await stripe.paymentIntents.list(params)).data.map(({ id }) => id);
  assert.deepEqual(await ids({ created: { gte: now / 1000 } }), [young.id]);
  assert.deepEqual(await ids({ created: { lt: now / 1000 } }), [old.id]);
  assert.deepEqual(await ids({ customer: customer.id }), [old.id]);
  assert.equal((await stripe.events.list({ type: 'payment_intent.*' })).data.length, 2);
  assert.equal((await stripe.events.list({ types: ['customer.created'] })).data.length, 1);
});

test('search joins its clauses by AND or OR, denies with a minus, and refuses what cannot be searched', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.customers.create({ email: 'One@example.com', metadata: { session: "o'1" } });
  await stripe.customers.create({ email: 'two@example.com' });
  const found = async (query: string) =>
    (await stripe.customers.search({ query })).data.map((customer) => customer.id);
  assert.deepEqual(await found('email:"one@EXAMPLE.com" AND metadata["session"]:"o\'1"'), [id]);
  assert.deepEqual(await found('email~"one" OR metadata["session"]:"nothing"'), [id]);
  assert.equal((await found('-email:"two@example.com"')).length, 1);
  assert.equal((await errorOf(stripe.customers.search({ query: 'shoe:"42"' }))).statusCode, 400);
});

test('a charge in a list is expanded with its refunds', async (t) => {
  const { stripe } = await emulate(t);
  await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  const list = await stripe.paymentIntents.list({ expand: ['data.latest_charge.refunds'] });
  assert.deepEqual((list.data[0]!.latest_charge as Stripe.Charge).refunds?.data, []);
});

test('the client asks for the version that the emulator speaks', async (t) => {
  const { url, control } = await emulate(t);
  const { lastResponse } = await clientOf(url).customers.create();
  const [entry] = await control('GET', 'requests');
  assert.equal(lastResponse.headers['stripe-version'], entry.headers['stripe-version']);
  assert.match(lastResponse.requestId!, /^req_/);
});

test('a webhook address without https is refused, as in live mode', async (t) => {
  const { stripe } = await emulate(t);
  const error = await errorOf(
    stripe.webhookEndpoints.create({ url: 'http://society.example.com/webhooks', enabled_events: ['*'] }),
  );
  assert.deepEqual([error.statusCode, error.param], [400, 'url']);
  const { id } = await stripe.webhookEndpoints.create({
    url: 'https://society.example.com/webhooks',
    enabled_events: ['*'],
  });
  const url = 'http://society.example.com/webhooks';
  assert.equal((await errorOf(stripe.webhookEndpoints.update(id, { url }))).param, 'url');
});
