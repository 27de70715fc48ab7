import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import Stripe from 'stripe';
import { type CallName, calls, pathOf } from '#contract/calls.ts';
import { type Body, type Data, successOf } from '#contract/schemas.ts';
import { failure } from '#contract/shapes.ts';
import { buildApp } from '../../apps/server/app.ts';
import type { HubspotClient } from '../../apps/server/crm/hubspot/client.ts';
import type { Deps } from '../../apps/server/deps.ts';
import { openInspector } from '../../apps/server/documents/inspector.ts';
import { importInvitations } from '../../apps/server/joining/invitations/importInvitations.ts';
import { openPrinter } from '../../apps/server/membership/printer.ts';
import { readConfig } from '../../apps/server/platform/config/config.ts';
import type { Database } from '../../apps/server/platform/database/client.ts';
import { patience } from '../../apps/server/platform/database/patience.ts';
import { createLog } from '../../apps/server/platform/http/logging.ts';
import { readSociety } from '../../apps/server/society/readSociety.ts';
import type { Society } from '../../apps/server/society/society.ts';
import { wire } from '../../apps/server/wire.ts';
import { STRIPE_WEBHOOK_SECRET } from '../../emulators/keys.ts';
import type { MailFault } from '../../emulators/mail/faults.ts';
import type { KeptLetter } from '../../emulators/mail/server.ts';
import { testDatabase } from './database.ts';
import { control, requestStripe, setFault } from './providers.ts';
import { demoInvitations, settingsFor, societyFile, startStandIns } from './standIns.ts';

// Stripe's library waits for half a second or more before it retries a call. No test depends on this delay.
Stripe.prototype.getInitialNetworkRetryDelay = () => 0.01;

export interface Answered<Name extends CallName> {
  status: number;
  headers: Headers;
  /** Present only when the call succeeded. */
  data: Data<Name>;
  message: string | undefined;
  errors: Record<string, string> | undefined;
  goOn: string | undefined;
  body: unknown;
}

/** A client of the API that keeps cookies, as one browser does. */
export interface Client {
  call<Name extends CallName>(
    name: Name,
    options?: { params?: Record<string, string>; body?: Body<Name> | unknown },
  ): Promise<Answered<Name>>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Returns the header `cookie` of the next request. */
  cookie(): string;
}

export interface TestServer {
  url: string;
  app: FastifyInstance;
  deps: Deps;
  /** The database connection of background work and the command line, whose statements may take longer. */
  background: Database;
  /** The settings that the test adds to the default ones. */
  env: Record<string, string>;
  /** The folder of the server's documents; throws when they are in a bucket. */
  documents: string;
  hubspot: HubspotClient;
  stripeUrl: string;
  hubspotUrl: string;
  smtpUrl: string;
  mailUrl: string;
  /** Returns a client with its own cookies, like a new browser. */
  client(): Client;
  /**
   * These three functions each add a fault to a provider's stand-in, for requests of our server; `null` removes all its faults
   * (emulators/README.md).
   */
  stripeFault(fault: object | null): Promise<unknown>;
  hubspotFault(fault: object | null): Promise<unknown>;
  mailFault(fault: MailFault | null): Promise<unknown>;
  /** Returns the letters that have arrived, the newest first. */
  letters(): Promise<KeptLetter[]>;
  /** Makes the emulated Stripe do what a bank or a network does, with one of its controls (emulators/README.md). */
  stripeControl(path: string, body: object): Promise<{ id: string }>;
  /** Calls the emulated Stripe as its dashboard or the browser's script would. */
  stripe(
    method: string,
    path: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, never> & { id: string } }>;
  close(): Promise<void>;
}

/**
 * Starts the real server on a real database, with the providers emulated. `env` adds settings; limits are off unless `env` turns
 * them on. `stripeClock` is Stripe's clock in ms. `hubspotLimits: 'off'` turns HubSpot's rate limits off. `searchLagMs`: how long
 * HubSpot's search lags behind a write. `postgresUrl`: the test's own PostgreSQL, which it may interrupt.
 */
export async function startTestServer(
  env: Record<string, string> = {},
  {
    stripeClock = Date.now,
    hubspotLimits,
    searchLagMs,
    postgresUrl,
  }: {
    stripeClock?: () => number;
    hubspotLimits?: 'off';
    searchLagMs?: number;
    postgresUrl?: string;
  } = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-test-'));
  const [database, standIns] = await Promise.all([
    testDatabase(postgresUrl),
    startStandIns(
      { clock: stripeClock },
      { ...(hubspotLimits && { limits: hubspotLimits }), ...(searchLagMs !== undefined && { searchLagMs }) },
    ),
  ]);
  const { stripeUrl, hubspotUrl, smtpUrl, mailUrl } = standIns;
  const endOthers = async () => {
    await Promise.all([standIns.close(), database.drop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  const { config, wired } = await wireUp().catch(async (error) => {
    await endOthers();
    throw error;
  });
  await importInvitations(wired.database, demoInvitations, wired.deps.society);
  const app = await buildApp(wired.deps, { measured: () => idle });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  return {
    url,
    app,
    deps: wired.deps,
    background: wired.background,
    env,
    get documents() {
      if (config.storage.kind !== 'folder') throw new Error('The documents are not in a folder.');
      return config.storage.folder;
    },
    hubspot: wired.hubspot,
    stripeUrl,
    hubspotUrl,
    smtpUrl,
    mailUrl,
    client: () => browser(url),
    stripeFault: (fault) => setFault(stripeUrl, fault),
    hubspotFault: (fault) => setFault(hubspotUrl, fault),
    mailFault: (fault) => setFault(mailUrl, fault),
    letters: () => control(mailUrl, 'GET', 'letters'),
    stripeControl: (path, body) => control(stripeUrl, 'POST', path, body),
    stripe: (method, path, form) => requestStripe(stripeUrl, method, path, form),
    async close() {
      await app.close();
      await Promise.all([wired.database.destroy(), wired.background.destroy()]);
      await endOthers();
    },
  };

  async function wireUp() {
    const config = readConfig({
      ...settingsFor(standIns, database.url, folder),
      LIMITS: 'off',
      // The server must not refuse a test's call because the machine is busy, nor because a statement is slow.
      SHED_EVENT_LOOP_DELAY_MS: '0',
      LOG_LEVEL: 'fatal',
      ...env,
    });
    const wired = await wire(config, createLog('silent', { write() {} }), {
      waits: patience.ofWork,
      read: readOnce,
    });
    Object.assign(wired.deps, { inspector, printer });
    return { config, wired };
  }
}

/**
 * The document inspector and the printer of papers each run in a process or thread that takes long to start, so all test servers
 * share them.
 */
const [inspector, printer] = [openInspector(), openPrinter()];

let ours: Society | undefined;

/** Reads a society file. The repository's own file, whose parsing takes long, is read only once for all test servers. */
function readOnce(file: string): Society {
  if (file !== societyFile) return readSociety(file);
  ours ??= readSociety(file);
  return ours;
}

/** The measurements of an idle process. Measuring takes time, and dozens of test servers may run in one process. */
const idle = { eventLoopDelay: 0, heapUsed: 0, rssBytes: 0 };

/** Starts a test server that all tests of a file share, and closes it after the last test. */
export async function sharedServer(...options: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...options);
  after(() => server.close());
  return server;
}

/** Turns rate limits on for the rest of a test, on a server that was started without them. */
export function limitWith(
  t: TestContext,
  { deps: { config }, ...standIns }: TestServer,
  limits: Record<string, string>,
): void {
  const settings = settingsFor(standIns, config.databaseUrl, config.dataDir);
  config.limits = readConfig({ ...settings, ...limits }).limits;
  t.after(() => {
    config.limits = null;
  });
}

export { STRIPE_WEBHOOK_SECRET };

/** Returns a browser that calls the server at `url`; a function may choose another server for each call. */
export function browser(url: string | (() => string)): Client {
  const cookies = new Map<string, string>();
  const client: Client = {
    cookie: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      if (cookies.size > 0) headers.set('cookie', client.cookie());
      const response = await fetch((typeof url === 'string' ? url : url()) + path, { ...init, headers });
      for (const line of response.headers.getSetCookie()) {
        const [name, value] = line.split(';')[0]!.split('=') as [string, string];
        cookies.set(name, value);
      }
      return response;
    },
    async call(name, { params = {}, body } = {}) {
      const response = await client.fetch(pathOf(name, params), {
        method: calls[name].method,
        ...(body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      // The server does not validate its answers when it serialises them, so every test validates them here.
      (response.ok ? successOf(name) : failure).parse(answer);
      return {
        status: response.status,
        headers: response.headers,
        data: answer.data as never,
        message: answer.message as string | undefined,
        errors: answer.errors as Record<string, string> | undefined,
        goOn: answer.goOn as string | undefined,
        body: answer,
      };
    },
  };
  return client;
}
