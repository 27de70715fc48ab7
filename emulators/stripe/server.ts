import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { STRIPE_PUBLISHABLE_KEY, STRIPE_SECRET_KEY } from '../keys.ts';
import { addControls } from '../shared/control.ts';
import { Faults } from '../shared/faults.ts';
import { type Answer, passThrough } from '../shared/gateway.ts';
import { Ledger } from '../shared/ledger.ts';
import { matchPath } from '../shared/paths.ts';
import { attempt, transaction } from '../shared/state.ts';
import { ApiVersion } from './api-version.ts';
import { addBrowserRoutes } from './browser-routes.ts';
import type { Call } from './call.ts';
import { addTestControls } from './controls.ts';
import { ApiError, invalid, notEmulated, unauthorized } from './errors.ts';
import { expand } from './expand.ts';
import { decodeForm } from './form.ts';
import { IdempotencyKeys } from './idempotency.ts';
import { newId } from './ids.ts';
import { publicView } from './intent-states.ts';
import { ROUTES, type Route } from './routes.ts';
import { faultsOfAnswer, type Params, readParams } from './shapes.ts';
import { type ApiObject, Store } from './store.ts';
import { Webhooks, type WebhookTarget } from './webhooks.ts';

export interface StripeEmulatorOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The folder of the account's state; created when absent. With null, it is kept in memory. */
  dataDir: string | null;
  /** A receiver of every event, in addition to the registered endpoints. */
  webhook?: WebhookTarget | undefined;
  /** Returns milliseconds since 1970. */
  clock?: () => number;
  /** For tests: answers 500 in place of an object that does not match its published shape. */
  checkAnswers?: boolean;
}

export interface StripeEmulator {
  url: string;
  close(): Promise<void>;
}

/** Starts an emulator of the card payment provider: its API, its webhooks and its stripe.js. */
export async function startStripeEmulator(options: StripeEmulatorOptions): Promise<StripeEmulator> {
  const clock = options.clock ?? Date.now;
  const store = new Store(options.dataDir);
  const keys = new IdempotencyKeys(store);
  const faults = new Faults();
  const ledger = new Ledger(store.database);
  const webhooks = new Webhooks(store, options.webhook, clock);
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 1_048_576 });
  let url = '';

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, POST, DELETE',
      'access-control-expose-headers': 'Request-Id, Stripe-Manage-Version, Stripe-Should-Retry',
      'access-control-max-age': '300',
    });
    if (request.method !== 'OPTIONS') return;
    const asked = request.headers['access-control-request-headers'] ?? '*';
    return reply.header('access-control-allow-headers', asked).send('');
  });
  /**
   * Runs `work` in a transaction that also records the webhooks for the events of `work`. These webhooks are sent after the
   * transaction.
   */
  const perform = <T>(call: Partial<Call>, work: (call: Call) => T): T => {
    const whole: Call = {
      store,
      params: {},
      ids: {},
      now: Math.floor(clock() / 1000),
      fromBrowser: false,
      requestId: null,
      idempotencyKey: null,
      baseUrl: url,
      ...call,
    };
    try {
      return transaction(store.database, () => {
        const result = work(whole);
        webhooks.owe();
        return result;
      });
    } finally {
      webhooks.run();
    }
  };

  app.all('/v1/*', async (request, reply) => {
    const requestId = newId('req');
    const key =
      request.method === 'POST' ? (request.headers['idempotency-key'] as string | undefined) : undefined;
    const text =
      request.method === 'GET' ? (request.url.split('?')[1] ?? '') : ((request.body as string | null) ?? '');
    const inUse = key && keys.claim(key);
    const path = request.url.split('?', 1)[0]!;
    const fingerprint = IdempotencyKeys.fingerprint(request.method, path, text);

    const answer = (): Answer => {
      const now = Math.floor(clock() / 1000);
      const stored = key && keys.replay(key, fingerprint, now);
      if (stored) return stored;
      checkVersion(request);
      const { route, ids } = findRoute(request.method, path);
      const { fromBrowser, form } = authenticate(request, route, text);
      const params = paramsOf(route, form, fromBrowser);
      const call = { params, ids, fromBrowser, requestId, idempotencyKey: key ?? null };
      return perform(call, (whole) => {
        const answered = runRoute(whole, route, options.checkAnswers === true);
        if (key) keys.keep(key, fingerprint, answered, now);
        return answered;
      });
    };

    const work = (): Answer => {
      try {
        if (inUse) throw inUse;
        return answer();
      } catch (error) {
        return errorAnswer(error);
      }
    };

    reply.headers({
      'request-id': requestId,
      'stripe-version': ApiVersion,
      ...(key && { 'idempotency-key': key }),
    });
    await passThrough(
      {
        faults,
        ledger,
        clock,
        noted: ['stripe-version'],
        faultBody: (status) => ({
          error: { type: 'api_error', message: `An emulated failure with status ${status}.` },
        }),
      },
      request,
      reply,
      safeForm(text),
      work,
      {
        // Under an idempotency key, the v1 API stores even its own server errors
        // (https://docs.stripe.com/api/idempotent_requests).
        remembered: key && !inUse ? keys.memoryOf(key, fingerprint, clock) : undefined,
        finished: () => {
          if (key && !inUse) keys.release(key);
        },
      },
    );
    return reply;
  });

  app.setNotFoundHandler((request, reply) => {
    const { status, body } = errorAnswer(notEmulated(`${request.method} ${request.url.split('?', 1)[0]}`));
    return reply.code(status).send(body);
  });
  app.setErrorHandler((error, _, reply) => {
    const { status, body } = errorAnswer(error);
    return reply.code(status).send(body);
  });

  addControls(app, faults, ledger);
  addTestControls(app, perform, webhooks);
  await addBrowserRoutes(app, perform);

  url = await app.listen({ host: options.host, port: options.port });
  webhooks.run();
  return {
    url,
    async close() {
      await app.close();
      await webhooks.close();
      store.database.close();
    },
  };
}

export type Perform = <T>(call: Partial<Call>, work: (call: Call) => T) => T;
export type App = FastifyInstance;

function findRoute(method: string, path: string): { route: Route; ids: Record<string, string> } {
  for (const route of ROUTES) {
    const ids = route.method === method ? matchPath(route.path, path) : undefined;
    if (ids) return { route, ids };
  }
  throw notEmulated(`${method} ${path}`);
}

/** Checks the API version in the header. Without it the account's version applies, the only one that the emulator supports. */
function checkVersion({ headers }: FastifyRequest): void {
  const version = headers['stripe-version'];
  if (version !== undefined && version !== ApiVersion)
    throw invalid(`Invalid Stripe API version: ${version}`);
}

/** Checks the key of a request. The publishable key allows only the calls that Stripe.js needs. */
function authenticate(
  request: FastifyRequest,
  route: Route,
  text: string,
): { fromBrowser: boolean; form: ReturnType<typeof decodeForm> } {
  const form = decodeForm(text);
  const header = request.headers.authorization ?? '';
  const basic = /^Basic (.+)$/i.exec(header)?.[1];
  // Stripe.js sends its publishable key in the form, so that the browser makes no cross-origin preflight.
  const key = basic
    ? Buffer.from(basic, 'base64').toString().split(':', 1)[0]
    : (/^Bearer (.+)$/i.exec(header)?.[1] ?? (form.key as string | undefined));
  delete form.key;
  if (!key) {
    throw unauthorized(
      'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.',
    );
  }
  if (key === STRIPE_SECRET_KEY) return { fromBrowser: false, form };
  if (key !== STRIPE_PUBLISHABLE_KEY) throw unauthorized(`Invalid API Key provided: ${key.slice(0, 8)}****`);
  if (!route.browser) {
    throw new ApiError(
      403,
      {
        type: 'invalid_request_error',
        code: 'secret_key_required',
        message: 'This API call cannot be made with a publishable API key. Please use a secret API key.',
      },
      false,
    );
  }
  return { fromBrowser: true, form };
}

function paramsOf(route: Route, form: ReturnType<typeof decodeForm>, fromBrowser: boolean): Params {
  if (route.shape === null) {
    const unknown = Object.keys(form)[0];
    if (unknown) throw invalid(`Received unknown parameter: ${unknown}`, unknown, 'parameter_unknown');
    return {};
  }
  const browser = fromBrowser ? route.browser : undefined;
  return readParams(form, route.shape, browser?.params ?? route.params, browser?.extra);
}

/**
 * Runs a route's handler. An API error that comes after the work has begun is returned: it is stored as the answer under the
 * idempotency key. Any other error is thrown.
 */
function runRoute(call: Call, route: Route, checkAnswers: boolean): Answer & { body: object } {
  try {
    return attempt(
      call.store.database,
      () => {
        const result = route.run(call) as ApiObject;
        const seen = call.fromBrowser && result.object === 'payment_intent' ? publicView(result) : result;
        const body = expand(call, seen, (call.params.expand as string[] | undefined) ?? []);
        const faults = checkAnswers && !call.fromBrowser && route.shape ? faultsOfAnswer(body) : [];
        if (faults.length > 0)
          throw new Error(`${route.path} answered what is not published: ${faults.join('; ')}`);
        return { status: 200, body };
      },
      isDecline,
    );
  } catch (error) {
    if (!(error instanceof ApiError) || !error.beganWork) throw error;
    return errorAnswer(error);
  }
}

/** Whether an error is a decline. The transaction is then not rolled back, so that the failed charge and its events stay. */
function isDecline(error: unknown): boolean {
  return error instanceof ApiError && error.status === 402 && error.body.charge !== undefined;
}

function errorAnswer(error: unknown): Answer & { body: object } {
  if (error instanceof ApiError) {
    // The official clients retry a 5xx, but a retry cannot help when a call is not emulated.
    const headers = error.status === 501 ? { 'stripe-should-retry': 'false' } : undefined;
    return { status: error.status, body: { error: error.body }, ...(headers && { headers }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { status: 500, body: { error: { type: 'api_error', message: `The emulator failed: ${message}` } } };
}

function safeForm(text: string): unknown {
  try {
    const form = decodeForm(text);
    return hideCard(form);
  } catch {
    return text;
  }
}

/** Cuts card numbers in a form to their last four digits and removes CVCs, since tests and people read the recorded requests. */
function hideCard(form: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(form), (name, value) =>
    name === 'number' && typeof value === 'string' ? `…${value.slice(-4)}` : name === 'cvc' ? '…' : value,
  );
}
