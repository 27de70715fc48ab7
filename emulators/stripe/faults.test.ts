import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CARDS_ONLY, clientOf, emulate, errorOf, RETURN_URL } from './test-support.ts';

const order = { ...CARDS_ONLY, amount: 500 };

test('a status fault answers before any work, as often as it says, after the requests it lets pass', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', {
    kind: 'status',
    status: 503,
    method: 'POST',
    path: '/v1/payment_intents',
    skip: 1,
    times: 2,
  });
  await stripe.paymentIntents.create(order);
  assert.equal((await errorOf(stripe.paymentIntents.create(order))).statusCode, 503);
  assert.equal((await errorOf(stripe.paymentIntents.create(order))).statusCode, 503);
  await stripe.paymentIntents.create(order);
  assert.equal((await stripe.paymentIntents.list()).data.length, 2);
});

test('a status fault after the work leaves the work done', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'status_after', path: '/v1/payment_intents/*/confirm' });
  const { id } = await stripe.paymentIntents.create({ ...order, payment_method: 'pm_card_visa' });
  assert.equal(
    (await errorOf(stripe.paymentIntents.confirm(id, { return_url: RETURN_URL }))).statusCode,
    500,
  );
  assert.equal((await stripe.paymentIntents.retrieve(id)).status, 'succeeded');
});

test('a fault about something passes by the requests that do not name it', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'status', about: '"session":"b"' });
  const { id } = await stripe.paymentIntents.create({ ...order, metadata: { session: 'a' } });
  assert.equal(
    (await errorOf(stripe.paymentIntents.create({ ...order, metadata: { session: 'b' } }))).statusCode,
    500,
  );
  await control('POST', 'faults', { kind: 'status', about: id });
  await stripe.paymentIntents.list();
  assert.equal((await errorOf(stripe.paymentIntents.retrieve(id))).statusCode, 500);
});

test('a connection cut before the work leaves nothing behind', async (t) => {
  const { stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'cut', path: '/v1/payment_intents', times: 2 });
  assert.equal((await errorOf(stripe.paymentIntents.create(order))).type, 'StripeConnectionError');
  assert.equal((await stripe.paymentIntents.list()).data.length, 0);
});

test('a client that waits in vain gives up by its own timeout, and the work may be done', async (t) => {
  const { url, stripe, control } = await emulate(t);
  await control('POST', 'faults', { kind: 'hang_after', method: 'POST', path: '/v1/payment_intents' });
  const error = await errorOf(clientOf(url).paymentIntents.create(order, { timeout: 100 }));
  assert.equal(error.type, 'StripeConnectionError');
  assert.equal((await stripe.paymentIntents.list()).data.length, 1);
});

test('the ledger tells every request with its parameters, key and status, until it is cleared', async (t) => {
  const { stripe, control } = await emulate(t);
  await stripe.paymentIntents.create({ ...order, metadata: { a: 'b' } }, { idempotencyKey: 'k1' });
  await errorOf(stripe.charges.retrieve('ch_none'));
  const entries = await control('GET', 'requests');
  assert.deepEqual(
    entries.map(({ method, path, status, idempotencyKey }: Record<string, unknown>) => [
      method,
      path,
      status,
      idempotencyKey,
    ]),
    [
      ['POST', '/v1/payment_intents', 200, 'k1'],
      ['GET', '/v1/charges/ch_none', 404, null],
    ],
  );
  assert.deepEqual(entries[0].params.metadata, { a: 'b' });
  await control('DELETE', 'requests');
  assert.deepEqual(await control('GET', 'requests'), []);
});

test('a fault that makes no sense is refused', async (t) => {
  const { url } = await emulate(t);
  const post = (body: object) =>
    fetch(`${url}/_emulator/faults`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal((await post({ kind: 'explode' })).status, 400);
  assert.equal((await post({ kind: 'cut', paths: '/v1/charges' })).status, 400);
});
