import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../../apps/server/platform/database/client.ts';
import type { TestServer } from './testServer.ts';
import { until } from './until.ts';

/**
 * Opens a connection with a transaction that lasts until the test ends. When the test locks rows in this transaction, the server
 * has to wait for them.
 */
export async function lockHolder(t: TestContext, { deps }: TestServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: deps.config.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  await client.query('begin');
  return client;
}

/**
 * Returns how many of the server's statements wait for a lock. Statements of parallel tests are not counted, since those tests
 * use other databases.
 */
export async function countWaiting(holder: pg.Client | Database): Promise<number> {
  const ask = (text: string) =>
    holder instanceof pg.Client ? holder.query(text) : sql.raw(text).execute(holder);
  // Clears the copy of pg_stat_activity that PostgreSQL caches within a transaction.
  await ask('select pg_stat_clear_snapshot()');
  const { rows } = await ask(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

/** Waits until at least `count` statements of the server wait for a lock. Background work's statements count, too. */
export async function waiting(holder: pg.Client | Database, count: number): Promise<'waiting'> {
  await until(async () => (await countWaiting(holder)) >= count);
  return 'waiting';
}
