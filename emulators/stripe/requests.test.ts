import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { CARDS_ONLY, clientOf, emulate, errorOf } from './test-support.ts';

const invalidCreates: [string, object, string, string | undefined, string | undefined][] = [
  [
    'an unknown parameter',
    { ...CARDS_ONLY, amount: 500, colour: 'red' },
    'Received unknown parameter: colour',
    'colour',
    'parameter_unknown',
  ],
  [
    'payment_method_types, which the current API refuses',
    { currency: 'usd', amount: 500, payment_method_types: ['card'] },
    'Received unknown parameter: payment_method_types',
    'payment_method_types',
    'parameter_unknown',
  ],
  [
    'an unknown nested parameter',
    { ...CARDS_ONLY, amount: 500, shipping: { name: 'A', address: { planet: 'x' } } },
    'Received unknown parameter: shipping[address][planet]',
    'shipping[address][planet]',
    'parameter_unknown',
  ],
  ['a missing amount', CARDS_ONLY, 'Missing required param: amount.', 'amount', 'parameter_missing'],
  [
    'an amount below 50 cents',
    { ...CARDS_ONLY, amount: 49 },
    'Amount must be at least $0.50 usd',
    'amount',
    'amount_too_small',
  ],
  [
    'an amount that is no integer',
    { ...CARDS_ONLY, amount: '5.5' },
    'Invalid integer: 5.5',
    'amount',
    'parameter_invalid_integer',
  ],
  [
    'an amount above the largest',
    { ...CARDS_ONLY, amount: 100_000_000 },
    'Amount must be no more than $999,999.99 usd',
    'amount',
    'amount_too_large',
  ],
  [
    'another value than the listed ones',
    { ...CARDS_ONLY, amount: 500, setup_future_usage: 'sometimes' },
    'Invalid setup_future_usage: must be one of off_session or on_session',
    'setup_future_usage',
    undefined,
  ],
  [
    'a customer that does not exist',
    { ...CARDS_ONLY, amount: 500, customer: 'cus_none' },
    "No such customer: 'cus_none'",
    'customer',
    'resource_missing',
  ],
  [
    'a metadata value of 501 characters',
    { ...CARDS_ONLY, amount: 500, metadata: { long: 'x'.repeat(501) } },
    'Metadata values can have up to 500 characters, but you passed one of 501.',
    'metadata[long]',
    undefined,
  ],
];
for (const [name, params, message, param, code] of invalidCreates) {
  test(`${name} is refused with 400`, async (t) => {
    const { stripe } = await emulate(t);
    const error = await errorOf(stripe.paymentIntents.create(params as Stripe.PaymentIntentCreateParams));
    assert.deepEqual([error.statusCode, error.message, error.param, error.code], [400, message, param, code]);
    assert.equal((await stripe.paymentIntents.list()).data.length, 0);
  });
}

test('51 metadata keys are refused', async (t) => {
  const { stripe } = await emulate(t);
  const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));
  assert.match((await errorOf(stripe.customers.create({ metadata }))).message, /up to 50 metadata keys/);
});

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

test('an id that does not exist in the path is 404', async (t) => {
  const { stripe } = await emulate(t);
  for (const call of [
    stripe.paymentIntents.retrieve('pi_none'),
    stripe.charges.retrieve('ch_none'),
    stripe.customers.retrieve('cus_none'),
  ]) {
    const error = await errorOf(call);
    assert.deepEqual([error.statusCode, error.code], [404, 'resource_missing']);
  }
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

test('no key and a wrong key are 401', async (t) => {
  const { url } = await emulate(t);
  for (const headers of [{}, { authorization: 'Bearer sk_test_other' }]) {
    assert.equal((await fetch(`${url}/v1/customers`, { headers })).status, 401);
  }
});

test('the publishable key opens an intent by its client secret only, and shows neither customer nor metadata', async (t) => {
  const { stripe, browser } = await emulate(t);
  const customer = await stripe.customers.create();
  const intent = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    customer: customer.id,
    metadata: { a: 'b' },
  });
  const seen = await browser('GET', `payment_intents/${intent.id}`, { client_secret: intent.client_secret });
  assert.equal(seen.body.amount, 500);
  assert.equal('customer' in seen.body || 'metadata' in seen.body, false);
  assert.equal(
    (await browser('GET', `payment_intents/${intent.id}`, { client_secret: `${intent.id}_secret_x` })).status,
    404,
  );
  assert.equal((await browser('POST', `payment_intents/${intent.id}`, { amount: 50 })).status, 403);
  assert.equal((await browser('GET', 'customers', {})).status, 403);
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

test('lists are paged as Stripe pages them, newest first', async (t) => {
  const { stripe } = await emulate(t);
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1)
    ids.unshift((await stripe.customers.create({ name: `N${index}` })).id);
  const first = await stripe.customers.list({ limit: 2 });
  assert.deepEqual([first.data.map(({ id }) => id), first.has_more], [ids.slice(0, 2), true]);
  const rest = await stripe.customers.list({ limit: 3, starting_after: ids[1]! });
  assert.deepEqual([rest.data.map(({ id }) => id), rest.has_more], [ids.slice(2), false]);
  const back = await stripe.customers.list({ limit: 2, ending_before: ids[3]! });
  assert.deepEqual([back.data.map(({ id }) => id), back.has_more], [ids.slice(1, 3), true]);
  assert.deepEqual(
    (await stripe.customers.list({ limit: 2 }).autoPagingToArray({ limit: 10 })).map(({ id }) => id),
    ids,
  );
  assert.equal((await errorOf(stripe.customers.list({ limit: 101 }))).param, 'limit');
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

test('search finds by email without case, by metadata, and refuses what cannot be searched', async (t) => {
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

test('a property that cannot be expanded is refused', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    payment_method: 'pm_card_visa',
    confirm: true,
  });
  const list = await stripe.paymentIntents.list({ expand: ['data.latest_charge.refunds'] });
  assert.deepEqual((list.data[0]!.latest_charge as Stripe.Charge).refunds?.data, []);
  assert.match(
    (await errorOf(stripe.paymentIntents.retrieve(id, { expand: ['amount'] }))).message,
    /cannot be expanded/,
  );
});

test('the client asks for the version that the emulator speaks', async (t) => {
  const { url, control } = await emulate(t);
  const { lastResponse } = await clientOf(url).customers.create();
  const [entry] = await control('GET', 'requests');
  assert.equal(lastResponse.headers['stripe-version'], entry.headers['stripe-version']);
  assert.match(lastResponse.requestId!, /^req_/);
});
