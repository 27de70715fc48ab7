import { relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MailSettings } from '../../apps/server/platform/config/mail.ts';
import { stopMs } from '../../apps/server/platform/http/stopping.ts';
import { serverFlags } from './builds.ts';
import { type Child, NotReady, startChild } from './child.ts';
import { documentKeyIn } from './documentKey.ts';
import { startEmulators } from './emulators.ts';
import { freeDesk } from './freeDesk.ts';
import { type LocalFile, readLocalFile, writeLocalFile } from './localFile.ts';
import { takeLock } from './lock.ts';
import { claimPort, freePort, tryPort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { whenOrphaned } from './processes.ts';
import { explain, type Plan, planFrom } from './settings.ts';

/** How long everything except the server may take to stop before it counts as stuck (ms). */
const patience = 15_000;

/** The argument of {@link LaunchOptions.serve}: the plan and the running server. */
export interface Running {
  plan: Plan;
  /** The URL at which the server listens. */
  url: string;
  /** Aborts when everything is to stop. */
  signal: AbortSignal;
  /** Restarts the server after a change of its sources. */
  restartServer(): Promise<void>;
}

export interface LaunchOptions {
  /** The command that was typed, for use in sentences. */
  command: string;
  /** The path of the server's program. */
  server: string;
  /** Runs while the database starts. */
  prepare?: (signal: AbortSignal) => Promise<unknown>;
  /**
   * Called when the server listens, or when its first start has failed. Resolves with the URL to print, and with a function that
   * stops what `serve` has started.
   */
  serve?: (running: Running) => Promise<{ url: string; stop(): Promise<void> }>;
}

/**
 * Starts the server, and prints its address. Also starts what `planFrom` (settings.ts) decides: the database and the stand-ins,
 * unless the settings name real ones. Stops everything in order on Ctrl-C, SIGTERM or SIGHUP, when a start fails, when something
 * ends unexpectedly, or when the process that started this one was killed. Resolves with the exit code.
 */
export async function launch(options: LaunchOptions): Promise<number> {
  const abort = new AbortController();
  const { signal } = abort;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => abort.abort('asked'));
  whenOrphaned(() => abort.abort('asked'));
  // If the terminal is closed, printing fails. Everything that was started must be stopped nevertheless.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});

  /** Functions that stop what was started, in the order of starting. */
  const stops: (() => Promise<void> | void)[] = [];
  let failure: unknown;
  let serverMs = 0;
  try {
    const plan = planFrom(process.env);
    serverMs = stopMs(plan.config);
    await bringUp(plan, options, abort, stops);
    await aborted(signal);
  } catch (error) {
    if (!signal.aborted) failure = error;
  }
  if (signal.reason instanceof Error) failure = signal.reason;
  if (failure && !(failure instanceof NotReady)) console.error(explain(failure));
  const stuck = setTimeout(() => process.exit(1), serverMs + patience);
  abort.abort('failed');
  for (const stop of stops.reverse())
    await Promise.resolve(stop()).catch((error) => console.error(explain(error)));
  clearTimeout(stuck);
  return failure ? 1 : 0;
}

async function bringUp(
  plan: Plan,
  { command, server: program, prepare, serve }: LaunchOptions,
  abort: AbortController,
  stops: (() => Promise<void> | void)[],
): Promise<void> {
  const { signal } = abort;
  const { config } = plan;
  const { dataDir, host } = config;
  const port = config.port || ((await freePort(0)) as number);
  // The stand-ins and the database start before the server, and choose free ports. The claim prevents them from choosing the
  // server's port.
  await claimPort(port);
  const url = `http://${reachable(host)}:${port}`;

  const lock = await takeLock(dataDir, command, url);
  stops.push(() => lock.release());
  signal.addEventListener('abort', () => lock.stopping());
  await untilFree(port, host, lock.afterCrash ? 10_000 : 1_500);
  signal.throwIfAborted();

  const before = readLocalFile(dataDir);
  /** Stops everything when the database, the stand-ins' process or the server ends without being asked to. */
  const guard = (name: string, ended: Promise<string>) => {
    void ended.then((reason) =>
      abort.abort(new Error(`${name} ended unexpectedly (${reason}): everything else is stopped too.`)),
    );
  };
  const note = (child: Child) => {
    stops.push(() => child.stop());
    if (child.process.pid) lock.addChild(child.process.pid);
  };

  const preparing = prepare?.(signal) ?? Promise.resolve();
  // The promise is awaited below. Until then its failure must not count as an unhandled rejection.
  preparing.catch(() => {});
  let databaseUrl = config.databaseUrl;
  if (plan.bringsDatabase) {
    const postgres = await startPostgres({ dataDir });
    stops.push(() => postgres.stop());
    guard(
      'PostgreSQL',
      postgres.lost.then(() => `its log is ${dataDir}/postgres.log`),
    );
    databaseUrl = postgres.url;
    signal.throwIfAborted();
  }
  const emulators =
    plan.bringsStripe || plan.bringsHubspot || plan.bringsMail
      ? await startEmulators({ dataDir, host, serverUrl: url, before, started: note })
      : undefined;
  if (emulators) guard('The stand-in for Stripe, HubSpot and the mail server', emulators.child.ended);
  await preparing;
  signal.throwIfAborted();

  const stripe = plan.bringsStripe ? emulators?.stripe : undefined;
  const hubspot = plan.bringsHubspot ? emulators?.hubspot : undefined;
  const mail = plan.bringsMail ? emulators?.mail : undefined;
  const localFile: LocalFile = {
    server: { url },
    ...(stripe && { stripe }),
    ...(hubspot && { hubspot }),
    ...(mail && { mail }),
    database: { url: databaseUrl },
  };
  writeLocalFile(dataDir, localFile);
  const desk =
    config.mode === 'local' && !config.desk
      ? await freeDesk(Number(process.env.DESK_PORT) || null, before?.desk?.url)
      : null;
  const env = {
    ...process.env,
    HOST: host,
    PORT: String(port),
    ...(desk && { DESK_URL: desk.url, DESK_PORT: desk.port }),
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    ...(stripe && {
      STRIPE_EMULATOR_URL: stripe.url,
      STRIPE_EMULATOR_BROWSER_URL:
        process.env.STRIPE_EMULATOR_BROWSER_URL ?? besidePublicUrl(config.publicUrl, stripe.url),
    }),
    ...(hubspot && { HUBSPOT_EMULATOR_URL: hubspot.url }),
    ...(mail && { MAIL_EMULATOR_URL: mail.smtpUrl, MAIL_EMULATOR_PAGE: mail.url }),
    ...(plan.bringsDocumentKey && { DOCUMENT_KEY: documentKeyIn(dataDir) }),
    // A developer needs only the lines printed below; LOG_LEVEL=info shows every request.
    LOG_LEVEL: process.env.LOG_LEVEL ?? (config.mode === 'live' ? 'info' : 'warn'),
  };

  let server: Child | undefined;
  let deskLink: string | undefined;
  stops.push(() => server?.stop());
  const startServer = async () => {
    const { child, ready } = await startChild<{ deskLink?: string }>(program, {
      env,
      flags: serverFlags,
      // The server may take stopMs to stop. It is killed one second after that.
      patience: stopMs(config) + 1_000,
      started: (child) => {
        server = child;
        if (child.process.pid) lock.addChild(child.process.pid);
      },
    });
    if (!serve) guard('The server', child.ended);
    if (ready.deskLink) {
      const { origin } = new URL(ready.deskLink);
      writeLocalFile(dataDir, { ...localFile, desk: { url: origin, link: ready.deskLink } });
    }
    deskLink = ready.deskLink;
  };
  if (serve) await startServer().catch(() => {});
  else await startServer();
  signal.throwIfAborted();

  const page = await serve?.({
    plan,
    url,
    signal,
    async restartServer() {
      await server?.stop();
      if (!signal.aborted) await startServer();
    },
  });
  if (page) stops.push(() => page.stop());
  signal.throwIfAborted();
  console.log(
    welcome(
      plan,
      page?.url ?? (process.env.PUBLIC_URL?.trim() ? config.publicUrl : url),
      mail?.url,
      deskLink,
    ),
  );
}

/**
 * Waits until a previous server that is ending leaves the port. Throws a sentence that names the setting when the port stays
 * taken.
 */
async function untilFree(port: number, host: string, wait: number): Promise<void> {
  const deadline = Date.now() + wait;
  for (;;) {
    const answer = await tryPort(port, host);
    if (typeof answer === 'number') return;
    if (answer !== 'EADDRINUSE' || Date.now() > deadline) throw new Error(portSentence(port, host, answer));
    await pause(50);
  }
}

function portSentence(port: number, host: string, reason: string): string {
  if (reason === 'EADDRINUSE')
    return `PORT ${port} is taken by another program: choose another one, as in \`PORT=${port + 1} npm start\`.`;
  if (reason === 'EACCES') return `PORT ${port} is reserved by the system: choose one above 1023.`;
  return `HOST ${host} is not an address that this machine can listen on (${reason}).`;
}

/** Returns where browsers reach the emulator: under the server's host name, on the emulator's own port. */
function besidePublicUrl(publicUrl: string, standIn: string): string {
  const address = new URL(standIn);
  address.hostname = new URL(publicUrl).hostname;
  return address.origin;
}

/** Returns a host that a browser on this machine can open. */
function reachable(host: string): string {
  if (['0.0.0.0', '::', '*'].includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function lettersGo(mail: MailSettings | null, mailbox: string | undefined): string {
  if (mailbox) return `kept here and sent to nobody: ${mailbox}`;
  return mail === null ? 'sent by other means' : `the mail server ${mail.host}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done());
  });
}

function welcome(
  { config, bringsDatabase, bringsStripe, bringsHubspot }: Plan,
  url: string,
  mailbox: string | undefined,
  deskLink: string | undefined,
): string {
  const rows = [
    ...(deskLink ? [['Desk', `for staff, signs one browser in: ${deskLink}`]] : []),
    [
      'Database',
      bringsDatabase
        ? `PostgreSQL of its own, in ${relative(process.cwd(), config.dataDir) || '.'}/postgres`
        : 'the one of DATABASE_URL',
    ],
    ['Payments', bringsStripe ? 'a stand-in for Stripe: no card is charged' : 'Stripe'],
    ['Contacts', bringsHubspot ? 'a stand-in for HubSpot, with demo people' : 'HubSpot'],
    ['Letters', lettersGo(config.mail, mailbox)],
  ];
  const codes = [
    ['HONOR101', 'a complete record'],
    ['LINCOLN2026', 'a school code'],
    ['EXPIRED2025', 'expired'],
  ];
  const table = (pairs: string[][], width: number) =>
    pairs.map(([name, text]) => `  ${name!.padEnd(width)}  ${text}`);
  return [
    '',
    `  Induct is ready: ${url}`,
    '',
    ...table(rows, 11),
    ...(bringsHubspot ? ['', '  Invite codes to try', ...table(codes, 11)] : []),
    ...(bringsStripe ? ['', '  Test card    4242 4242 4242 4242, any later date, any three digits'] : []),
    '',
    '  Ctrl-C stops everything.',
    '',
  ].join('\n');
}
