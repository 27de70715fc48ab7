import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import { placeCluster, startTestPostgres } from './database.ts';
import type { ServerProcess } from './serverProcess.ts';
import { beginPayment, openIntent, orderingJoin, payByCard, reportPayment } from './steps.ts';
import { startTestServer, type TestServer } from './testServer.ts';

/** A test server with its own PostgreSQL, which can be stopped and started again on the same host and port. */
export interface Interruptible {
  arranged: TestServer;
  /**
   * Suspends PostgreSQL's main process and the processes of all connections: these stay open, but nothing answers. Resolves with
   * a function that continues them.
   */
  hang(): Promise<() => void>;
  /** Ends PostgreSQL: `SIGINT` as in a restart, `SIGQUIT` as in a crash. */
  end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  begin(): Promise<void>;
  /** Runs a statement on its own connection. */
  admin<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** The end of an SQL statement: selects the connections of all other clients to this database. */
export const otherConnections = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

/**
 * Starts a test server with its own PostgreSQL. With `durable`, committed transactions survive a crash of PostgreSQL; without it,
 * fsync is off, which is faster.
 */
export async function startInterruptible({ durable = false } = {}): Promise<Interruptible> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-interrupted-'));
  placeCluster(folder);
  const start = () => (durable ? startPostgres({ dataDir: folder }) : startTestPostgres(folder));
  let postgres: RunningPostgres = await start();
  const arranged = await startTestServer({}, { postgresUrl: postgres.url });
  async function admin<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: arranged.deps.config.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }
  return {
    arranged,
    async hang() {
      const backends = await admin<{ pid: number }>(`select pid ${otherConnections}`);
      const all = [postgres.pid, ...backends.map(({ pid }) => pid)];
      signalRunning(all, 'SIGSTOP');
      return () => signalRunning(all, 'SIGCONT');
    },
    async end(signal) {
      process.kill(postgres.pid, signal);
      await postgres.lost;
    },
    async begin() {
      postgres = await start();
    },
    admin,
    async close() {
      await arranged.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to processes, except those that have ended meanwhile, such as an autovacuum. */
function signalRunning(pids: readonly number[], name: NodeJS.Signals) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

export interface Answered {
  status: number;
  body: { message?: string; reference?: string; requestId?: string };
  retryAfter: string | null;
}

type Url = Pick<ServerProcess, 'url'>;

async function ask({ url }: Url, path: string, init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url + path, init);
  const body = (await response.json()) as Answered['body'];
  return {
    status: response.status,
    body,
    retryAfter: response.headers.get('retry-after'),
  };
}

/**
 * Makes a paid join, and returns two functions that each make a request for this join. For the request of `statement`, the server
 * runs a single SQL statement. For that of `transaction`, it runs a transaction, which holds one connection.
 */
export async function paidCalls(arranged: TestServer) {
  const client = arranged.client();
  const uuid = await orderingJoin(client);
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(arranged, intent.id);
  const { status } = await reportPayment(client, uuid, intent);
  if (status !== 200) throw new Error(`The payment was answered ${status}.`);
  const under = `/api/public/join-session/${uuid}`;
  const report = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      paymentIntent: intent.id,
      paymentIntentClientSecret: intent.clientSecret,
      redirectStatus: 'succeeded',
    }),
  };
  return {
    statement: (server: Url) => ask(server, `${under}/welcome`, { headers: { cookie: client.cookie() } }),
    transaction: (server: Url) => ask(server, `${under}/post-payment-handler`, report),
  };
}
