import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import { z } from 'zod';
import { callWatcher, resultOf, type WatchCall } from '../../platform/watchCall.ts';

/** Thrown if an answer does not match the schema of Stripe's answers: another server sent it, or Stripe has changed its API. */
class UnreadableAnswer extends Error {
  /** The answer's HTTP status. */
  readonly status: number;
  constructor(status: number) {
    super(`answered ${status} with what is not Stripe's`);
    this.status = status;
  }
}

/** Returns the {@link UnreadableAnswer} that made a call fail; null if the call failed for another reason. */
export function unreadableAnswer(error: unknown): UnreadableAnswer | null {
  const { exception } = (error instanceof Stripe.errors.StripeAPIError ? error.raw : {}) as {
    exception?: unknown;
  };
  return exception instanceof UnreadableAnswer ? exception : null;
}

/**
 * Returns a client of Stripe's API, or of a stand-in at `url`. Each try of a call times out after `timeoutMs`, and the schema of
 * every answer is checked (see {@link readable}).
 */
export function stripeClient(
  key: string,
  url: string | null,
  {
    timeoutMs = 20_000,
    maxNetworkRetries = 2,
    watch = callWatcher(null),
  }: { timeoutMs?: number; maxNetworkRetries?: number; watch?: WatchCall } = {},
): Stripe {
  const address = url === null ? null : new URL(url);
  return new Stripe(key, {
    maxNetworkRetries,
    timeout: timeoutMs,
    appInfo: { name: 'induct' },
    telemetry: false,
    httpClient: checkingHttpClient(key.startsWith('pk_') ? 'identity' : 'fields', watch),
    ...(address ? { protocol: 'http', host: address.hostname, port: address.port } : {}),
  });
}

/**
 * Returns an HTTP client for Stripe's library that checks each answer. Without these checks the library accepts any JSON without
 * `error` as a success, waits for ever if the JSON is a string or number, and waits without a timeout for a body that arrives
 * slowly.
 */
function checkingHttpClient(check: 'identity' | 'fields', watch: WatchCall): Stripe.HttpClient {
  const http = Stripe.createNodeHttpClient();
  return {
    getClientName: () => http.getClientName(),
    makeRequest(host, port, path, method, ...rest) {
      return watch({ provider: 'stripe', operation: operationOf(method, path) }, async (note) => {
        const response = await http.makeRequest(host, port, path, method, ...rest);
        const { 'request-id': requestId } = response.getHeaders() as Record<string, string | undefined>;
        note({ result: resultOf(response.getStatusCode()), requestId: requestId ?? null });
        const answer = readAnswer(response, rest[3], schemaOf(method, path, check));
        // The library calls `toJSON`, which gives it the answer or the error.
        await answer.catch(() => note({ result: 'failed' }));
        response.toJSON = () => answer;
        return response;
      });
    },
  };
}

async function readAnswer(
  response: Stripe.HttpClientResponse,
  timeoutMs: number,
  schema: z.ZodType,
): Promise<unknown> {
  const body = response.getRawResponse() as IncomingMessage;
  const timer = setTimeout(() => body.destroy(new Error('The answer took too long.')), timeoutMs);
  try {
    const json = await response.toJSON();
    if (readable(json, response.getStatusCode(), schema)) return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  } finally {
    clearTimeout(timer);
  }
  throw new UnreadableAnswer(response.getStatusCode());
}

/** Returns a call's name for the log and the metrics, without ids and query: `POST /v1/payment_intents/:id/confirm`. */
function operationOf(method: string, path: string): string {
  const [collection, id, ...action] = partsOf(path);
  return `${method} /v1/${[collection, ...(id === undefined ? [] : [':id']), ...action].join('/')}`;
}

function partsOf(path: string): string[] {
  return path.split('?', 1)[0]!.replace('/v1/', '').split('/');
}

/** Whether an answer has the expected schema: for a success the schema of the call, for an error an object with `error`. */
function readable(json: unknown, status: number, success: z.ZodType): boolean {
  return (status < 300 ? success : failure).safeParse(json).success;
}

const failure = z.object({ error: z.object({}) });

/** Returns the schema for the answer to a path: a list if a whole collection is read, otherwise one object of the collection. */
function schemaOf(method: string, path: string, check: 'identity' | 'fields'): z.ZodType {
  const [collection, id] = partsOf(path);
  const schema: z.ZodObject = objects[collection!] ?? identified(collection!.replace(/s$/, ''));
  const object = check === 'identity' ? schema.pick({ id: true, object: true }) : schema;
  const isList = method === 'GET' && id === undefined && !SINGLE.includes(collection!);
  return isList
    ? z.object({ object: z.literal('list'), has_more: z.boolean(), data: z.array(object) })
    : object;
}

/** Paths that lead to a single object although they contain no id. */
const SINGLE = ['account', 'balance'];

const text = z.string();
const cents = z.int();
/** Unix time in seconds. */
const time = z.int();
const metadata = z.record(text, text);
function identified<T extends string>(object: T) {
  return z.object({ id: text, object: z.literal(object) });
}
/** An id, or the object if the call asked Stripe to expand it. */
const expandable = <T extends z.ZodType>(object: T) => z.union([text, object]);

const charge = identified('charge').extend({
  created: time,
  status: text,
  amount_refunded: cents,
  disputed: z.boolean(),
  payment_intent: expandable(identified('payment_intent')).nullish(),
  metadata,
});

/**
 * The fields that we read, for each collection in a path (https://docs.stripe.com/api). Of objects in other collections only the
 * ids are checked.
 */
const objects: Record<string, z.ZodObject> = {
  balance: z.object({ object: z.literal('balance') }),
  account: identified('account').extend({ charges_enabled: z.boolean() }),
  payment_intents: identified('payment_intent').extend({
    status: text,
    amount: cents,
    amount_received: cents,
    currency: text,
    client_secret: text.nullable(),
    customer: expandable(z.object({ id: text })).nullable(),
    receipt_email: text.nullable(),
    payment_method: expandable(
      identified('payment_method').extend({ card: z.object({ brand: text, last4: text }).nullish() }),
    ).nullable(),
    setup_future_usage: text.nullable(),
    metadata,
    created: time,
    latest_charge: expandable(charge).nullable(),
  }),
  payment_methods: identified('payment_method').extend({
    customer: expandable(z.object({ id: text })).nullable(),
  }),
  refunds: identified('refund').extend({
    amount: cents,
    created: time,
    status: text.nullable(),
    metadata: metadata.nullable(),
  }),
  disputes: identified('dispute').extend({
    status: text,
    amount: cents,
    currency: text,
    balance_transactions: z.array(z.object({ amount: cents, currency: text })),
  }),
  balance_transactions: identified('balance_transaction').extend({
    created: time,
    reporting_category: text,
    description: text.nullable(),
    currency: text,
    amount: cents,
    fee: cents,
    net: cents,
    fee_details: z.array(z.object({ description: text.nullable(), type: text })),
    source: expandable(z.object({ object: text })).nullable(),
  }),
  payouts: identified('payout').extend({ automatic: z.boolean(), status: text, reconciliation_status: text }),
  events: identified('event').extend({
    type: text,
    created: time,
    data: z.object({ object: z.object({ metadata: metadata.nullish() }) }),
  }),
  webhook_endpoints: identified('webhook_endpoint').extend({
    url: text,
    status: text,
    enabled_events: z.array(text),
    api_version: text.nullable(),
  }),
  payment_method_configurations: identified('payment_method_configuration').extend({
    is_default: z.boolean(),
    application: text.nullable(),
    link: z.object({ display_preference: z.object({ value: text }) }).optional(),
  }),
  payment_method_domains: identified('payment_method_domain').extend({
    enabled: z.boolean(),
    apple_pay: z.object({
      status: text,
      status_details: z.object({ error_message: text }).nullish(),
    }),
  }),
};
