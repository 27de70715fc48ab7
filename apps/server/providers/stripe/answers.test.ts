import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { askStripe } from './account.ts';
import { type CallFailure, RefundRefused } from './failures.ts';
import { type PaymentProvider, stripeProvider } from './provider.ts';

interface Raw {
  status: number;
  body: string;
  headers?: Record<string, string>;
  /** Whether the server continues to send single bytes after `body` and never ends the answer. */
  trickles?: boolean;
  /** Whether the connection breaks instead of an answer. */
  breaks?: boolean;
}
/** The answer that the test's server gives to every call. */
let answer: Raw;
let asked = 0;
const server = createServer((request, response) => {
  asked++;
  request.resume();
  const { status, body, headers, trickles, breaks } = answer;
  if (breaks) return request.destroy();
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
  if (!trickles) return response.end(body);
  response.write(body);
  const drip = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(drip));
});
const settings = () => ({
  secretKey: 'sk_test_1',
  publishableKey: 'pk_test_1',
  webhookSecrets: ['whsec_1'] as const,
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  browserUrl: null,
});
let payments: PaymentProvider;
let failures: CallFailure[];
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  payments = stripeProvider({
    ...settings(),
    timeoutMs: 500,
    onFailure: async (failure) => void failures.push(failure),
  });
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEachIn(import.meta.filename, () => {
  failures = [];
  asked = 0;
});

const metadata = { app: 'induct', environment: 'test', session: 's', kind: 'join', revision: '1' } as const;
const intent = { amountCents: 500, receiptEmail: null, saveCard: false, description: 'Membership', metadata };
const now = new Date();
async function drain(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}
/** Every method of the payment provider that makes a request. */
const calls: Record<Exclude<keyof PaymentProvider, 'readEvent'>, () => Promise<unknown>> = {
  createCustomer: () =>
    payments.createCustomer({
      email: 'jordan.rivera@example.com',
      name: 'Jordan Rivera',
      paymentMethodId: 'pm_1',
      sessionUuid: 's',
      idempotencyKey: 'k',
    }),
  deleteCustomer: () => payments.deleteCustomer('cus_1'),
  writeNotes: () => payments.writeNotes('pi_1', { contact: '' }),
  customerOfCard: () => payments.customerOfCard('pm_1'),
  createIntent: () => payments.createIntent({ ...intent, customerId: null, idempotencyKey: 'k' }),
  updateIntent: () => payments.updateIntent('pi_1', intent),
  retrieveIntent: () => payments.retrieveIntent('pi_1'),
  chargeTimes: () => payments.chargeTimes('pi_1'),
  listIntents: () => drain(payments.listIntents(now)),
  confirmWithSavedCard: () =>
    payments.confirmWithSavedCard('pi_1', {
      paymentMethodId: 'pm_1',
      returnUrl: 'https://society.example/back',
      idempotencyKey: 'k',
    }),
  cancelIntent: () => payments.cancelIntent('pi_1'),
  refund: () =>
    payments.refund({
      intentId: 'pi_1',
      amountCents: 500,
      environment: 'test',
      uuid: null,
      decided: { reason: 'unconfirmed', lines: null },
      idempotencyKey: 'k',
    }),
  moneyBack: () => payments.moneyBack('pi_1'),
  listMovements: () => drain(payments.listMovements(now, now)),
  listPaidOut: () => drain(payments.listPaidOut(now, now)),
  listEvents: () => drain(payments.listEvents(['refund.failed'], now)),
};

const list = (data: unknown) => JSON.stringify({ object: 'list', url: '/', has_more: false, data });
/** Answers that Stripe never gives. */
const unreadable: Record<string, Raw> = {
  'an empty object': { status: 200, body: '{}' },
  'an array': { status: 200, body: '[]' },
  'a bare string': { status: 200, body: '"yes"' },
  'a number': { status: 200, body: '7' },
  null: { status: 200, body: 'null' },
  nothing: { status: 200, body: '' },
  'half an object': { status: 200, body: '{"id":"pi_1","object":"payment_in' },
  'a page in HTML': { status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } },
  'another object': { status: 200, body: '{"id":"ba_1","object":"bank_account"}' },
  'a list of strings': { status: 200, body: list(['pi_1']) },
  'a list of empty objects': { status: 200, body: list([{}]) },
  'a list that is none': { status: 200, body: list({}) },
  'objects without their fields': {
    status: 200,
    body: list(
      ['payment_intent', 'refund', 'dispute', 'balance_transaction', 'payout', 'event'].map((object) => ({
        object,
      })),
    ),
  },
  'a redirect': { status: 302, body: '', headers: { location: 'https://hotel.example.com/' } },
  'a redirect with JSON': { status: 301, body: '{}', headers: { location: 'https://hotel.example.com/' } },
  'a refusal without an error': { status: 400, body: '{}' },
  'an error that is a number': { status: 400, body: '{"error":5}' },
  'an error that is null': { status: 402, body: '{"error":null}' },
  'a page in HTML instead of a refusal': { status: 403, body: '<html>Blocked</html>' },
};
for (const [name, raw] of Object.entries(unreadable))
  test(`${name}: every call is refused with 503 in our words, and told with its request id`, async () => {
    answer = raw;
    for (const [call, make] of Object.entries(calls)) {
      failures = [];
      const refusal = await make().then(
        () => 'taken',
        (cause: unknown) => cause,
      );
      assert.ok(refusal instanceof Refusal, `${call}: ${refusal}`);
      assert.equal(refusal.status, 503, call);
      assert.match(refusal.sentence, /^The payment service did not answer\./, call);
      assert.deepEqual(
        failures.map(({ call, status, code, requestId, kind }) => [call, status, code, requestId, kind]),
        [[call, raw.status, 'unreadable_answer', 'req_1', 'unreadable']],
        call,
      );
    }
  });

const SECRET = 'Stripe says something that is not for joiners.';
/** An error in the form in which Stripe returns it. Stripe's client library does not retry after it. */
const refusedBy = (status: number, error: object): Raw => ({
  status,
  body: JSON.stringify({ error: { type: 'invalid_request_error', message: SECRET, ...error } }),
  headers: { 'stripe-should-retry': 'false' },
});
for (const [status, error, answered] of [
  [400, { code: 'parameter_unknown', param: 'colour' }, 502],
  [400, { param: 'description' }, 502],
  [400, { type: 'idempotency_error' }, 502],
  [401, { code: 'api_key_expired' }, 502],
  [401, {}, 502],
  [402, {}, 502],
  [403, {}, 502],
  [404, {}, 502],
  [409, { code: 'lock_timeout' }, 503],
  [429, { code: 'rate_limit' }, 503],
  [500, { type: 'api_error' }, 503],
  [503, { type: 'api_error' }, 503],
] as [status: number, error: { type?: string; code?: string; param?: string }, answered: 502 | 503][])
  test(`${status} ${JSON.stringify(error)}: every call is refused with ${answered} in our words, and told with its code and request id`, async () => {
    answer = refusedBy(status, error);
    for (const [call, make] of Object.entries(calls)) {
      failures = [];
      const refusal = await make().catch((cause: unknown) => cause);
      // A refund is usually refused because of its payment, not because of our account. It then stays due, and no failure is
      // reported.
      const isOfRefund = call === 'refund' && answered === 502;
      if (isOfRefund) assert.ok(refusal instanceof RefundRefused && !refusal.isFinal, call);
      else {
        assert.ok(refusal instanceof Refusal, `${call}: ${refusal}`);
        assert.equal(refusal.status, answered, call);
        assert.doesNotMatch(refusal.sentence, /Stripe/);
      }
      const { code = error.type ?? 'invalid_request_error', param = null } = error;
      const kind = answered === 502 ? 'refusal' : 'outage';
      const said = status === 401 || status === 403 ? SECRET : null;
      const isSilent = isOfRefund && param === null && said === null;
      assert.deepEqual(
        failures,
        isSilent ? [] : [{ call, status, code, param, requestId: 'req_1', kind, said }],
        call,
      );
    }
  });

test('a card’s error in answer to a call that asks no bank is no decline: 502, and told', async () => {
  answer = refusedBy(402, { type: 'card_error' });
  for (const name of [
    'createIntent',
    'updateIntent',
    'retrieveIntent',
    'cancelIntent',
    'moneyBack',
  ] as const) {
    failures = [];
    await assert.rejects(calls[name](), { status: 502 }, name);
    assert.deepEqual(
      failures.map(({ status, code, kind }) => [status, code, kind]),
      [[402, 'card_error', 'refusal']],
      name,
    );
  }
});

test('a connection that breaks is an outage', async () => {
  answer = { status: 0, body: '', breaks: true };
  await assert.rejects(payments.retrieveIntent('pi_1'), { status: 503 });
  assert.deepEqual(
    failures.map(({ status, kind }) => [status, kind]),
    [[null, 'outage']],
  );
});

test('a body that never ends is given up when the time for a call is over', async () => {
  answer = { status: 200, body: '{"id":"pi_1",', trickles: true };
  await assert.rejects(payments.retrieveIntent('pi_1'), { status: 503 });
  assert.equal(failures.length, 1);
});

test('the doctor hears of every question that the answer could not be read', async () => {
  for (const raw of Object.values(unreadable)) {
    answer = raw;
    const { account, reads, writes, publishable, endpoints, domain } = await askStripe(
      settings(),
      'induct.example.com',
    );
    for (const said of [
      account,
      publishable,
      endpoints,
      domain,
      ...Object.values(reads),
      ...Object.values(writes),
    ])
      assert.ok('down' in said, JSON.stringify([raw, said]));
  }
});

test('an outage’s page in HTML is an outage, and nobody is told', async () => {
  answer = { status: 502, body: '<html>Bad gateway</html>', headers: { 'stripe-should-retry': 'false' } };
  await assert.rejects(payments.retrieveIntent('pi_1'), { status: 503 });
  assert.deepEqual([failures[0]!.status, failures[0]!.kind], [502, 'outage']);
  assert.equal(asked, 1);
});
