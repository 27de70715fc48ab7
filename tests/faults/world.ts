import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startSweeping } from '../../apps/server/books/sweep.ts';
import { pushDue } from '../../apps/server/crm/push.ts';
import { importInvitations } from '../../apps/server/joining/invitations/importInvitations.ts';
import { sendDue } from '../../apps/server/letters/sendLetters.ts';
import { readConfig } from '../../apps/server/platform/config/config.ts';
import { createLog } from '../../apps/server/platform/http/logging.ts';
import { stripeProvider } from '../../apps/server/providers/stripe/provider.ts';
import { type Wired, wire } from '../../apps/server/wire.ts';
import type { SeedContact } from '../../emulators/hubspot/seed.ts';
import type { MailFault } from '../../emulators/mail/faults.ts';
import type { KeptLetter } from '../../emulators/mail/server.ts';
import type { Fault } from '../../emulators/shared/faults.ts';
import type { LedgerEntry } from '../../emulators/shared/ledger.ts';
import { startTestPostgres, testDatabase } from '../harness/database.ts';
import {
  askHubspot,
  control,
  listContacts,
  listStripe,
  requestStripe,
  requestsTo,
  setFault,
} from '../harness/providers.ts';
import { runOperator } from '../harness/serverProcess.ts';
import { settingsFor, startStandIns } from '../harness/standIns.ts';
import { details } from '../harness/steps.ts';
import { type Join, STRIPE_TIMEOUT_MS } from './plan.ts';
import { Server } from './servers.ts';
import { startWebhooks, type Webhooks } from './webhooks.ts';

/** How long it may take to send everything that is due to HubSpot, or all letters that are due (ms). */
const TOLD_MS = 30_000;
/** How long PostgreSQL may take to restart (ms). */
const RESTART_MS = 20_000;

/**
 * The faults of the mail server. They are added once, before the servers start. `sendLetters` removes those that have not
 * occurred.
 */
const MAIL_FAULTS: readonly MailFault[] = [
  { kind: 'status', at: 'rcpt', status: 451, skip: 1, times: 3 },
  { kind: 'cut', at: 'data', skip: 2, times: 3 },
  { kind: 'cut_after', at: 'data', skip: 3, times: 3 },
  { kind: 'slow', at: 'data', ms: 300, times: 20 },
  { kind: 'status', at: 'connect', status: 421, skip: 2, times: 5 },
  { kind: 'hang_after', at: 'data', times: 2 },
];

export const SCHOOL_CODE = 'FAULTSCHOOL';
/** Returns the invite code of the run's contact with this index. */
export const codeOf = (contact: number) => `FAULT${contact}`;
/** Returns the HubSpot id of the run's contact with this index. */
export const contactIdOf = (contact: number) => String(900_000 + contact);
/** Returns the email that a joiner types first or, with the suffix `change`, the corrected one. */
export const emailOf = (name: string, change = '') => `joiner.${name}${change}@example.com`.toLowerCase();

/** Returns the email of whoever pays for a join by its pay link. */
export const payerEmailOf = (name: string) => emailOf(name, '.payer');

/** Returns the emails that a joiner may type: the first one and the corrected one. */
export const emailsOf = ({ name, inNameOf }: Join): [string, string] => [
  inNameOf === null ? emailOf(name) : identityOf(inNameOf).personalEmail,
  emailOf(name, '.changed'),
];
/** Returns the name and email that HubSpot has for the run's contact with this index. */
export const identityOf = (contact: number) => ({
  firstName: 'Robin',
  lastName: `Number ${contact}`,
  personalEmail: `robin.${contact}@example.com`,
});

export interface WorldOptions {
  contacts: number;
  modeOf: (uuid: string) => Join['webhooks'] | undefined;
  /** Additional contacts that HubSpot has before anybody joins. */
  known?: readonly { email: string; status: string | null }[];
  /** Whether to use a separate PostgreSQL, which can be restarted. */
  restartsDatabase?: boolean;
  /** Settings for the two servers only. */
  env?: NodeJS.ProcessEnv;
  slowCommitMs?: number;
}

/** Two servers on one PostgreSQL, the providers' emulators, and a clock that is moved forward on command. */
export interface World {
  stripeUrl: string;
  servers: readonly [Server, Server];
  webhooks: Webhooks;
  /**
   * The server's database, settings and providers, as `wire` returns them (apps/server/wire.ts), made once more in this process.
   * The suite uses them to do what staff and the background work do.
   */
  wired: Wired;
  database: pg.Pool;
  /** Calls the emulated Stripe as its dashboard does. */
  stripe<T>(method: string, path: string, form?: Record<string, string>): Promise<T>;
  /** Returns all objects of a kind on the account, read page by page. */
  everything<T extends { id: string }>(
    kind: 'charges' | 'refunds' | 'payment_intents' | 'disputes' | 'balance_transactions',
  ): Promise<T[]>;
  requests(): Promise<LedgerEntry[]>;
  /** Returns all contacts in HubSpot, read page by page. */
  contacts(): Promise<
    { id: string; email: string | null; personalEmail: string | null; status: string | null }[]
  >;
  /** Writes a contact's status in HubSpot, as staff do. */
  setStatus(contactId: string, status: string): Promise<void>;
  /**
   * Sends everybody who is due to HubSpot, until nobody is left. Returns one join of each person who still waits or was refused.
   */
  queueForHubspot(): Promise<{ uuid: string; refusal: string | null }[]>;
  /** Sends every letter that is due, however often it failed before. Returns all letters that arrived. */
  sendLetters(): Promise<KeptLetter[]>;
  /** Returns the CSV file for the accountant, over all days. */
  accountantsFile(): Promise<string>;
  /** Ends all database connections of a server. */
  breakOff(server: Server): Promise<void>;
  /** Stops PostgreSQL and starts it again on the same port. */
  restartDatabase(): Promise<void>;
  addFault(fault: Fault): Promise<void>;
  /**
   * Removes the faults that still wait for a request. Returns how often each kind occurred since `clearFaults` was last called;
   * faults of the kind `status` are counted by their status.
   */
  clearFaults(): Promise<Record<string, number>>;
  /** Tells the emulated Stripe what a bank does or decides. `path` is that of a control, a call that only tests make. */
  bank(path: string, body: object): Promise<{ id: string }>;
  /** Sets whether, from now on, the bank leaves payments of this intent undecided (`processing`). */
  hold(intentId: string, hold: boolean): Promise<void>;
  /** Makes the card's issuer decline a saved card from now on. */
  refuseCard(paymentMethod: string): Promise<void>;
  /** Makes one join's Buy Now count as pressed this many seconds earlier. */
  wait(uuid: string, seconds: number): Promise<void>;
  /** Lets this many hours pass, both in our database and at Stripe. */
  pass(hours: number): Promise<void>;
  /**
   * Runs the background work again and again, letting two hours pass in between, until the number of open payments and frozen
   * orders no longer changes.
   */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-faults-'));
  const stops: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(folder, { recursive: true, force: true }),
  ];
  const stop = async () => {
    for (const end of stops.reverse()) await end();
  };
  try {
    return await start();
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<World> {
    const databaseFolder = join(folder, 'database');
    let postgres = options.restartsDatabase ? await startTestPostgres(databaseFolder) : undefined;
    stops.push(() => postgres?.stop());
    const tested = await testDatabase(postgres?.url);
    stops.push(() => tested.drop());
    let listening: readonly Server[] = [];
    const webhooks = await startWebhooks({ to: () => listening, modeOf: options.modeOf });
    stops.push(() => webhooks.close());
    const standIns = await startStandIns(
      // In a file, which `ageStripe` opens as well.
      { webhook: webhooks, dataDir: join(folder, 'stripe') },
      { limits: 'off', seed: [...invitedContacts(options.contacts), ...knownContacts(options.known ?? [])] },
    );
    stops.push(() => standIns.close());
    const { stripeUrl, hubspotUrl } = standIns;
    for (const fault of MAIL_FAULTS) await setFault(standIns.mailUrl, fault);
    const env = {
      ...settingsFor(standIns, tested.url, folder),
      LIMITS: 'off',
      LOG_LEVEL: process.env.FAULTS_LOG_LEVEL ?? 'fatal',
    };
    const config = readConfig(env);
    const wired = await wire(config, createLog('silent'));
    wired.deps.payments = stripeProvider({ ...config.providers.stripe, timeoutMs: 5_000 });
    stops.push(() => wired.database.destroy());
    await invite(wired, folder, options.contacts);
    const database = new pg.Pool({ connectionString: tested.url, max: 4 });
    /**
     * Makes rows of a table due now: those for which the SQL condition `due` holds. Skips rows that another transaction has
     * locked, to avoid a deadlock.
     */
    const makeDue = (table: string, key: string, column: string, due: string) =>
      database.query(
        `update ${table} set ${column} = now() where ${key} in (select ${key} from ${table} where ${due} for update skip locked)`,
      );
    database.on('error', () => {});
    // Ignores errors: a connection may break while it is in use, or while the pool closes it.
    database.on('connect', (client) => client.on('error', () => {}));
    stops.push(() => database.end());

    const { PATH, HOME } = process.env;
    const startServer = (index: number) =>
      Server.onFreePort(
        {
          PATH,
          HOME,
          ...env,
          DATABASE_URL: `${tested.url}?application_name=${connectionsOf(index)}`,
          ...options.env,
        },
        {
          timeoutMs: STRIPE_TIMEOUT_MS,
          slowCommitMs: options.slowCommitMs ?? 0,
          killedFile: join(folder, `killed-${index}`),
        },
      );
    const first = await startServer(0);
    stops.push(() => first.stop());
    const second = await startServer(1);
    stops.push(() => second.stop());
    const servers = [first, second] as const;
    // A point may be armed in both servers, but only one of the two is to be hit. When one server has reached the point, the
    // other is disarmed.
    first.reached = (id) => void second.disarm(id);
    second.reached = (id) => void first.disarm(id);
    listening = servers;

    const ask = async <T>(method: string, path: string, form?: Record<string, string>): Promise<T> => {
      for (let tries = 1; ; tries++) {
        const signal = AbortSignal.timeout(5_000);
        const answer = await requestStripe<T>(stripeUrl, method, path, form, signal).catch(() => undefined);
        if (answer && answer.status < 300) return answer.body;
        // A fault that was meant for a server may have hit this call. Therefore the call is repeated when there was no answer, or
        // the status was 409 or at least 500. It fails after five attempts.
        if (tries === 5 || (answer && answer.status < 500 && answer.status !== 409))
          throw new Error(`${method} ${path}: ${JSON.stringify(answer?.body)}`);
      }
    };
    const planted: Fault[] = [];

    return {
      stripeUrl,
      servers,
      webhooks,
      wired,
      database,
      stripe: ask,
      everything: (kind) => listStripe(stripeUrl, kind, ask),
      requests: () => requestsTo(stripeUrl),
      async contacts() {
        const all = await listContacts(hubspotUrl, ['email', 'personal_email', 'membership_status']);
        return all.map(
          ({ id, properties: { email, personal_email: personalEmail, membership_status: status } }) => ({
            id,
            email: email || null,
            personalEmail: personalEmail || null,
            status: status || null,
          }),
        );
      },
      async setStatus(contactId, status) {
        await askHubspot(hubspotUrl, 'PATCH', `/${contactId}`, { properties: { membership_status: status } });
      },
      async queueForHubspot() {
        const due = `due_at is not null and refusal is null`;
        const deadline = Date.now() + TOLD_MS;
        for (let round = 0; ; round++) {
          if (round % 20 === 0) await makeDue('crm_delivery', 'person_id', 'due_at', due);
          while ((await pushDue(wired.deps)).taken > 0);
          const { rows } = await database.query<{ uuid: string; refusal: string | null }>(
            `select coalesce((select min(uuid::text) from join_session where join_session.person_id = crm_delivery.person_id), 'person ' || person_id) as uuid, refusal
             from crm_delivery where due_at is not null`,
          );
          if (rows.every(({ refusal }) => refusal !== null) || Date.now() > deadline) return rows;
          await pause(100);
        }
      },
      async sendLetters() {
        await setFault(standIns.mailUrl, null);
        const due = 'sent_at is null and refusal is null and withdrawn_at is null and due_at <= now()';
        const deadline = Date.now() + TOLD_MS;
        for (let round = 0; Date.now() < deadline; round++) {
          // Makes letters due again, since a letter that a killed process was sending stays reserved for a while.
          if (round % 20 === 0) await makeDue('letter', 'id', 'next_try_at', due);
          while (await sendDue(wired.deps, config.mail!));
          const { rowCount } = await database.query(`select from letter where ${due} limit 1`);
          if (rowCount === 0) break;
          await pause(100);
        }
        return control(standIns.mailUrl, 'GET', 'letters');
      },
      async accountantsFile() {
        const days = ['--from', '2000-01-01', '--to', '2099-12-31'];
        const { stdout, output, code } = await runOperator({ PATH, HOME, ...env }, [
          'ledger',
          ...days,
          '--csv',
        ]);
        if (code !== 0) throw new Error(`The ledger was not written:\n${output}`);
        return stdout;
      },
      async breakOff(server) {
        const broken = { from: Date.now(), to: Number.POSITIVE_INFINITY };
        server.breaks.push(broken);
        await retried(() =>
          database.query(
            `select pg_terminate_backend(pid, 2000) from pg_stat_activity
             where datname = current_database() and application_name = $1`,
            [connectionsOf(servers.indexOf(server))],
          ),
        );
        broken.to = Date.now();
      },
      async restartDatabase() {
        if (!postgres) throw new Error('This world has no PostgreSQL of its own.');
        const broken = { from: Date.now(), to: Number.POSITIVE_INFINITY };
        for (const server of servers) server.breaks.push(broken);
        process.kill(postgres.pid, 'SIGINT');
        await postgres.lost;
        postgres = await startTestPostgres(databaseFolder);
        broken.to = Date.now();
      },
      async addFault(fault) {
        planted.push(fault);
        await setFault(stripeUrl, fault);
      },
      async clearFaults() {
        const counts: Record<string, number> = {};
        const count = ({ kind, status, times }: Fault, sign: 1 | -1) => {
          const name = kind === 'status' ? String(status ?? 500) : kind;
          counts[name] = (counts[name] ?? 0) + sign * (times ?? 1);
        };
        for (const fault of planted.splice(0)) count(fault, 1);
        for (const fault of await control<Fault[]>(stripeUrl, 'GET', 'faults')) count(fault, -1);
        await setFault(stripeUrl, null);
        return counts;
      },
      bank: (path, body) => control(stripeUrl, 'POST', path, body),
      async hold(intent, hold) {
        await control(stripeUrl, 'POST', 'processing', { hold, intent });
      },
      async refuseCard(paymentMethod) {
        await control(stripeUrl, 'POST', `payment_methods/${paymentMethod}`, { declines: 'generic_decline' });
      },
      async wait(uuid, seconds) {
        await retried(() =>
          database.query(
            `update join_session set paying_since = paying_since - make_interval(secs => $2) where uuid = $1`,
            [uuid, seconds],
          ),
        );
      },
      async pass(hours) {
        await ageDatabase(database, hours);
        ageStripe(folder, hours);
      },
      async settle() {
        for (let open = -1, round = 0; round < 200; round++) {
          // Runs the background work once: `startSweeping` begins the work, and returns a function that waits for the work's end.
          await startSweeping(wired.deps)();
          const { rows } = await database.query<{ open: number }>(
            `select (select count(*)::int from payment where status = 'open')
              + (select count(*)::int from join_session where state = 'paying') as open`,
          );
          if (rows[0]!.open === open) return;
          open = rows[0]!.open;
          await ageDatabase(database, 2);
          ageStripe(folder, 2);
        }
      },
      stop,
    };
  }
}

/** Returns the name by which PostgreSQL knows a server's connections (`application_name`). */
function connectionsOf(server: number): string {
  return `server-${server}`;
}

/** Makes the contacts to which codes and links lead. */
function invitedContacts(contacts: number): SeedContact[] {
  return Array.from({ length: contacts }, (_, contact) => {
    const { firstName, lastName, personalEmail: email } = identityOf(contact);
    const properties = { firstname: firstName, lastname: lastName, email, invitation_code: codeOf(contact) };
    return { id: contactIdOf(contact), properties };
  });
}

/**
 * Makes the contacts that HubSpot has before the run, and whose email a joiner will type. Nothing proves that the joiner is the
 * same person as the contact. A former member has the joiner's name, a prospect another one, and the others none.
 */
function knownContacts(known: NonNullable<WorldOptions['known']>): SeedContact[] {
  return known.map(({ email, status }, index) => ({
    id: String(800_000 + index),
    properties: {
      email,
      ...(status && { membership_status: status }),
      ...(status === 'former' && { firstname: details().firstName, lastname: details().lastName }),
      ...(status === 'prospect' && { firstname: 'Somebody', lastname: 'Else' }),
    },
  }));
}

async function invite({ database, deps }: Wired, folder: string, contacts: number): Promise<void> {
  const file = join(folder, 'invitations.csv');
  const lines = Array.from({ length: contacts }, (_, contact) => {
    const { firstName, lastName, personalEmail } = identityOf(contact);
    return `${codeOf(contact)},${contactIdOf(contact)},${firstName},${lastName},${personalEmail},`;
  });
  writeFileSync(
    file,
    ['code,contactId,firstName,lastName,email,school', ...lines, `${SCHOOL_CODE},,,,,Fault School`].join(
      '\n',
    ),
  );
  const { refused } = await importInvitations(database, file, deps.society);
  if (refused > 0) throw new Error(`${refused} of the run's invitations were not taken`);
}

/**
 * Lets time pass in the database. The server takes the time from PostgreSQL's clock, which a test cannot set. Therefore every
 * stored time is moved back, except those of `staff_event`, which refuses changes.
 */
async function ageDatabase(database: pg.Pool, hours: number): Promise<void> {
  const { rows } = await database.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(quote_ident(column_name))::text[] as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'staff_event'
       and data_type = 'timestamp with time zone'
     group by table_name order by table_name`,
  );
  for (const { name, columns } of rows) {
    const moved = columns.map((column) => `${column} = ${column} - make_interval(hours => ${hours})`);
    await retried(() => database.query(`update "${name}" set ${moved.join(', ')}`));
  }
}

/** Retries `work` while PostgreSQL restarts, or when PostgreSQL aborts `work` to end a deadlock with a server. */
async function retried(work: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + RESTART_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (!/^(40P01|57P|ECONN|08)/.test(code) || Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}

/** Lets time pass at Stripe: moves the creation of its objects and idempotency keys back. */
function ageStripe(folder: string, hours: number): void {
  const database = new DatabaseSync(join(folder, 'stripe/stripe.sqlite'));
  try {
    database.exec('pragma busy_timeout = 5000');
    database
      .prepare(
        `update object set body = json_set(body, '$.created', json_extract(body, '$.created') - ?)
         where json_type(body, '$.created') = 'integer'`,
      )
      .run(hours * 3600);
    database.prepare('update idempotency set time = time - ?').run(hours * 3600);
  } finally {
    database.close();
  }
}
