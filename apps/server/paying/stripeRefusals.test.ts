import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinRow, staffNotices } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
} from '../../../tests/harness/steps.ts';
import { type Answered, type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import type { CallFailure } from '../providers/stripe/failures.ts';
import { stripeFailures } from './stripeFailures.ts';

const server = await sharedServer();

const SECRET = 'Stripe says something that is not for joiners.';

test('staff are told what Stripe refuses and what to mend, and of no outage', async () => {
  const noticeOf = async (change: Partial<CallFailure>) => {
    let told: string | null | undefined;
    const failure = { call: 'createIntent', status: 400, code: null, param: null, requestId: null } as const;
    await stripeFailures(async ({ notice }) => {
      told = notice;
    })({ ...failure, kind: 'refusal', said: null, ...change });
    return told;
  };
  assert.equal(await noticeOf({ status: 500, kind: 'outage' }), null);
  for (const [change, notice] of [
    [
      { code: 'parameter_unknown', param: 'colour' },
      /^Stripe refuses createIntent with 400 \(parameter_unknown, parameter colour\)\. What needs/,
    ],
    [{ status: 402 }, /^Stripe refuses createIntent with 402\. /],
    [{ status: 401, said: 'Expired.' }, /with 401\. Expired\. Until STRIPE_SECRET_KEY/],
    [{ status: 403, said: 'Lacks charges.' }, /with 403\. Lacks charges\. Give the key that permission/],
    [{ status: 202, kind: 'unreadable' }, /^What answers createIntent with 202 is not Stripe\. Look at/],
  ] as const)
    assert.match((await noticeOf(change))!, notice);
});

/** A way in which Stripe refuses or fails a call for a reason other than the card, and the status of the joiner's call. */
interface Kind {
  fault: { kind: 'status' | 'status_after'; status: number; body: object };
  answered: 502 | 503;
}
const errorOf = (error: object) => ({ error: { message: SECRET, ...error } });
const rolledKey: Kind = {
  fault: {
    kind: 'status',
    status: 401,
    body: errorOf({ type: 'invalid_request_error', code: 'api_key_expired' }),
  },
  answered: 502,
};
/** One kind of failure for each message that a joiner may read. answers.test.ts in providers/stripe tests all kinds. */
const kinds: Kind[] = [
  rolledKey,
  { fault: { kind: 'status', status: 500, body: errorOf({ type: 'api_error' }) }, answered: 503 },
  { fault: { kind: 'status_after', status: 202, body: { said: SECRET } }, answered: 503 },
];

/** Makes the next calls to `path` fail. A header tells Stripe's client not to retry. */
async function meet({ fault }: Kind, method: string, path: string): Promise<void> {
  const headers = { 'stripe-should-retry': 'false' };
  await server.stripeFault({ ...fault, method, path, headers, times: 100 });
}

interface Step {
  method: string;
  path: string;
  /** Brings a join to the step at which Stripe fails. Returns a function that makes the page's call in which that happens. */
  arrange(client: Client): Promise<() => Promise<Answered<never>>>;
}
const order = { amount: 6500, currency: 'usd' as const, billingEmail: 'jordan.rivera@example.com' };
/**
 * For each request to Stripe for which a joiner waits: the page's call that causes the request, and how to bring a join to that
 * call.
 */
const steps: Record<string, Step> = {
  'opening Checkout': {
    method: 'POST',
    path: '/v1/payment_intents',
    async arrange(client) {
      const params = { uuid: await orderingJoin(client) };
      return () => client.call('createPaymentIntent', { params, body: order }) as never;
    },
  },
  'an order that changed': {
    method: 'POST',
    path: '/v1/payment_intents/*',
    async arrange(client) {
      const params = { uuid: await orderingJoin(client) };
      await openIntent(client, params.uuid);
      await client.call('setCustomDonation', { params, body: { amount: 12 } });
      return () => client.call('createPaymentIntent', { params, body: { ...order, amount: 7700 } }) as never;
    },
  },
  'the way back from paying': {
    method: 'GET',
    path: '/v1/payment_intents/*',
    async arrange(client) {
      const uuid = await orderingJoin(client);
      const { id, clientSecret, revision } = await openIntent(client, uuid);
      await beginPayment(client, uuid, revision);
      const body = {
        paymentIntent: id,
        paymentIntentClientSecret: clientSecret,
        redirectStatus: 'succeeded',
      };
      return () => client.call('postPayment', { params: { uuid }, body }) as never;
    },
  },
  'a change of an order that was begun to be paid': {
    method: 'POST',
    path: '/v1/payment_intents/*/cancel',
    async arrange(client) {
      const params = { uuid: await orderingJoin(client) };
      const { revision } = await openIntent(client, params.uuid);
      await beginPayment(client, params.uuid, revision);
      await server.deps.database
        .updateTable('join_session')
        .set({ paying_since: new Date(Date.now() - 60_000) })
        .where('uuid', '=', params.uuid)
        .execute();
      return () => client.call('setCustomDonation', { params, body: { amount: 12 } }) as never;
    },
  },
  ...Object.fromEntries(
    (
      [
        ['POST', '/v1/customers', 'giving the card to a customer'],
        ['POST', '/v1/payment_intents', 'opening it'],
        ['POST', '/v1/payment_intents/*/confirm', 'charging the card'],
        ['GET', '/v1/payment_intents/*', 'seeing how it ended'],
      ] as const
    ).map(([method, path, part]) => [
      `an upgrade, ${part}`,
      {
        method,
        path,
        async arrange(client: Client) {
          // Right after a payment the server tries to create the customer. Makes this first try fail.
          if (path === '/v1/customers') await meet(rolledKey, method, path);
          const { uuid, intentId } = await paidJoin(server, client);
          if (path === '/v1/customers') await until(async () => (await failuresOf(uuid)) === 1);
          await server.stripeFault(null);
          const body = { paymentIntent: intentId };
          return () => client.call('createUpgradeCharge', { params: { uuid }, body }) as never;
        },
      },
    ]),
  ),
};
async function failuresOf(uuid: string): Promise<number> {
  const { provider_failures } = await joinRow(server, uuid);
  return provider_failures;
}
for (const [name, { method, path, arrange }] of Object.entries(steps))
  test(`${name}: whatever Stripe refuses, the joiner reads a sentence, and goes on when it is put right`, async () => {
    const again: (() => Promise<Answered<never>>)[] = [];
    for (const kind of kinds) {
      // Uses a new browser each time, because a browser's cookie has only the last few joins.
      const step = await arrange(server.client());
      await meet(kind, method, path);
      const { status, headers, message, body } = await step();
      await server.stripeFault(null);
      assert.equal(status, kind.answered, kind.fault.kind);
      assert.match(message!, /right now|did not answer/);
      assert.equal(headers.get('retry-after'), status === 503 ? '5' : null);
      assert.equal(JSON.stringify(body).includes(SECRET), false);
      again.push(step);
    }
    for (const step of again) assert.equal((await step()).status, 200);
  });

test('who has paid while the key was refused is a member once it is taken again', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, clientSecret, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await payByCard(server, id);
  const body = { paymentIntent: id, paymentIntentClientSecret: clientSecret, redirectStatus: 'succeeded' };
  await meet(rolledKey, 'GET', '/v1/payment_intents/*');
  assert.equal((await client.call('postPayment', { params: { uuid }, body })).status, 502);
  const told = await staffNotices(server, { kind: 'provider_trouble' });
  assert.ok(told.some((notice) => notice.startsWith('Stripe refuses retrieveIntent with 401')));
  await server.stripeFault(null);
  assert.equal((await client.call('postPayment', { params: { uuid }, body })).data.status, 'succeeded');
});
