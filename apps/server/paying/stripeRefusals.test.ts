import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock, test } from 'node:test';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { beginPayment, openIntent, orderingJoin, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import {
  type Answered,
  type Client,
  sharedServer,
  startTestServer,
} from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { RefundRefused } from '../providers/stripe/failures.ts';
import type { IntentMetadata, PaymentProvider } from '../providers/stripe/provider.ts';

const server = await sharedServer();

const SECRET = 'Stripe says something that is not for joiners.';

/** A way in which Stripe refuses or fails a call for a reason other than the card. */
interface Kind {
  fault: {
    kind: 'status' | 'status_after' | 'cut';
    status?: number;
    error?: Record<string, string>;
    body?: object;
  };
  /** The expected status of the joiner's call. */
  status: 502 | 503;
  /** Whether staff are expected to get a notice, because the failure lasts until somebody acts. */
  isTold: boolean;
}
const kinds: Record<string, Kind> = {
  'a parameter that it does not take': {
    fault: {
      kind: 'status',
      status: 400,
      error: { type: 'invalid_request_error', code: 'parameter_unknown', param: 'colour' },
    },
    status: 502,
    isTold: true,
  },
  'a value without a code': {
    fault: { kind: 'status', status: 400, error: { type: 'invalid_request_error', param: 'description' } },
    status: 502,
    isTold: true,
  },
  'another request under the same key': {
    fault: { kind: 'status', status: 400, error: { type: 'idempotency_error' } },
    status: 502,
    isTold: true,
  },
  'a key that was rolled': {
    fault: {
      kind: 'status',
      status: 401,
      error: { type: 'invalid_request_error', code: 'api_key_expired' },
    },
    status: 502,
    isTold: true,
  },
  'a key that is none': {
    fault: { kind: 'status', status: 401, error: { type: 'invalid_request_error' } },
    status: 502,
    isTold: true,
  },
  'a request that it does not take from this account': {
    fault: { kind: 'status', status: 402, error: { type: 'invalid_request_error' } },
    status: 502,
    isTold: true,
  },
  'a restricted key without the permission': {
    fault: { kind: 'status', status: 403, error: { type: 'invalid_request_error' } },
    status: 502,
    isTold: true,
  },
  'an address that it does not know': {
    fault: { kind: 'status', status: 404, error: { type: 'invalid_request_error' } },
    status: 502,
    isTold: true,
  },
  'the same call still under way': {
    fault: { kind: 'status', status: 409, error: { type: 'invalid_request_error', code: 'lock_timeout' } },
    status: 503,
    isTold: false,
  },
  'too many calls': {
    fault: { kind: 'status', status: 429, error: { type: 'invalid_request_error', code: 'rate_limit' } },
    status: 503,
    isTold: false,
  },
  'a failure of its own': {
    fault: { kind: 'status', status: 500, error: { type: 'api_error' } },
    status: 503,
    isTold: false,
  },
  'an outage': {
    fault: { kind: 'status', status: 503, error: { type: 'api_error' } },
    status: 503,
    isTold: false,
  },
  'an answer that is not its own': {
    fault: { kind: 'status', status: 200, body: { said: SECRET } },
    status: 503,
    isTold: true,
  },
  'such an answer to what it did': {
    fault: { kind: 'status_after', status: 202, body: { said: SECRET } },
    status: 503,
    isTold: true,
  },
  'a connection that breaks': { fault: { kind: 'cut' }, status: 503, isTold: false },
};

/** Makes the next calls to `path` fail. If the failure has a status, a header tells Stripe's client not to retry. */
async function meet(
  { fault: { kind, status, error, body } }: Kind,
  method: string,
  path: string,
): Promise<void> {
  await server.stripeFault({
    kind,
    method,
    path,
    times: 100,
    ...(status ? { status, headers: { 'stripe-should-retry': 'false' } } : {}),
    ...(error ? { body: { error: { message: SECRET, ...error } } } : body ? { body } : {}),
  });
}

const metadata: IntentMetadata = {
  app: 'induct',
  environment: 'test',
  session: randomUUID(),
  kind: 'join',
  revision: '1',
};
const intent = {
  amountCents: 500,
  receiptEmail: 'jordan.rivera@example.com',
  saveCard: false,
  description: 'Membership',
  metadata,
};
async function drain(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}
const now = new Date();

/** Every method of the payment provider, with the HTTP method and path of its first request to Stripe. */
const calls: Record<Exclude<keyof PaymentProvider, 'readEvent'>, [string, string, () => Promise<unknown>]> = {
  createCustomer: [
    'POST',
    '/v1/customers',
    () =>
      server.deps.payments.createCustomer({
        email: 'jordan.rivera@example.com',
        name: 'Jordan Rivera',
        paymentMethodId: 'pm_card_visa',
        sessionUuid: metadata.session,
        idempotencyKey: randomUUID(),
      }),
  ],
  deleteCustomer: ['DELETE', '/v1/customers/*', () => server.deps.payments.deleteCustomer('cus_1')],
  writeNotes: [
    'POST',
    '/v1/payment_intents/*',
    () => server.deps.payments.writeNotes('pi_1', { contact: '' }),
  ],
  customerOfCard: ['GET', '/v1/payment_methods/*', () => server.deps.payments.customerOfCard('pm_1')],
  createIntent: [
    'POST',
    '/v1/payment_intents',
    () => server.deps.payments.createIntent({ ...intent, customerId: null, idempotencyKey: randomUUID() }),
  ],
  updateIntent: ['POST', '/v1/payment_intents/*', () => server.deps.payments.updateIntent('pi_1', intent)],
  retrieveIntent: ['GET', '/v1/payment_intents/*', () => server.deps.payments.retrieveIntent('pi_1')],
  chargeTimes: ['GET', '/v1/charges', () => server.deps.payments.chargeTimes('pi_1')],
  listIntents: ['GET', '/v1/payment_intents', () => drain(server.deps.payments.listIntents(now))],
  confirmWithSavedCard: [
    'POST',
    '/v1/payment_intents/*/confirm',
    () =>
      server.deps.payments.confirmWithSavedCard('pi_1', {
        paymentMethodId: 'pm_1',
        returnUrl: server.url,
        idempotencyKey: randomUUID(),
      }),
  ],
  cancelIntent: ['POST', '/v1/payment_intents/*/cancel', () => server.deps.payments.cancelIntent('pi_1')],
  refund: [
    'POST',
    '/v1/refunds',
    () =>
      server.deps.payments.refund({
        intentId: 'pi_1',
        amountCents: 500,
        environment: 'test',
        uuid: null,
        decided: { reason: 'unconfirmed', lines: null },
        idempotencyKey: randomUUID(),
      }),
  ],
  moneyBack: ['GET', '/v1/refunds', () => server.deps.payments.moneyBack('pi_1')],
  listMovements: [
    'GET',
    '/v1/balance_transactions',
    () => drain(server.deps.payments.listMovements(now, now)),
  ],
  listPaidOut: ['GET', '/v1/payouts', () => drain(server.deps.payments.listPaidOut(now, now))],
  listEvents: ['GET', '/v1/events', () => drain(server.deps.payments.listEvents(['refund.failed'], now))],
};

const notices = () => toldStaff(server, { kind: 'provider_trouble' });

test('the table has every call of the provider', () => {
  assert.deepEqual(
    Object.keys(calls).sort(),
    Object.keys(server.deps.payments)
      .filter((name) => name !== 'readEvent')
      .sort(),
  );
});

interface Line {
  call: string;
  status: number | null;
  code: string | null;
  param: string | null;
  requestId: string | null;
}

for (const [kindName, kind] of Object.entries(kinds))
  test(`${kindName}: every call is refused with 502 or 503, logged with code, param, status and request id, and told once`, async () => {
    const { fault, status, isTold } = kind;
    for (const [method, path] of Object.values(calls)) await meet(kind, method, path);
    const log = mock.method(server.deps.log, isTold ? 'error' : 'warn', () => {});
    const before = await notices();
    const answers = await Promise.all(
      Object.entries(calls).map(async ([name, [, , call]]) => {
        const thrown = [await call().catch((cause: unknown) => cause)];
        if (isTold) thrown.push(await call().catch((cause: unknown) => cause));
        return { name, thrown };
      }),
    );
    await server.stripeFault(null);
    log.mock.restore();
    const lines = log.mock.calls.map(({ arguments: [line] }) => line) as unknown as Line[];
    const told = (await notices()).filter((message) => !before.includes(message));

    for (const { name, thrown } of answers) {
      // A refund is usually refused because of its payment, not because of our account. The refund then stays due and has a
      // notice of its own.
      const isOfRefund = name === 'refund' && isTold && status === 502;
      for (const refusal of thrown)
        if (isOfRefund) assert.ok(refusal instanceof RefundRefused && !refusal.isFinal, name);
        else {
          assert.ok(refusal instanceof Refusal, `${name}: ${refusal}`);
          assert.equal(refusal.status, status, name);
          assert.doesNotMatch(refusal.sentence, /Stripe/);
        }
      const isSilent = isOfRefund && fault.error?.param === undefined && ![401, 403].includes(fault.status!);
      const own = lines.filter(({ call }) => call === name);
      assert.equal(own.length, isSilent ? 0 : thrown.length, name);
      for (const line of own) {
        assert.deepEqual([line.status, line.param], [fault.status ?? null, fault.error?.param ?? null]);
        if (fault.error) assert.equal(line.code, fault.error.code ?? fault.error.type);
        if (fault.body) assert.equal(line.code, 'unreadable_answer');
        if (fault.status) assert.match(line.requestId!, /^req_/);
      }
      const cause = new RegExp(
        fault.body
          ? `^What answers ${name} with ${fault.status} is not Stripe`
          : `^Stripe refuses ${name} with ${fault.status} `,
      );
      assert.equal(told.filter((message) => cause.test(message)).length, isTold && !isSilent ? 1 : 0, name);
    }
    assert.equal(told.length, new Set(told).size);
  });

test('a card’s error in answer to a call that asks no bank is no decline: 502, and told', async () => {
  const kind: Kind = {
    fault: { kind: 'status', status: 402, error: { type: 'card_error' } },
    status: 502,
    isTold: true,
  };
  const asksNoBank = ['createIntent', 'updateIntent', 'retrieveIntent', 'cancelIntent', 'moneyBack'] as const;
  for (const name of asksNoBank) {
    const [method, path, call] = calls[name];
    await meet(kind, method, path);
    const refusal = await call().catch((cause: unknown) => cause);
    await server.stripeFault(null);
    assert.ok(refusal instanceof Refusal, `${name}: ${refusal}`);
    assert.equal(refusal.status, 502, name);
    const told = (await notices()).filter((message) =>
      message.startsWith(`Stripe refuses ${name} with 402 (card_error)`),
    );
    assert.equal(told.length, 1, name);
  }
});

test('a cause is told again once its notice was ended, by whichever process meets it', async () => {
  const rolled = kinds['a key that was rolled']!;
  await meet(rolled, 'GET', '/v1/payouts');
  const count = async () =>
    (await notices()).filter((message) => message.startsWith('Stripe refuses listPaidOut with 401')).length;
  const told = await count();
  await server.deps.database
    .updateTable('staff_notice')
    .set({ ended_at: new Date() })
    .where('kind', '=', 'provider_trouble')
    .execute();
  const another = await startTestServer({ DATABASE_URL: server.deps.config.databaseUrl });
  await another.stripeFault({
    kind: 'status',
    status: 401,
    path: '/v1/payouts',
    times: 100,
    body: { error: { type: 'invalid_request_error', code: 'api_key_expired', message: SECRET } },
  });
  for (let time = 0; time < 3; time++)
    await assert.rejects(drain(another.deps.payments.listPaidOut(now, now)), Refusal);
  assert.equal(await count(), told + 1);
  await another.close();
  await server.stripeFault(null);
});

interface Step {
  method: string;
  path: string;
  /** Brings a join to the step at which Stripe fails. Returns a function that makes the page's call in which that happens. */
  arrange(client: Client): Promise<() => Promise<Answered<never>>>;
}
/** The keys of `kinds` with which each of the page's calls is tested. */
const joinersKinds = [
  'a value without a code',
  'a key that was rolled',
  'a request that it does not take from this account',
  'a restricted key without the permission',
  'an address that it does not know',
  'too many calls',
  'a failure of its own',
  'an answer that is not its own',
  'such an answer to what it did',
];
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
          if (path === '/v1/customers') await meet(kinds['a key that was rolled']!, method, path);
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
  const { provider_failures } = await server.deps.database
    .selectFrom('join_session')
    .select('provider_failures')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return provider_failures;
}
for (const [name, { method, path, arrange }] of Object.entries(steps))
  test(`${name}: whatever Stripe refuses, the joiner reads a sentence, and goes on when it is put right`, async () => {
    const again: (() => Promise<Answered<never>>)[] = [];
    for (const kindName of joinersKinds) {
      const kind = kinds[kindName]!;
      // Uses a new browser each time, because a browser's cookie has only the last few joins.
      const step = await arrange(server.client());
      await meet(kind, method, path);
      const { status, message, body } = await step();
      await server.stripeFault(null);
      assert.equal(status, kind.status, kindName);
      assert.match(message!, /right now|did not answer/, kindName);
      assert.equal(JSON.stringify(body).includes(SECRET), false);
      again.push(step);
    }
    for (const step of again) assert.equal((await step()).status, 200);
  });

test('who has paid while the key was refused is a member once it is taken again', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id, clientSecret, revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  await payByCard(server, id);
  const body = { paymentIntent: id, paymentIntentClientSecret: clientSecret, redirectStatus: 'succeeded' };
  await meet(kinds['a key that was rolled']!, 'GET', '/v1/payment_intents/*');
  assert.equal((await client.call('postPayment', { params: { uuid }, body })).status, 502);
  await server.stripeFault(null);
  assert.equal((await client.call('postPayment', { params: { uuid }, body })).data.status, 'succeeded');
});
