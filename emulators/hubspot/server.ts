import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { HUBSPOT_ACCESS_TOKEN } from '../keys.ts';
import { addControls, bodyOf } from '../shared/control.ts';
import { Faults } from '../shared/faults.ts';
import { type Answer, passThrough } from '../shared/gateway.ts';
import { Ledger } from '../shared/ledger.ts';
import { matchPath } from '../shared/paths.ts';
import { attempt, transaction } from '../shared/state.ts';
import { Contacts, type Rule } from './contacts.ts';
import { CrmError, invalid, notEmulated } from './errors.ts';
import type { Form } from './files.ts';
import { type Limits, PUBLISHED_LIMITS, RateLimit } from './limits.ts';
import { type CrmCall, ROUTES, type Route } from './routes.ts';
import { assertGranted, FIRST_SCOPES } from './scopes.ts';
import { DEMO_CONTACTS, type SeedContact } from './seed.ts';
import { faultsOf, type ShapeName } from './shapes.ts';
import { Store } from './store.ts';

export interface HubspotEmulatorOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The folder of the account's state; created when absent. With null, it is kept in memory. */
  dataDir: string | null;
  /** The contacts at the first start; the demo contacts when absent. */
  seed?: readonly SeedContact[];
  /** The account's id; {@link PORTAL_ID} when absent. */
  portalId?: number;
  /** How long search lags behind a write (ms); 5,000 when absent. */
  searchLagMs?: number;
  limits?: Limits | 'off';
  /** The path segment that names the API's version. */
  version?: string;
  /** Returns milliseconds since 1970. */
  clock?: () => number;
}

export interface HubspotEmulator {
  url: string;
  close(): Promise<void>;
}

const PORTAL_ID = 24_000_001;

/** The size limit of the emulated account's plan (https://knowledge.hubspot.com/files/supported-file-types). */
const LARGEST_FILE_BYTES = 20 * 1_048_576;

/**
 * The limit for a search's body in characters (https://developers.hubspot.com/docs/api-reference/latest/crm/search-the-crm,
 * limits).
 */
const LONGEST_SEARCH = 3_000;

/** Starts an emulator of the CRM: contacts and their properties, notes and files. */
export async function startHubspotEmulator(options: HubspotEmulatorOptions): Promise<HubspotEmulator> {
  const clock = options.clock ?? Date.now;
  const version = options.version ?? '2026-09';
  const store = new Store(options.dataDir, options.seed ?? DEMO_CONTACTS, clock());
  const contacts = new Contacts(store);
  const faults = new Faults();
  const ledger = new Ledger(store.database);
  const rateLimit = new RateLimit(options.limits ?? PUBLISHED_LIMITS);
  let scopes = FIRST_SCOPES;
  let tellsScopes = true;
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 4_194_304 });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: LARGEST_FILE_BYTES },
    async (request: FastifyRequest, body: Buffer) => formOf(body, request.headers['content-type']!),
  );

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const [path, query] = request.url.split('?', 2) as [string, string | undefined];
    const work = (): Answer => {
      let headers: Record<string, string> = {};
      try {
        if (request.headers.authorization !== `Bearer ${HUBSPOT_ACCESS_TOKEN}`) throw unauthorized();
        headers = rateLimit.count(path.endsWith('/search'), clock());
        const { route, ids } = findRoute(request.method, path, version);
        assertGranted(scopes, route.scopes);
        const call: CrmCall = {
          contacts,
          store,
          ids,
          now: clock(),
          portalId: options.portalId ?? PORTAL_ID,
          scopes: tellsScopes ? scopes : null,
          query: queryOf(query ?? '', route),
          body: payloadOf(request.body, request.headers['content-type'], route),
          searchTime: clock() - (options.searchLagMs ?? 5_000),
          attempt: (inner) => attempt(store.database, inner, () => false),
        };
        return { ...transaction(store.database, () => checked(route, route.run(call))), headers };
      } catch (error) {
        return errorAnswer(error, headers);
      }
    };
    await passThrough(
      {
        faults,
        ledger,
        clock,
        noted: [],
        faultBody: (status) =>
          new CrmError(
            status,
            status === 429 ? 'RATE_LIMITS' : 'INTERNAL_ERROR',
            `An emulated failure with status ${status}.`,
          ).body,
      },
      request,
      reply,
      { query: query ?? '', body: readable(request.body) },
      work,
    );
    return reply;
  };
  for (const path of ['/crm/*', '/files/*', '/account-info/*', '/oauth/*']) app.all(path, answer);

  app.setNotFoundHandler((request, reply) => {
    const { status, body } = errorAnswer(notEmulated(`${request.method} ${request.url.split('?', 1)[0]}`));
    return reply.code(status).send(body);
  });

  addControls(app, faults, ledger);
  // Adds a validation rule (`Rule`), as an administrator does.
  app.post('/_emulator/rules', (request, reply) => {
    contacts.rules.push(bodyOf(request.body) as unknown as Rule);
    return reply.code(204).send();
  });
  app.delete('/_emulator/rules', (_, reply) => {
    contacts.rules.length = 0;
    return reply.code(204).send();
  });

  // Returns the account's files, with their bytes as base64, and its notes. Only tests use this.
  app.get('/_emulator/attachments', () => ({
    files: store.files().map(({ bytes, ...file }) => ({ ...file, bytes: bytes.toString('base64') })),
    notes: store.notes(),
  }));

  // Sets the token's scopes, as an administrator does; `null` restores the scopes of the first start. With `serviceKey` the
  // account does not reveal the token's scopes.
  app.post('/_emulator/scopes', (request, reply) => {
    const body = bodyOf(request.body);
    scopes = (body.scopes as string[] | null) ?? FIRST_SCOPES;
    tellsScopes = body.serviceKey !== true;
    return reply.code(204).send();
  });

  const url = await app.listen({ host: options.host, port: options.port });
  return {
    url,
    async close() {
      await app.close();
      store.database.close();
    },
  };
}

function findRoute(
  method: string,
  path: string,
  version: string,
): { route: Route; ids: Record<string, string> } {
  for (const route of ROUTES) {
    const ids = route.method === method ? matchPath(route.path.replace('VERSION', version), path) : undefined;
    if (ids) return { route, ids };
  }
  throw notEmulated(`${method} ${path}`);
}

function queryOf(text: string, route: Route): URLSearchParams {
  const query = new URLSearchParams(text);
  for (const name of query.keys()) {
    if (!route.query.includes(name)) throw invalid(`Unknown query parameter: ${name}`);
  }
  return query;
}

function payloadOf(body: unknown, contentType: string | undefined, route: Route): unknown {
  if (!route.body) return undefined;
  if (route.body !== 'form') return jsonOf(body, contentType, route.body);
  if (!contentType?.startsWith('multipart/form-data'))
    throw new CrmError(415, 'VALIDATION_ERROR', 'The Content-Type must be multipart/form-data.');
  return body;
}

async function formOf(body: Buffer, contentType: string): Promise<Form> {
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const fields: Form['fields'] = {};
  let file: Form['file'] = null;
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else if (name === 'file' && !file)
      file = { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
    else fields[name] = 'a file';
  }
  return { fields, file };
}

function jsonOf(body: unknown, contentType: string | undefined, shape: ShapeName): unknown {
  if (!contentType?.startsWith('application/json')) {
    throw new CrmError(415, 'VALIDATION_ERROR', 'The Content-Type must be application/json.');
  }
  let json: unknown;
  try {
    json = JSON.parse(body as string);
  } catch {
    throw invalid('Invalid input JSON.');
  }
  if (shape === 'search' && (body as string).length > LONGEST_SEARCH)
    throw invalid(`The request is longer than ${LONGEST_SEARCH} characters.`);
  const faults = faultsOf(shape, json);
  if (faults.length > 0)
    throw invalid(
      `Invalid input JSON: ${faults.join('; ')}`,
      faults.map((message) => ({ message })),
    );
  return json;
}

/** Checks an answer against its shape, so that the emulator cannot deviate from the CRM's published answers. */
function checked(route: Route, answer: Answer): Answer {
  const faults = route.answer && answer.status < 300 ? faultsOf(route.answer, answer.body) : [];
  if (faults.length > 0)
    throw new Error(`${route.path} answered what is not published: ${faults.join('; ')}`);
  return answer;
}

function unauthorized(): CrmError {
  return new CrmError(
    401,
    'INVALID_AUTHENTICATION',
    'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
  );
}

function errorAnswer(error: unknown, headers: Record<string, string> = {}): Answer {
  if (error instanceof CrmError)
    return { status: error.status, body: error.body, headers: { ...headers, ...error.headers } };
  const message = error instanceof Error ? error.message : String(error);
  return {
    status: 500,
    body: new CrmError(500, 'INTERNAL_ERROR', `The emulator failed: ${message}`).body,
    headers,
  };
}

function readable(body: unknown): unknown {
  if (typeof body === 'object' && body !== null && 'fields' in body) return body.fields;
  try {
    return typeof body === 'string' && body !== '' ? JSON.parse(body) : null;
  } catch {
    return body;
  }
}
