import type { TestContext } from 'node:test';
import pg from 'pg';
import type { TestServer } from './testServer.ts';
import { until } from './until.ts';

/** A connection of the test's own, in a transaction that ends with the test: what it locks is locked to the server. */
export async function lockHolder(t: TestContext, { deps }: TestServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: deps.config.databaseUrl });
  await client.connect();
  t.after(() => client.end());
  await client.query('begin');
  return client;
}

/** Waits until so many of the server's statements wait for a lock. */
export async function waiting(holder: pg.Client, count: number): Promise<'waiting'> {
  await until(async () => {
    // What a transaction has once read of pg_stat_activity it reads again.
    await holder.query('select pg_stat_clear_snapshot()');
    const { rowCount } = await holder.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === count;
  }, 10_000);
  return 'waiting';
}
