import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { serverFolder } from '../serverFolder.ts';
import { isLater, version as ours } from '../version.ts';
import { connectToPrimary } from './primary.ts';
import { SharedTables } from './sharedTables.ts';
import { switchOffTimeouts } from './timeouts.ts';

/**
 * The key of the advisory lock that a server holds while it migrates, so that servers that start at the same time migrate one after
 * another.
 */
const migrating = 7_368_275;
const folder = join(serverFolder, 'platform/database/migrations');

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
 * nothing if a newer version has migrated the database and this version can still run on it (docs/decisions/0024). A migration
 * that does not get its table locks soon is rolled back, so that other statements go on, and is retried (sharedTables.ts); `tell`
 * gets a sentence each time. Throws an Error for staff if this version cannot run on the database, or if the file of an applied
 * migration has changed.
 */
export async function migrate(
  databaseUrl: string,
  {
    migrations = folder,
    version = ours,
    tell = () => {},
  }: { migrations?: string; version?: string; tell?: (sentence: string) => void } = {},
): Promise<string[]> {
  const { client, address } = await connectToPrimary(databaseUrl);
  const tables = new SharedTables(client, address, tell);
  try {
    await switchOffTimeouts(client);
    // A server without pending migrations must not wait until another server (of a newer version, for example) has migrated.
    if ((await readState()).length === 0) return [];
    await takeTurn(client, tell);
    const waiting = await readState();
    if (waiting.length === 0) return [];
    await tables.change('The table of migrations', () => prepareTable(client));
    for (const { name, sql, checksum, oldestVersion } of waiting) {
      try {
        await tables.change(`The migration ${name}`, async () => {
          await client.query(sql);
          await client.query('insert into migration (name, checksum, oldest_version) values ($1, $2, $3)', [
            name,
            checksum,
            oldestVersion,
          ]);
        });
      } catch (error) {
        throw new Error(`The migration ${name} failed: ${(error as Error).message}`, { cause: error });
      }
    }
    return waiting.map(({ name }) => name);
  } finally {
    await tables.close();
    await client.end();
  }

  async function readState(): Promise<Migration[]> {
    const { waiting, foreign } = await migrationState(client, { migrations, version });
    if (foreign) throw new Error(foreign);
    return waiting;
  }
}

/**
 * Waits until no other server migrates the database, for as long as that takes, and takes the lock {@link migrating}. The end of
 * the connection releases the lock.
 */
async function takeTurn(client: pg.Client, tell: (sentence: string) => void): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    migrating,
  ]);
  if (rows[0]!.taken) return;
  tell('Another server migrates the database: it is waited for.');
  await client.query('select pg_advisory_lock($1)', [migrating]);
}

/**
 * Creates the table `migration`, or adds its newest column. Alters the table only where the column is missing: even an alteration
 * that changes nothing locks the table, which every `/readyz` reads.
 */
async function prepareTable(client: pg.Client): Promise<void> {
  await client.query(
    'create table if not exists migration (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
  );
  const { rowCount } = await client.query(
    "select from pg_attribute where attrelid = to_regclass('migration') and attname = 'oldest_version'",
  );
  if (rowCount === 0) await client.query('alter table migration add column oldest_version text');
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
        // Version 0.1.0 created the table without the column `oldest_version`. By way of `to_jsonb`, a missing column is read as
        // null.
        "select name, checksum, to_jsonb(migration) ->> 'oldest_version' as oldest_version from migration order by name",
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
