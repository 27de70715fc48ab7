import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { serverFolder } from '../serverFolder.ts';

/** Held while migrating, so that two servers that start at once do not. */
const migrating = 7_368_275;
const folder = join(serverFolder, 'database/migrations');

/**
 * Runs the files `migrations/NNNN-name.sql` that the database has not seen, in order, each in a transaction of its own.
 * Returns the names of those it ran. Throws a sentence when a file that was applied has changed since or is missing.
 */
export async function migrate(databaseUrl: string, migrations: string = folder): Promise<string[]> {
  const files = await readMigrations(migrations);
  const client = new pg.Client({ connectionString: databaseUrl });
  // One that breaks fails what is asked on it; unheard, it would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [migrating]);
    await client.query(
      'create table if not exists migration (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    const applied = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from migration order by name',
    );
    const unseen = new Map(files.map((file) => [file.name, file]));
    for (const { name, checksum } of applied.rows) {
      const file = unseen.get(name);
      if (!file)
        throw new Error(
          `The database has seen the migration ${name}, which this version does not have: it is newer than the program.`,
        );
      if (file.checksum !== checksum) {
        throw new Error(
          `The migration ${name} was changed after it was applied to this database: put it back and write the change as a new file.`,
        );
      }
      unseen.delete(name);
    }
    for (const { name, sql, checksum } of unseen.values()) {
      try {
        await client.query('begin');
        await client.query(sql);
        await client.query('insert into migration (name, checksum) values ($1, $2)', [name, checksum]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`The migration ${name} failed: ${(error as Error).message}`, { cause: error });
      }
    }
    return [...unseen.keys()];
  } finally {
    await client.end();
  }
}

/** Every migration in order. Line ends do not count, so that a checkout on Windows has the same checksums. */
export async function readMigrations(
  migrations: string = folder,
): Promise<{ name: string; sql: string; checksum: string }[]> {
  const names = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      if (!/^\d{4}-[\w-]+\.sql$/.test(name))
        throw new Error(`A migration is called NNNN-name.sql, not ${name}.`);
      const sql = (await readFile(join(migrations, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
