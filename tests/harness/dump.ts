import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../apps/server/platform/database/types.ts';
import type { TestServer } from './testServer.ts';

/** The tables that hold joins, their money and what was said about them. {@link dump} copies and restores only these. */
const tables = [
  'person',
  'invitation',
  'join_session',
  'order_snapshot',
  'payment',
  'membership',
  'refund',
  'letter',
  'join_event',
  'stripe_event',
  'event_retry',
  'staff_notice',
  'schedule',
  'reconciliation',
];

/**
 * Copies the tables above into another schema. Returns a function that restores the copies, like restoring a dump, and empties
 * all other tables that refer to them. A test that needs two dumps at a time uses two schemas.
 */
export async function dump(
  { deps }: Pick<TestServer, 'deps'>,
  schema = 'dump',
): Promise<() => Promise<void>> {
  const run = (statement: string) => sql.raw(statement).execute(deps.database);
  await run(`drop schema if exists ${schema} cascade; create schema ${schema}`);
  for (const table of tables) await run(`create table ${schema}.${table} as table public.${table}`);
  return () =>
    deps.database.transaction().execute(async (trx) => {
      // Triggers are off, because the rows that they would write are already in the dump.
      await sql`set local session_replication_role = replica`.execute(trx);
      // Deleting the rows of small tables takes a fraction of the time of truncating them.
      for (const { name } of await referring(trx)) await sql.raw(`delete from ${name}`).execute(trx);
      for (const table of tables) {
        const { rows } = await sql<{ names: string }>`
          select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
          where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`.execute(trx);
        const { names } = rows[0]!;
        await sql
          .raw(
            `insert into ${table} (${names}) overriding system value select ${names} from ${schema}.${table}`,
          )
          .execute(trx);
      }
    });
}

/** Returns these tables and all others whose rows refer to them. */
async function referring(trx: Kysely<Tables>): Promise<{ name: string }[]> {
  const { rows } = await sql<{ name: string }>`
    with recursive found (id) as (
      select unnest(${tables}::regclass[])::oid
      union select conrelid from pg_constraint join found on confrelid = id where contype = 'f'
    )
    select id::regclass::text as name from found`.execute(trx);
  return rows;
}
