import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { cancelIntent } from './cancelIntent.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();

const statusOf = async (intentId: string) =>
  (
    await server.deps.database
      .selectFrom('payment')
      .select('status')
      .where('intent_id', '=', intentId)
      .executeTakeFirstOrThrow()
  ).status;
const open = async () => (await openIntent(server.client(), await orderingJoin(server.client()))).id;

test('an intent that was paid in this very moment is not written as cancelled, and is confirmed', async () => {
  const id = await open();
  await payByCard(server, id);
  assert.equal(await cancelIntent(server.deps, id), false);
  assert.equal(await statusOf(id), 'open');
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  assert.equal(await cancelIntent(server.deps, id), false);
  assert.equal(await statusOf(id), 'succeeded');
});

test('a payment that succeeded stays so with the keys of an account that does not know it', async (t) => {
  const id = await open();
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
  t.mock.method(server.deps.payments, 'cancelIntent', () =>
    Promise.reject(new NotAtStripe('No such intent', { cause: null })),
  );
  await cancelIntent(server.deps, id);
  assert.equal(await statusOf(id), 'succeeded');
});

test('an intent is written as cancelled when Stripe says so, and when Stripe knows none', async () => {
  const id = await open();
  assert.equal(await cancelIntent(server.deps, id), true);
  assert.equal(await statusOf(id), 'canceled');
  assert.equal(await cancelIntent(server.deps, 'pi_nobody'), true);
  const inDashboard = await open();
  await server.stripe('POST', `/v1/payment_intents/${inDashboard}/cancel`);
  assert.equal(await confirmPayment(server.deps, inDashboard), 'canceled');
  assert.equal(await statusOf(inDashboard), 'canceled');
});

test('while Stripe does not answer, nothing is written as cancelled', async () => {
  const id = await open();
  await server.stripeFault({
    kind: 'status',
    status: 500,
    path: `/v1/payment_intents/${id}/cancel`,
    times: 3,
  });
  await assert.rejects(cancelIntent(server.deps, id));
  await server.stripeFault(null);
  assert.equal(await statusOf(id), 'open');
});

test('a payment that the bank works on is not cancelled for a change of its order', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const intent = await openIntent(client, uuid);
  const { id, revision } = intent;
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  await sql`update join_session set paying_since = now() - interval '1 hour' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const cancel = t.mock.method(server.deps.payments, 'cancelIntent');
  const body = { membershipId: 2 };
  assert.equal((await client.call('setMembership', { params: { uuid }, body })).status, 409);
  assert.equal(cancel.mock.callCount(), 0);
  const { data } = await reportPayment(client, uuid, intent);
  assert.deepEqual([data.status, data.goOn], ['processing', null], 'its page waits');
  assert.equal(await statusOf(id), 'open');
});
