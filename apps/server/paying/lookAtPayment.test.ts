import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { paymentRow } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  newMember,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { sweepPayments } from '../books/sweep.ts';
import { lookAtPayment } from './lookAtPayment.ts';

const server = await sharedServer();
beforeEachIn(import.meta.filename, async () => {
  await forgetRequests(server.stripeUrl);
});

/** Returns how often this intent was read from Stripe. */
async function looks(intentId: string): Promise<number> {
  return (await requestsTo(server.stripeUrl)).filter(
    ({ method, path }) => method === 'GET' && path.includes(`/payment_intents/${intentId}`),
  ).length;
}

/** Begins a payment and leaves it unfinished. */
async function begunJoin(client: Client) {
  const uuid = await orderingJoin(client);
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  return { uuid, intent };
}

/**
 * Runs `work`. Asserts that it read the intent from Stripe at least once, and at most once for each second that it took, plus
 * once.
 */
async function countLooks(intentId: string, work: () => Promise<unknown>) {
  const began = performance.now();
  await work();
  const most = 1 + Math.ceil((performance.now() - began) / 1000);
  const made = await looks(intentId);
  assert.ok(made >= 1 && made <= most, `${made} looks, at most ${most}`);
}

test('many reads of one begun join, at two servers, cost one look at Stripe a second', async (t) => {
  const client = server.client();
  const { uuid, intent } = await begunJoin(client);
  const second = await startTestServer({
    DATABASE_URL: server.deps.config.databaseUrl,
    STRIPE_EMULATOR_URL: server.stripeUrl,
  });
  t.after(() => second.close());
  await countLooks(intent.id, () =>
    Promise.all(
      Array.from({ length: 40 }, async (_, read) => {
        const path = `/api/public/join-session/${uuid}/checkout-details`;
        const answer = await fetch((read % 2 ? second.url : server.url) + path);
        assert.equal(answer.status, 200);
        await answer.arrayBuffer();
      }),
    ),
  );
});

test('the return page, the release, reads and the sweep share that look', async () => {
  const client = server.client();
  const { uuid, intent } = await begunJoin(client);
  await server.deps.database
    .updateTable('payment')
    .set({ checked_at: new Date(0) })
    .execute();
  await countLooks(intent.id, () =>
    Promise.all([
      ...Array.from({ length: 15 }, async () => {
        const { data } = await reportPayment(client, uuid, intent, 'failed');
        assert.equal(data.status, 'requires_payment_method');
      }),
      ...Array.from({ length: 15 }, () => client.call('releasePayment', { params: { uuid } })),
      ...Array.from({ length: 15 }, () => client.call('getCheckoutDetails', { params: { uuid } })),
      sweepPayments(server.deps),
    ]),
  );
});

test('a look that is answered late does not replace what a later one saw', async (t) => {
  const { intent } = await begunJoin(server.client());
  const { database, payments } = server.deps;
  const ask = payments.retrieveIntent;
  const answer = Promise.withResolvers<void>();
  let asked = 0;
  t.mock.method(payments, 'retrieveIntent', async (id: string) => {
    const seen = await ask(id);
    if (++asked > 1) return seen;
    await answer.promise;
    return { ...seen, status: 'processing' as const };
  });
  const late = lookAtPayment(server.deps, intent.id, 'recorded');
  await until(() => asked === 1);
  await sql`update payment set looked_at = now() - interval '2 seconds' where intent_id = ${intent.id}`.execute(
    database,
  );
  assert.equal((await lookAtPayment(server.deps, intent.id, 'recorded')).outcome, 'requires_payment_method');
  answer.resolve();
  await late;
  const { seen_status } = await paymentRow(server, intent.id);
  assert.equal(seen_status, 'requires_payment_method');
});

test('who comes back from paying right after somebody looked learns that it is paid by the next look', async () => {
  const client = server.client();
  const { uuid, intent } = await begunJoin(client);
  assert.equal((await client.call('getCheckoutDetails', { params: { uuid } })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  assert.equal(await looks(intent.id), 2);
});

test("who comes back from paying is not answered by somebody's look that has no answer yet", async () => {
  const { intent } = await begunJoin(server.client());
  await lookAtPayment(server.deps, intent.id, 'recorded');
  await payByCard(server, intent.id);
  const mine = lookAtPayment(server.deps, intent.id, 'fresh');
  for (let look = 0; look < 10; look++)
    await sql`update payment set looked_at = now() where intent_id = ${intent.id}`.execute(
      server.deps.database,
    );
  assert.equal((await mine).outcome, 'succeeded');
});

test('who comes back from paying when nobody looked learns it by the first look', async () => {
  const client = server.client();
  const { uuid, intent } = await begunJoin(client);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  assert.equal(await looks(intent.id), 1);
});

test('a payment whose end is written is told of without asking Stripe', async () => {
  const { client, uuid, intentId, clientSecret } = await newMember(server);
  await forgetRequests(server.stripeUrl);
  for (let time = 0; time < 3; time++) {
    const answer = await reportPayment(client, uuid, { id: intentId, clientSecret });
    assert.equal(answer.data.status, 'succeeded');
  }
  assert.equal(await looks(intentId), 0);
});

test('a release right after a look asks anew: an order that was paid meanwhile is not opened', async () => {
  const client = server.client();
  const { uuid, intent } = await begunJoin(client);
  await client.call('getCheckoutDetails', { params: { uuid } });
  await payByCard(server, intent.id);
  const { data } = await client.call('releasePayment', { params: { uuid } });
  assert.equal(data.state, 'paid');
});

test("an intent that we have no row of is somebody else's", async () => {
  const { body } = await server.stripe('POST', '/v1/payment_intents', { amount: '6500', currency: 'usd' });
  const { outcome } = await lookAtPayment(server.deps, body.id, 'fresh');
  assert.equal(outcome, 'foreign');
});

test('a success that could not be confirmed is not told to who looks again', async () => {
  const { uuid, intent } = await begunJoin(server.client());
  await payByCard(server, intent.id);
  await server.deps.database.deleteFrom('order_snapshot').where('session_uuid', '=', uuid).execute();
  await assert.rejects(lookAtPayment(server.deps, intent.id, 'fresh'), /not in this database/);
  assert.deepEqual(await lookAtPayment(server.deps, intent.id, 'recorded'), { outcome: null, intent: null });
});
