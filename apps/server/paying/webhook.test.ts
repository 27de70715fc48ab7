import assert from 'node:assert/strict';
import { test } from 'node:test';
import Stripe from 'stripe';
import { membershipsOf, stateOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  newIntent,
  newMember,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { STRIPE_WEBHOOK_SECRET, sharedServer } from '../../../tests/harness/testServer.ts';
import { webhookEvents } from '../providers/stripe/webhookEvents.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();

/**
 * Sends an event to the webhook as Stripe does, signed with `secret`. The signature's timestamp is `ageSeconds` old, as in a replay
 * attack.
 */
const webhook = (event: object, secret?: string, ageSeconds?: number) =>
  signed(JSON.stringify(event), secret, ageSeconds);
async function signed(payload: string, secret = STRIPE_WEBHOOK_SECRET, ageSeconds = 0): Promise<Response> {
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return fetch(`${server.url}/api/webhooks/stripe`, {
    method: 'POST',
    headers: { 'stripe-signature': signature, 'content-type': 'application/json' },
    body: payload,
  });
}
const eventAbout = async (type: string, intentId: string) => {
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  return {
    id: `evt_${intentId}`,
    object: 'event',
    type,
    api_version: '2026-10-28.endive',
    created: 1,
    livemode: false,
    pending_webhooks: 0,
    request: null,
    data: { object: body },
  };
};

test('return page, webhook and a repeat confirm once, in whatever order and at once', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  const event = await eventAbout('payment_intent.succeeded', intent.id);
  const answers = await Promise.all([
    reportPayment(client, uuid, intent),
    webhook(event),
    confirmPayment(server.deps, intent.id),
    webhook(event),
    reportPayment(client, uuid, intent),
  ]);
  assert.equal(answers[0].data.status, 'succeeded');
  assert.equal(answers[1].status, 200);
  assert.equal((await membershipsOf(server, uuid)).length, 1);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('a webhook needs a signature that holds, and events of others are none of our business', async () => {
  const { uuid, intent } = await newIntent(server);
  const event = await eventAbout('payment_intent.succeeded', intent.id);
  assert.equal((await webhook(event, 'whsec_forged')).status, 400);
  assert.equal(
    (await fetch(`${server.url}/api/webhooks/stripe`, { method: 'POST', body: '{}' })).status,
    400,
  );
  const foreign = structuredClone(event) as unknown as {
    data: { object: { metadata: Record<string, string> } };
  };
  foreign.data.object.metadata.environment = 'somebody-else';
  const answer = await webhook(foreign);
  assert.deepEqual([answer.status, await answer.json()], [200, { received: true, handled: false }]);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a webhook caught on its way and sent again later than five minutes is refused', async () => {
  const client = server.client();
  const intent = await openIntent(client, await orderingJoin(client));
  const event = await eventAbout('payment_intent.processing', intent.id);
  assert.equal((await webhook(event, STRIPE_WEBHOOK_SECRET, 330)).status, 400);
  assert.equal((await webhook(event, STRIPE_WEBHOOK_SECRET, 270)).status, 200);
});

test('a webhook whose work fails answers 5xx, so that Stripe tries again', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  const event = await eventAbout('payment_intent.succeeded', intent.id);
  await server.stripeFault({
    kind: 'status',
    status: 500,
    method: 'GET',
    path: '/v1/payment_intents/*',
    times: 3,
  });
  const failed = await webhook(event);
  await server.stripeFault(null);
  assert.ok(failed.status >= 500);
  assert.equal((await webhook(event)).status, 200);
  assert.equal(await stateOf(server, uuid), 'paid');
});

for (const type of webhookEvents.filter((event) => /refund|dispute/.test(event)))
  test(`${type} alone tells how much of a payment has gone back, or is disputed`, async () => {
    const { uuid, intentId } = await newMember(server);
    const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
    const isDispute = type.includes('dispute');
    if (isDispute) await server.stripeControl('disputes', { charge: body.latest_charge });
    else await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
    const object = {
      id: 'object_1',
      object: isDispute ? 'dispute' : 'refund',
      payment_intent: intentId,
      charge: body.latest_charge,
    };
    const event = { ...(await eventAbout(type, intentId)), data: { object } };
    assert.equal((await webhook(event)).status, 200);
    assert.deepEqual(
      (await membershipsOf(server, uuid)).map(({ standing }) => standing),
      [isDispute ? 'disputed' : 'refunded'],
    );
  });

test('what is signed and is no event is 400, whatever it is', async () => {
  const whole = await eventAbout('payment_intent.succeeded', 'pi_0Unknown0000000000000');
  const object = { object: 'payment_intent', id: 'pi_1', metadata: {} };
  const bodies = [
    ...['', '{', 'null', '[]', '1', '"x"', '{}', 'not json', '\ufeff{', '{"id":'],
    ...[
      { id: 1 },
      { id: 'evt_\u0000' },
      { type: null },
      { type: {} },
      { created: 'now' },
      { created: 1e300 },
    ],
    ...[{ data: null }, { data: {} }, { data: { object: null } }, { data: { object: 'x' } }],
    { object: 'v2.core.event' },
    ...[{ id: 'pi_\u0000' }, { id: 5 }, { metadata: 'x' }, { payment_intent: 7 }].map((change) => ({
      data: { object: { ...object, ...change } },
    })),
  ].map((change) => (typeof change === 'string' ? change : JSON.stringify({ ...whole, ...change })));
  const statuses = await Promise.all(bodies.map(async (body) => [body, (await signed(body)).status]));
  assert.deepEqual(
    statuses.filter(([, status]) => status !== 400),
    [],
  );
});
