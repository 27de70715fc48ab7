import { type Kysely, sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';

/**
 * A number of ours among PostgreSQL's advisory locks: shared by everybody who tells HubSpot of people, held alone by whoever erases
 * one, or says that a join is another contact's. It ends with its transaction, and so with a process that dies.
 */
const LOCK = 23_062;
/** So long who holds it alone waits for what is on its way. */
const PATIENCE_SECONDS = 45;
/** SQLSTATE `lock_not_available`. */
const NOT_AVAILABLE = '55P03';

/** HubSpot was still being told of something when who holds the lock alone had waited long enough. */
export class StillTelling extends Error {
  constructor() {
    super(
      'HubSpot is just being told of joins, and that takes long. Give the same command again in a minute.',
    );
  }
}

/**
 * Does something while a transaction holds the lock, if it can be taken; null otherwise. The transaction itself writes nothing: what was
 * done stays done when its end fails.
 */
async function holding<T>(
  database: Database,
  take: (trx: Kysely<Tables>) => Promise<boolean>,
  work: () => Promise<T>,
): Promise<T | null> {
  let done: { value: T } | null = null;
  try {
    await database.transaction().execute(async (trx) => {
      // It waits while others are spoken to, for as long as that takes.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(trx);
      if (await take(trx)) done = { value: await work() };
    });
  } catch (error) {
    if (done === null) throw error;
  }
  return (done as { value: T } | null)?.value ?? null;
}

/**
 * Tells HubSpot of people, by what it reads within: no erasure or link begins before it has ended. Null, and nothing is done, during
 * one.
 */
export function tellingHubspot<T>(database: Database, tell: () => Promise<T>): Promise<T | null> {
  return holding(
    database,
    async (trx) => {
      const { rows } = await sql<{ isFree: boolean }>`
        select pg_try_advisory_xact_lock_shared(${LOCK}) as "isFree"`.execute(trx);
      return rows[0]!.isFree;
    },
    tell,
  );
}

/** Does something once nothing is on its way to HubSpot any more, and lets nothing begin before it has ended. Throws {@link StillTelling}. */
export async function tellingHubspotNothing<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const take = async (trx: Kysely<Tables>) => {
    await sql`select set_config('lock_timeout', ${`${PATIENCE_SECONDS}s`}, true)`.execute(trx);
    try {
      await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx);
      return true;
    } catch (error) {
      throw (error as { code?: string }).code === NOT_AVAILABLE ? new StillTelling() : error;
    }
  };
  return (await holding(database, take, work)) as T;
}
