import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const folder = fileURLToPath(new URL('./migrations/', import.meta.url));
/** Two servers that start at once migrate one after the other. */
const LOCK = 7_305_118_402;

/**
 * Runs what migrations/ has and the database has not, in the order of their numbers, each in a transaction of its
 * own. Returns the names of those it ran. A migration that was changed after it ran is refused.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'induct migrate' });
  await client.connect();
  const ran: string[] = [];
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(
      'create table if not exists migration (name text primary key, checksum text not null, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from migration',
    );
    const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
    for (const name of readdirSync(folder)
      .filter((file) => file.endsWith('.sql'))
      .sort()) {
      const text = readFileSync(folder + name, 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      const known = applied.get(name);
      if (known === checksum) continue;
      if (known !== undefined)
        throw new Error(
          `The migration ${name} was changed after this database ran it. Write a new migration instead.`,
        );
      await client.query('begin');
      try {
        await client.query(text);
        await client.query('insert into migration (name, checksum) values ($1, $2)', [name, checksum]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
      ran.push(name);
    }
  } finally {
    await client.end();
  }
  return ran;
}
