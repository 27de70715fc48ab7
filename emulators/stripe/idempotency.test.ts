import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startStripeEmulator } from './server.ts';
import { CARDS_ONLY, clientOf, emulate, errorOf, RETURN_URL } from './test-support.ts';

const order = { ...CARDS_ONLY, amount: 500 };

test('a request for too small an amount leaves its key free', async (t) => {
  const { stripe } = await emulate(t);
  await errorOf(stripe.paymentIntents.create({ ...order, amount: 1 }, { idempotencyKey: 'k1' }));
  assert.equal((await stripe.paymentIntents.create(order, { idempotencyKey: 'k1' })).amount, 500);
});

test('a refusal of work that began is kept under its key', async (t) => {
  const { stripe } = await emulate(t);
  const { id } = await stripe.paymentIntents.create({
    ...order,
    payment_method: 'pm_card_visa',
    confirm: true,
    return_url: RETURN_URL,
  });
  const cancel = () => errorOf(stripe.paymentIntents.cancel(id, {}, { idempotencyKey: 'k1' }));
  await cancel();
  assert.equal((await cancel()).headers?.['idempotent-replayed'], 'true');
});

test('a second request with the key of one under way is 409', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'hang', path: '/v1/payment_intents' });
  const controller = new AbortController();
  const hanging = fetch(
    `http://${stripe.getApiField('host')}:${stripe.getApiField('port')}/v1/payment_intents`,
    {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_emulated', 'idempotency-key': 'k1' },
      body: 'amount=500&currency=usd',
      signal: controller.signal,
    },
  ).catch(() => {});
  // Waits until the fault is used up: the first request then hangs, and its key is in use.
  while ((await control('GET', 'faults')).length > 0);
  const error = await errorOf(stripe.paymentIntents.create(order, { idempotencyKey: 'k1' }));
  assert.deepEqual([error.statusCode, error.code], [409, 'idempotency_key_in_use']);
  controller.abort();
  await hanging;
});

test('work done behind a cut connection is found again by its key', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'cut_after', method: 'POST', path: '/v1/payment_intents' });
  // Stripe's client retries once after a cut connection, with the same key.
  const found = await stripe.paymentIntents.create(order, { idempotencyKey: 'k1' });
  assert.equal(found.lastResponse.headers['idempotent-replayed'], 'true');
  assert.equal((await stripe.paymentIntents.list()).data.length, 1);
});

test('keys outlive a restart and are forgotten after a day', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const clock = () => now;
  const { stripe, dataDir } = await emulate(t, { clock });
  const first = await stripe.paymentIntents.create(order, { idempotencyKey: 'k1' });
  const again = await startStripeEmulator({ host: '127.0.0.1', port: 0, dataDir, clock });
  t.after(() => again.close());
  const client = clientOf(again.url);
  assert.equal((await client.paymentIntents.create(order, { idempotencyKey: 'k1' })).id, first.id);
  now += 24 * 3_600_000;
  assert.notEqual((await client.paymentIntents.create(order, { idempotencyKey: 'k1' })).id, first.id);
});

for (const kind of ['status', 'status_after'] as const)
  test(`a failure of Stripe's own is kept under its key for a day (${kind}); with another key the work is done`, async (t) => {
    let now = Date.now();
    const { stripe, control } = await emulate(t, { clock: () => now });
    await control('POST', 'faults', { kind, method: 'POST', path: '/v1/payment_intents' });
    const create = (idempotencyKey: string) => stripe.paymentIntents.create(order, { idempotencyKey });
    assert.equal((await errorOf(create('k1'))).statusCode, 500);
    const again = await errorOf(create('k1'));
    assert.deepEqual([again.statusCode, again.headers?.['idempotent-replayed']], [500, 'true']);
    assert.equal((await create('k2')).amount, 500);
    now += 86_401_000;
    assert.equal((await create('k1')).amount, 500);
  });

test('what is refused after the work has begun is kept under its key', async (t) => {
  const { stripe, control } = await emulate(t);
  const body = { error: { type: 'invalid_request_error', message: 'not from this account' } };
  await control('POST', 'faults', {
    kind: 'status',
    status: 402,
    body,
    method: 'POST',
    path: '/v1/payment_intents',
  });
  const create = (idempotencyKey: string) => stripe.paymentIntents.create(order, { idempotencyKey });
  for (let time = 0; time < 2; time++) assert.equal((await errorOf(create('k1'))).statusCode, 402);
  assert.equal((await create('k2')).amount, 500);
});

test('that a request came too often, or twice at once, is not kept', async (t) => {
  const { stripe, control } = await emulate(t);
  for (const status of [429, 409]) {
    await control('POST', 'faults', { kind: 'status', status, method: 'POST', path: '/v1/payment_intents' });
    const create = () => stripe.paymentIntents.create(order, { idempotencyKey: `k${status}` });
    assert.equal((await errorOf(create())).statusCode, status);
    assert.equal((await create()).amount, 500);
  }
});
