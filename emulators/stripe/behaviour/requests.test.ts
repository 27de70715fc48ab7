import assert from 'node:assert/strict';
import { test } from 'node:test';
import Stripe from 'stripe';
import { uniqueWord } from '../../shared/subjects.ts';
import { subject } from '../subject.ts';
import { CARDS_ONLY, CONFIRMED, errorOf } from '../test-support.ts';

const invalidCreates: [string, object, string | undefined, string | undefined, RegExp][] = [
  [
    'an unknown parameter',
    { ...CARDS_ONLY, amount: 500, colour: 'red' },
    'colour',
    'parameter_unknown',
    /^Received unknown parameter: colour/,
  ],
  [
    'payment_method_types, which the current API refuses',
    { currency: 'usd', amount: 500, payment_method_types: ['card'] },
    'payment_method_types',
    'payment_method_types_no_longer_supported',
    /payment_method_types/,
  ],
  [
    'an unknown nested parameter',
    { ...CARDS_ONLY, amount: 500, shipping: { name: 'A', address: { planet: 'x' } } },
    'shipping[address][planet]',
    'parameter_unknown',
    /^Received unknown parameter: shipping\[address\]\[planet\]/,
  ],
  ['a missing amount', CARDS_ONLY, 'amount', 'parameter_missing', /^Missing required param: amount/],
  ['an amount below 50 cents', { ...CARDS_ONLY, amount: 49 }, 'amount', 'amount_too_small', /^Amount must /],
  [
    'an amount that is no integer',
    { ...CARDS_ONLY, amount: '5.5' },
    'amount',
    'parameter_invalid_integer',
    /^Invalid integer: 5\.5/,
  ],
  [
    'an amount above the largest',
    { ...CARDS_ONLY, amount: 100_000_000 },
    'amount',
    'amount_too_large',
    /^Amount must be no more than /,
  ],
  [
    'another value than the listed ones',
    { ...CARDS_ONLY, amount: 500, setup_future_usage: 'sometimes' },
    'setup_future_usage',
    undefined,
    /^Invalid setup_future_usage: must be one of /,
  ],
  [
    'a customer that does not exist',
    { ...CARDS_ONLY, amount: 500, customer: 'cus_none' },
    'customer',
    'resource_missing',
    /^No such customer: 'cus_none'/,
  ],
  [
    'a metadata value of 501 characters',
    { ...CARDS_ONLY, amount: 500, metadata: { long: 'x'.repeat(501) } },
    undefined,
    undefined,
    /^Metadata values can have up to 500 characters/,
  ],
];
for (const [name, params, param, code, message] of invalidCreates) {
  test(`${name} is refused with 400`, async (t) => {
    const { stripe } = await subject(t);
    const error = await errorOf(stripe.paymentIntents.create(params as Stripe.PaymentIntentCreateParams));
    assert.equal(error.statusCode, 400);
    assert.match(error.message, message);
    if (param) assert.equal(error.param, param);
    if (code) assert.equal(error.code, code);
  });
}

test('51 metadata keys are refused', async (t) => {
  const { stripe } = await subject(t);
  const metadata = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));
  const error = await errorOf(stripe.customers.create({ metadata }));
  assert.equal(error.statusCode, 400);
});

test('an id that does not exist in the path is 404', async (t) => {
  const { stripe } = await subject(t);
  for (const call of [
    () => stripe.paymentIntents.retrieve('pi_none'),
    () => stripe.charges.retrieve('ch_none'),
    () => stripe.customers.retrieve('cus_none'),
  ]) {
    const error = await errorOf(call());
    assert.deepEqual([error.statusCode, error.code], [404, 'resource_missing']);
  }
});

test('no key and a wrong key are 401', async (t) => {
  const { url } = await subject(t);
  for (const headers of [{}, { authorization: 'Bearer sk_test_other' }]) {
    assert.equal((await fetch(`${url}/v1/customers`, { headers })).status, 401);
  }
});

test('the publishable key opens an intent by its client secret, shows neither customer nor metadata, and pays', async (t) => {
  const { stripe, browser, customer } = await subject(t);
  const { id, client_secret } = await stripe.paymentIntents.create({
    ...CARDS_ONLY,
    amount: 500,
    customer: await customer(),
    metadata: { a: 'b' },
  });
  const seen = await browser('GET', `payment_intents/${id}`, { client_secret });
  assert.equal(seen.body.amount, 500);
  assert.equal('customer' in seen.body || 'metadata' in seen.body, false);
  for (const [method, path, params] of [
    ['POST', `payment_intents/${id}`, { amount: 50 }],
    ['GET', 'customers', {}],
  ] as const) {
    const { status, body } = await browser(method, path, params);
    assert.ok(status === 401 || status === 403, `${status}`);
    assert.equal(body.error?.code, 'secret_key_required');
  }
  const paid = await browser('POST', `payment_intents/${id}/confirm`, {
    client_secret,
    payment_method: 'pm_card_visa',
    return_url: 'https://society.example/back',
  });
  assert.deepEqual([paid.status, paid.body.status], [200, 'succeeded']);
});

test('lists are paged as Stripe pages them, newest first', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1)
    ids.unshift((await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, customer: payer })).id);
  const first = await stripe.paymentIntents.list({ customer: payer, limit: 2 });
  assert.deepEqual([first.data.length, first.has_more], [2, true]);
  const all = first.data.map(({ id }) => id);
  const rest = await stripe.paymentIntents.list({ customer: payer, limit: 3, starting_after: all[1]! });
  assert.deepEqual([rest.data.length, rest.has_more], [3, false]);
  all.push(...rest.data.map(({ id }) => id));
  assert.deepEqual([...all].sort(), [...ids].sort(), 'each once');
  const times = [...first.data, ...rest.data].map(({ created }) => created);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => b - a),
    'newest first',
  );
  const back = await stripe.paymentIntents.list({ customer: payer, limit: 2, ending_before: all[3]! });
  assert.deepEqual([back.data.map(({ id }) => id), back.has_more], [all.slice(1, 3), true]);
  assert.deepEqual(
    (await stripe.paymentIntents.list({ customer: payer, limit: 2 }).autoPagingToArray({ limit: 10 })).map(
      ({ id }) => id,
    ),
    all,
  );
  assert.equal((await errorOf(stripe.paymentIntents.list({ limit: 101 }))).param, 'limit');
});

test('lists are filtered by a range of time', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const { id, created } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, customer: payer });
  const ids = async (range: Stripe.RangeQueryParam) =>
    (await stripe.paymentIntents.list({ customer: payer, created: range })).data.map((intent) => intent.id);
  assert.deepEqual(await ids({ gte: created, lte: created }), [id]);
  assert.deepEqual(await ids({ gt: created }), []);
  assert.deepEqual(await ids({ lt: created }), []);
});

test('search finds by email without case and by metadata, and refuses what cannot be searched', async (t) => {
  const { stripe, customer, eventually } = await subject(t);
  const word = uniqueWord();
  const id = await customer({ email: `${word}@example.com`, metadata: { session: word } });
  await customer({ email: `other-${word}@example.com` });
  const found = (query: string) =>
    eventually(async () => (await stripe.customers.search({ query })).data.map((one) => one.id));
  assert.deepEqual(await found(`metadata["session"]:"${word}"`), [id]);
  assert.deepEqual(await found(`email:"${word.toUpperCase()}@EXAMPLE.com"`), [id]);
  assert.equal((await errorOf(stripe.customers.search({ query: 'shoe:"42"' }))).statusCode, 400);
});

test('a payment intent is found by its metadata', async (t) => {
  const { stripe, customer, eventually } = await subject(t);
  const session = uniqueWord();
  const order = { ...CARDS_ONLY, amount: 500, customer: await customer(), metadata: { session } };
  const { id } = await stripe.paymentIntents.create(order);
  const query = `metadata["session"]:"${session}" AND status:"requires_payment_method"`;
  const found = await eventually(async () => (await stripe.paymentIntents.search({ query })).data);
  assert.deepEqual(
    found.map((intent) => intent.id),
    [id],
  );
});

test('a property that cannot be expanded is refused', async (t) => {
  const { stripe } = await subject(t);
  const { id } = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  const error = await errorOf(stripe.paymentIntents.retrieve(id, { expand: ['amount'] }));
  assert.equal(error.statusCode, 400);
  assert.match(error.message, /cannot be expanded/);
});

test("the version that answers is the client's", async (t) => {
  const { stripe } = await subject(t);
  const { lastResponse } = await stripe.customers.list({ limit: 1 });
  assert.equal(lastResponse.headers['stripe-version'], Stripe.API_VERSION);
  assert.match(lastResponse.requestId!, /^req_/);
});
