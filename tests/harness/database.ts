import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate, readMigrations } from '../../apps/server/platform/database/migrate.ts';
import { endLeftServer, type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import { isRunning } from '../../tools/local/processes.ts';

/** The key of an advisory lock. A process holds the lock while it makes the template database. */
const preparing = 7_368_276;

export interface TestDatabase {
  url: string;
  /** Ends the remaining connections, removes the database, and stops this process's PostgreSQL if nothing else uses it. */
  drop(): Promise<void>;
}

/**
 * Creates a fresh, migrated, empty database on a real PostgreSQL. `npm test` starts one PostgreSQL for all test files, whose URL
 * is in TEST_POSTGRES_URL. A test that needs another PostgreSQL passes its URL as `given`. A test file that is run by hand starts
 * its own PostgreSQL.
 */
export async function testDatabase(given = process.env.TEST_POSTGRES_URL): Promise<TestDatabase> {
  const server = given ? undefined : await ownServer();
  const serverUrl = given ?? server!.url;
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await asAdmin(serverUrl, async (admin) => {
    await createFrom(admin, name, await template(admin, serverUrl));
  });
  return {
    url: named(serverUrl, name),
    async drop() {
      await asAdmin(serverUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
      await server?.stop();
    },
  };
}

/**
 * Starts a PostgreSQL for tests. It is fast because fsync is off: after a crash of the machine its databases are lost, which only
 * tests can accept. Tests of durability use `startPostgres`.
 */
export function startTestPostgres(dataDir: string): Promise<RunningPostgres> {
  placeCluster(dataDir);
  return startPostgres({
    dataDir,
    durable: false,
    // Autovacuum would repeatedly scan each of the many small databases.
    settings: { max_connections: '300', shared_buffers: '128MB', autovacuum: 'off' },
  });
}

/**
 * Copies the files of a stopped PostgreSQL cluster into a data folder that has none. By default they are those of an empty
 * cluster, whose folder `npm test` names in TEST_POSTGRES_FILES. Copying them takes a tenth of the time of creating a cluster.
 */
export function placeCluster(dataDir: string, files = process.env.TEST_POSTGRES_FILES): void {
  const cluster = join(dataDir, 'postgres');
  if (!files || existsSync(cluster)) return;
  cpSync(files, cluster, { recursive: true });
  chmodSync(cluster, 0o700);
  // Port 0 makes the copied cluster use a free port.
  const connection = join(cluster, 'connection.json');
  writeFileSync(connection, JSON.stringify({ ...JSON.parse(readFileSync(connection, 'utf8')), port: 0 }));
}

interface OwnServer {
  url: string;
  stop(): Promise<void>;
}
let own: { users: number; server: Promise<OwnServer> } | undefined;

/** Returns the PostgreSQL of this process, which runs until all its users have stopped it. */
async function ownServer(): Promise<OwnServer> {
  own ??= { users: 0, server: startOwnServer() };
  const used = own;
  used.users++;
  const { url, stop } = await used.server;
  return {
    url,
    async stop() {
      used.users--;
      if (used.users > 0) return;
      own = undefined;
      await stop();
    },
  };
}

/**
 * Starts a PostgreSQL for this process only. Its files are a copy of those that an earlier process kept for this checkout and
 * these migrations; if there are none yet, this process keeps its own.
 */
async function startOwnServer(): Promise<OwnServer> {
  const uid = process.getuid?.() ?? 0;
  const hash = createHash('sha256')
    .update(resolve(import.meta.dirname))
    .update(await templateName());
  const kept = join(tmpdir(), `induct-test-${uid}-${hash.digest('hex').slice(0, 12)}`);
  if (process.getuid && (statSync(kept, { throwIfNoEntry: false })?.uid ?? uid) !== uid)
    throw new Error(`${kept} belongs to somebody else: remove it.`);
  await removeLeftServers(uid);
  const folder = mkdtempSync(join(tmpdir(), `induct-test-${uid}-of-${process.pid}-`));
  const files = join(folder, 'postgres');
  placeCluster(folder, existsSync(kept) ? kept : '');
  const { url, stop } = await startTestPostgres(folder);
  return {
    url,
    async stop() {
      await stop();
      // If root runs this, `postgres` may be a symbolic link to a folder of another account. Such a folder is not copied.
      if (!existsSync(kept) && !lstatSync(files).isSymbolicLink()) {
        const fresh = `${kept}-${process.pid}`;
        cpSync(files, fresh, { recursive: true });
        chmodSync(fresh, 0o700);
        if (existsSync(kept)) rmSync(fresh, { recursive: true });
        else renameSync(fresh, kept);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stops the servers of killed processes, and removes their folders. */
async function removeLeftServers(uid: number): Promise<void> {
  for (const folder of globSync(`induct-test-${uid}-of-*`, { cwd: tmpdir() })) {
    if (isRunning(Number(/-of-(\d+)-/.exec(folder)?.[1]))) continue;
    const path = join(tmpdir(), folder);
    await endLeftServer(join(path, 'postgres'));
    rmSync(path, { recursive: true, force: true });
  }
}

async function templateName(): Promise<string> {
  const files = await readMigrations();
  const hash = createHash('sha256').update(files.map((file) => `${file.name} ${file.checksum}`).join('\n'));
  return `template_${hash.digest('hex').slice(0, 16)}`;
}

/** Returns the name of a migrated template database. It is created once for each set of migration files. */
async function template(admin: pg.Client, serverUrl: string): Promise<string> {
  const name = await templateName();
  await admin.query('select pg_advisory_lock($1)', [preparing]);
  try {
    if ((await admin.query('select from pg_database where datname = $1', [name])).rowCount) return name;
    await admin.query('drop database if exists unfinished with (force)');
    await admin.query('create database unfinished');
    await migrate(named(serverUrl, 'unfinished'));
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      'unfinished',
    ]);
    await admin.query(`alter database unfinished rename to ${name}`);
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [preparing]);
  }
}

/**
 * Copies a database with the strategy FILE_COPY: with fsync off, it takes a third of the time of the default, WAL_LOG. PostgreSQL
 * refuses to copy a database that is in use, and counts a closed connection for some milliseconds more. Therefore a refused copy
 * is tried again.
 */
async function createFrom(admin: pg.Client, name: string, source: string): Promise<void> {
  const deadline = Date.now() + 5000;
  for (;;) {
    try {
      await admin.query(`create database ${name} template ${source} strategy file_copy`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== '55006' || Date.now() > deadline) throw error;
      await pause(20);
    }
  }
}

async function asAdmin(serverUrl: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: named(serverUrl, 'postgres') });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function named(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}
