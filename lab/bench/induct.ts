import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeedContact } from '../../emulators/hubspot/seed.ts';
import type { Program, Scope } from '../../tests/harness/scope.ts';
import { settingsFor } from '../../tests/harness/standIns.ts';
import { builtServer, serverFlags } from '../../tools/local/builds.ts';
import { freePort } from '../../tools/local/ports.ts';

/** The surroundings of a server: a migrated database, and the providers' stand-ins, each in its own process. */
export interface Surroundings {
  /** The folder for the documents, the stand-ins' state and the server's log. */
  folder: string;
  /** The port on which the server will listen. The stand-in for Stripe sends its webhooks there. */
  port: number;
  stripe: { url: string; pid: number };
  hubspot: { url: string; pid: number };
  mail: { url: string; smtpUrl: string; pid: number };
  /** The environment variables with which a process uses this database and these stand-ins. */
  env: Record<string, string>;
}

/** A running server, with the database and stand-ins that it uses. */
export interface Induct extends Surroundings {
  url: string;
  pid: number;
}

interface Options {
  /** The URL of a migrated database. */
  databaseUrl: string;
  folder: string;
  /** The contacts that HubSpot knows; the demo's contacts when absent. */
  contacts?: readonly SeedContact[];
  /** Settings in addition to the usual ones. */
  settings?: Record<string, string>;
}

const standIn = join(import.meta.dirname, 'standIn.ts');

/** Starts the stand-ins for a server that the caller starts afterwards. */
export async function startSurroundings(
  scope: Scope,
  { databaseUrl, folder, contacts, settings = {} }: Options,
): Promise<Surroundings> {
  mkdirSync(folder, { recursive: true });
  const port = (await freePort())!;
  const contactsFile = join(folder, 'contacts.json');
  if (contacts) writeFileSync(contactsFile, JSON.stringify(contacts));
  const start = (...args: string[]) => scope.start<{ url: string; smtpUrl: string }>(standIn, { args });
  const [stripe, hubspot, mail] = await Promise.all([
    start('stripe', join(folder, 'stripe'), `http://127.0.0.1:${port}/api/webhooks/stripe`),
    start('hubspot', join(folder, 'hubspot'), ...(contacts ? [contactsFile] : [])),
    start('mail', join(folder, 'mail')),
  ]);
  return {
    folder,
    port,
    stripe: { url: stripe.ready.url, pid: stripe.process.pid! },
    hubspot: { url: hubspot.ready.url, pid: hubspot.process.pid! },
    mail: { ...mail.ready, pid: mail.process.pid! },
    env: {
      PORT: String(port),
      ...settingsFor(
        { stripeUrl: stripe.ready.url, hubspotUrl: hubspot.ready.url, smtpUrl: mail.ready.smtpUrl },
        databaseUrl,
        folder,
      ),
      ...settings,
    },
  };
}

/**
 * Starts the built server, or another program that sends the same first IPC message. Its standard output goes into server.log in
 * the folder.
 */
export function startServer(
  scope: Scope,
  { env, folder }: Surroundings,
  program = builtServer,
): Promise<Program<{ listening: string }>> {
  return scope.start(program, { env, flags: serverFlags, log: join(folder, 'server.log') });
}

/** Starts Induct as in production, except for the providers: the built server, with every check and its background work. */
export async function startInduct(scope: Scope, options: Options): Promise<Induct> {
  const surroundings = await startSurroundings(scope, options);
  const { process: server, ready } = await startServer(scope, surroundings);
  return { ...surroundings, url: ready.listening, pid: server.pid! };
}
