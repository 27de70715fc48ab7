import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { serverFolder } from '../serverFolder.ts';
import { isLater, version as ours } from '../version.ts';
import { connectToPrimary } from './primary.ts';
import { switchOffTimeouts } from './timeouts.ts';

/**
 * The key of the advisory lock that a server holds while it migrates, so that servers that start at the same time migrate one after
 * another.
 */
const migrating = 7_368_275;
const folder = join(serverFolder, 'platform/database/migrations');

/**
 * The longest time (ms) that a statement of a migration waits for a lock. While it waits, PostgreSQL queues the calls that use the
 * table behind it. Two such waits must be shorter than a call's statements may take (`ofCalls` in patience.ts), and one must be
 * longer than PostgreSQL's `deadlock_timeout` (1 s), after which an autovacuum of the table gives way
 * (https://www.postgresql.org/docs/current/routine-vacuuming.html#AUTOVACUUM).
 */
const LOCK_TIMEOUT_MS = 1_200;
/** The pauses (s) between the tries of a migration that does not get its locks: four minutes in all. */
const PAUSES_S = [1, 2, 4, 8, 15, 30, 30, 30, 30, 30, 30, 30];
/** The SQLSTATEs `lock_not_available` and `deadlock_detected`. */
const HELD_UP = ['55P03', '40P01'];

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
  /**
   * The oldest version of Induct that can run on the database after this migration, from the line `-- oldest version: 1.2.3` of
   * the migration's file. Null if the migration removes nothing that older versions need.
   */
  oldestVersion: string | null;
}

/** The first migration of the versions before 1.0. */
const BEFORE_1_0 = '0001-foundation.sql';

/** The difference between a database's schema and the migrations of this version. */
export interface MigrationState {
  /** Migrations not applied yet, in order. */
  waiting: Migration[];
  /**
   * Applied migrations that this version does not have, because a newer version added them. This version may still run if `foreign`
   * is null.
   */
  newer: string[];
  /** Why this version must not run on the database; null if it may. */
  foreign: string | null;
}

/**
 * Applies the pending files `migrations/NNNN-name.sql` in order, each in its own transaction, and returns their names. Applies
 * nothing if a newer version has migrated the database and this version can still run on it (docs/decisions/0020). A file that
 * does not get its locks soon is rolled back, so that calls go on, and tried again after each of `pauses` (in seconds); `warn`
 * gets a sentence each time, and if another server is migrating. Throws an Error for staff if a file fails or never gets its
 * locks, if this version cannot run on the database, or if the file of an applied migration has changed.
 */
export async function migrate(
  databaseUrl: string,
  {
    migrations = folder,
    version = ours,
    pauses = PAUSES_S,
    warn = () => {},
    seen,
  }: {
    migrations?: string;
    version?: string;
    pauses?: readonly number[];
    warn?: (sentence: string) => void;
    /** The names of the migrations that staff have agreed to. If others are pending, throws, and applies none. */
    seen?: readonly string[];
  } = {},
): Promise<string[]> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    await switchOffTimeouts(client);
    // A server without pending migrations must not wait until another server (of a newer version, for example) has migrated.
    if ((await readState()).length === 0) return [];
    await takeTurn(client, warn);
    const waiting = await readState();
    if (waiting.length === 0) return [];
    if (seen && waiting.some(({ name }) => !seen.includes(name)))
      throw new Error('Other migrations are pending by now, so none was run. Please look again.');
    await client.query(
      'create table if not exists migration (name text primary key, checksum text not null, applied_at timestamptz not null default now(), oldest_version text)',
    );
    for (const migration of waiting) await apply(client, migration, pauses, warn);
    return waiting.map(({ name }) => name);
  } finally {
    await client.end();
  }

  async function readState(): Promise<Migration[]> {
    const { waiting, foreign } = await migrationState(client, { migrations, version });
    if (foreign) throw new Error(foreign);
    return waiting;
  }
}

async function apply(
  client: pg.Client,
  { name, sql, checksum, oldestVersion }: Migration,
  pauses: readonly number[],
  warn: (sentence: string) => void,
): Promise<void> {
  for (const seconds of [...pauses, null]) {
    try {
      await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(sql);
      await client.query('insert into migration (name, checksum, oldest_version) values ($1, $2, $3)', [
        name,
        checksum,
        oldestVersion,
      ]);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      const { code, message } = error as pg.DatabaseError;
      if (!HELD_UP.includes(code ?? ''))
        throw new Error(`The migration ${name} failed: ${message}`, { cause: error });
      const others = `tables that other transactions use.${await oldestTransaction(client)}`;
      // This error has no `cause`: callers would take the cause, a missing lock, for a database that cannot be reached.
      if (seconds === null)
        throw new Error(
          `The migration ${name} did not get ${others} It has changed nothing. When those transactions are over, start the server again, or migrate again.`,
        );
      warn(
        `The migration ${name} waits for ${others} It was rolled back, and will run again in ${seconds} s.`,
      );
      await pause(seconds * 1_000);
    }
  }
}

/**
 * Describes the oldest other transaction of the database, which most likely holds up a migration. Leaves out its SQL, which may
 * contain names of people. Empty if our database user sees no other transaction.
 */
async function oldestTransaction(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; known: string; seconds: number }>(`
    select pid, concat_ws(', ', nullif(application_name, ''), state) as known,
      extract(epoch from now() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1`);
  return rows
    .map(
      ({ pid, known, seconds }) =>
        ` The oldest is that of process ${pid} of PostgreSQL (${known}), which began ${seconds} s ago.`,
    )
    .join('');
}

/**
 * Waits until no other server migrates the database, for as long as that takes, and takes the lock {@link migrating}. The end of
 * the connection releases the lock.
 */
async function takeTurn(client: pg.Client, warn: (sentence: string) => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    migrating,
  ]);
  if (rows[0]!.taken) return;
  warn('Another server is migrating the database. Waiting for it.');
  await client.query('select pg_advisory_lock($1)', [migrating]);
}

/** Compares the database's schema with this version. Changes nothing; the database may be empty. */
export async function migrationState(
  client: Pick<pg.Client, 'query'>,
  { migrations = folder, version = ours }: { migrations?: string; version?: string } = {},
): Promise<MigrationState> {
  const files = await readMigrations(migrations);
  const table = await client.query<{ made: boolean }>("select to_regclass('migration') is not null as made");
  const { rows: applied } = table.rows[0]!.made
    ? await client.query<{ name: string; checksum: string; oldest_version: string | null }>(
        'select * from migration order by name',
      )
    : { rows: [] };
  const unseen = new Map(files.map((file) => [file.name, file]));
  const newer: string[] = [];
  let foreign: string | null = applied.some(({ name }) => name === BEFORE_1_0)
    ? 'The database is of a version before 1.0, whose data this version cannot read. Begin again with an empty database. (npm start: remove its data folder.)'
    : null;
  for (const { name, checksum, oldest_version } of applied) {
    const file = unseen.get(name);
    unseen.delete(name);
    if (!file) newer.push(name);
    if (foreign) continue;
    if (!file && oldest_version !== null && isLater(oldest_version, version))
      foreign = `The database has seen the migration ${name}, after which only version ${oldest_version} and later run on it; this is ${version}.`;
    else if (file && file.checksum !== checksum)
      foreign = `The migration ${name} was changed after it was applied to this database: put it back and write the change as a new file.`;
  }
  return { waiting: [...unseen.values()], newer, foreign };
}

/** Reads every migration in order. The checksum ignores whether lines end in LF or CR LF, which depends on the git checkout. */
export async function readMigrations(migrations: string = folder): Promise<Migration[]> {
  const names = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      if (!/^\d{4}-[\w-]+\.sql$/.test(name))
        throw new Error(`A migration is called NNNN-name.sql, not ${name}.`);
      const sql = (await readFile(join(migrations, name), 'utf8')).replaceAll('\r\n', '\n');
      const oldestVersion = /^-- oldest version: (\d+\.\d+\.\d+)$/m.exec(sql)?.[1] ?? null;
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), oldestVersion };
    }),
  );
}
