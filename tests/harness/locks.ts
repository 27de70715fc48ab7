import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../../apps/server/platform/database/client.ts';
import type { TestServer } from './testServer.ts';
import { until } from './until.ts';

/** A process may have to start before its statement waits. */
const MOST_MS = 60_000;

/** A connection of the test's own, in a transaction that ends with the test: what it locks is locked to the server. */
export async function lockHolder(t: TestContext, { deps }: TestServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: deps.config.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  await client.query('begin');
  return client;
}

/** How many of the server's statements wait for a lock. Others' are not counted: tests side by side have a database each. */
export async function countWaiting(holder: pg.Client | Database): Promise<number> {
  const ask = (text: string) =>
    holder instanceof pg.Client ? holder.query(text) : sql.raw(text).execute(holder);
  // What a transaction has once read of pg_stat_activity it reads again.
  await ask('select pg_stat_clear_snapshot()');
  const { rows } = await ask(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

/** Waits until so many of the server's statements wait for a lock. One of the background's may wait beside those of the test. */
export async function waiting(holder: pg.Client | Database, count: number): Promise<'waiting'> {
  await until(async () => (await countWaiting(holder)) >= count, MOST_MS);
  return 'waiting';
}
