import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { startStripeEmulator } from './server.ts';
import { CONFIRMED, emulate, receiveWebhooks } from './test-support.ts';

const paid = { ...CONFIRMED, amount: 500, payment_method: 'pm_card_visa' } as const;

test('every change of state is an event, delivered signed and in order', async (t) => {
  const receiver = await receiveWebhooks(t);
  const { stripe } = await emulate(t, { webhook: receiver.webhook });
  const intent = await stripe.paymentIntents.create(paid, { idempotencyKey: 'k1' });
  await receiver.arrived(3);
  assert.deepEqual(receiver.types(), [
    'payment_intent.created',
    'charge.succeeded',
    'payment_intent.succeeded',
  ]);
  const last = receiver.events[2]!;
  assert.equal((last.data.object as Stripe.PaymentIntent).id, intent.id);
  assert.equal(last.api_version, '2026-10-28.endive');
  assert.equal(last.request?.idempotency_key, 'k1');
  const listed = await stripe.events.retrieve(last.id);
  assert.equal(listed.type, 'payment_intent.succeeded');
});

test('an answer other than 2xx is tried again, and pending_webhooks tells of it', async (t) => {
  const receiver = await receiveWebhooks(t, (count) => (count === 1 ? 500 : 200));
  const { stripe, control } = await emulate(t, { webhook: receiver.webhook });
  await stripe.customers.create();
  await receiver.arrived(1);
  await control('POST', 'webhooks/idle');
  const event = (await stripe.events.list()).data[0]!;
  assert.equal(event.pending_webhooks, 1);
  assert.equal((await stripe.events.list({ delivery_success: false })).data.length, 1);
  assert.deepEqual(await control('POST', 'webhooks/flush'), { sent: 1, failed: 0 });
  assert.deepEqual(
    receiver.events.map(({ id }) => id),
    [event.id, event.id],
  );
  assert.equal((await stripe.events.retrieve(event.id)).pending_webhooks, 0);
});

test('what was not delivered is delivered after a restart', async (t) => {
  const receiver = await receiveWebhooks(t);
  const { stripe, dataDir, control } = await emulate(t, { webhook: receiver.webhook });
  await control('POST', 'webhooks', { mode: 'hold' });
  await stripe.customers.create();
  await control('POST', 'webhooks', { mode: 'deliver' });
  const again = await startStripeEmulator({ host: '127.0.0.1', port: 0, dataDir, webhook: receiver.webhook });
  t.after(() => again.close());
  assert.deepEqual(receiver.types(), []);
  await fetch(`${again.url}/_emulator/webhooks/flush`, { method: 'POST' });
  assert.deepEqual(receiver.types(), ['customer.created']);
});

for (const [mode, expected] of [
  ['drop', []],
  ['duplicate', ['customer.created', 'customer.created', 'customer.updated', 'customer.updated']],
  ['reverse', ['customer.updated', 'customer.created']],
  ['hold', ['customer.created', 'customer.updated']],
] as const) {
  test(`webhooks in mode ${mode} arrive as ${expected.join(', ') || 'nothing'}`, async (t) => {
    const receiver = await receiveWebhooks(t);
    const { stripe, control } = await emulate(t, { webhook: receiver.webhook });
    await control('POST', 'webhooks', { mode });
    const { id } = await stripe.customers.create();
    await stripe.customers.update(id, { name: 'Lee Chen' });
    await control('POST', 'webhooks/idle');
    if (mode !== 'duplicate') assert.deepEqual(receiver.types(), []);
    await control('POST', 'webhooks/flush');
    assert.deepEqual(receiver.types(), expected);
  });
}

test('delayed webhooks leave when their time has come', async (t) => {
  let now = Date.parse('2026-05-01T00:00:00Z');
  const receiver = await receiveWebhooks(t);
  const { stripe, control } = await emulate(t, { webhook: receiver.webhook, clock: () => now });
  await control('POST', 'webhooks', { mode: 'delay', ms: 3_600_000 });
  await stripe.customers.create();
  await control('POST', 'webhooks/idle');
  assert.deepEqual(receiver.types(), []);
  now += 3_600_000;
  await control('POST', 'webhooks', { mode: 'deliver' });
  await stripe.customers.create();
  await receiver.arrived(2);
});

test('a registered endpoint gets the events that it enabled, under its own secret', async (t) => {
  const { webhook, types } = await receiveWebhooks(t);
  const { stripe, control } = await emulate(t);
  const endpoint = await stripe.webhookEndpoints.create({
    url: 'https://society.example.com/webhooks',
    enabled_events: ['charge.refunded'],
  });
  await control('POST', `webhook_endpoints/${endpoint.id}`, { url: webhook.url });
  webhook.secret = endpoint.secret!;
  assert.equal(
    'secret' in (await stripe.webhookEndpoints.retrieve(endpoint.id)),
    false,
    'told at creation only',
  );
  const { id } = await stripe.paymentIntents.create(paid);
  await stripe.refunds.create({ payment_intent: id });
  await control('POST', 'webhooks/idle');
  assert.deepEqual(types(), ['charge.refunded']);

  await stripe.webhookEndpoints.update(endpoint.id, { disabled: true });
  await stripe.refunds.create({ payment_intent: (await stripe.paymentIntents.create(paid)).id });
  assert.deepEqual(await control('POST', 'webhooks/flush'), { sent: 0, failed: 0 });
  await stripe.webhookEndpoints.del(endpoint.id);
  assert.equal((await stripe.webhookEndpoints.list()).data.length, 0);
});
