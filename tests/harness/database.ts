import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate, readMigrations } from '../../apps/server/platform/database/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import { isRunning } from '../../tools/local/processes.ts';

/**
 * The key of an advisory lock. A process holds the lock while it makes the template database and removes databases that earlier
 * runs left behind.
 */
const preparing = 7_368_276;

export interface TestDatabase {
  url: string;
  /** Ends the remaining connections, removes the database, and stops the server if nobody else uses it. */
  drop(): Promise<void>;
}

/**
 * Creates a fresh, migrated, empty database on a real PostgreSQL. `npm test` starts one PostgreSQL for all test files, whose URL
 * is in TEST_POSTGRES_URL. A test that needs another PostgreSQL passes its URL as `given`. A test file that is run by hand uses a
 * PostgreSQL for this checkout, with its data under the system's temporary folder, and starts it if it does not run yet.
 */
export async function testDatabase(given = process.env.TEST_POSTGRES_URL): Promise<TestDatabase> {
  const server = given ? undefined : await startTestPostgres(byHandFolder());
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
    settings: { max_connections: '300', shared_buffers: '128MB' },
  });
}

/**
 * Copies the files of an empty PostgreSQL cluster into a data folder that has none. `npm test` names the folder of these files in
 * TEST_POSTGRES_FILES. Copying them takes a tenth of the time of creating a cluster.
 */
export function placeCluster(dataDir: string, files = process.env.TEST_POSTGRES_FILES): void {
  const cluster = join(dataDir, 'postgres');
  if (!files || existsSync(cluster)) return;
  cpSync(files, cluster, { recursive: true });
  chmodSync(cluster, 0o700);
  // Port 0 makes the copied cluster choose a free port.
  const connection = join(cluster, 'connection.json');
  writeFileSync(connection, JSON.stringify({ ...JSON.parse(readFileSync(connection, 'utf8')), port: 0 }));
}

/** Returns the data folder for test files that are run by hand: one for each checkout and user. No other user may enter it. */
function byHandFolder(): string {
  const checkout = resolve(import.meta.dirname, '../..');
  const key = createHash('sha256').update(checkout).digest('hex').slice(0, 12);
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `induct-test-${uid}-${key}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid && statSync(folder).uid !== uid)
    throw new Error(`${folder} belongs to somebody else: remove it.`);
  return folder;
}

/** Returns the name of a migrated template database. It is created once for each set of migration files. */
async function template(admin: pg.Client, serverUrl: string): Promise<string> {
  const files = await readMigrations();
  const hash = createHash('sha256').update(files.map((file) => `${file.name} ${file.checksum}`).join('\n'));
  const name = `template_${hash.digest('hex').slice(0, 16)}`;
  await admin.query('select pg_advisory_lock($1)', [preparing]);
  try {
    const { rows } = await admin.query<{ datname: string }>('select datname from pg_database');
    const existing = rows.map((row) => row.datname);
    if (existing.includes(name)) return name;
    // The process that makes the template also removes databases that killed tests and older migrations left behind.
    for (const left of existing) {
      const maker = /^test_(\d+)_/.exec(left)?.[1];
      if (
        /^template_[0-9a-f]{16}$/.test(left) ||
        left === 'unfinished' ||
        (maker && !isRunning(Number(maker)))
      ) {
        await admin.query(`drop database if exists ${left} with (force)`);
      }
    }
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
