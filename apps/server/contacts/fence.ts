import { type Kysely, sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';

/**
 * The key of a PostgreSQL advisory lock. Sending joins to HubSpot takes it shared; erasing a person, or linking a join to another
 * contact, takes it exclusively. It ends with its transaction, so also when the process dies.
 */
const LOCK = 23_062;
/** How long the exclusive lock waits for calls to HubSpot that are already running. */
const PATIENCE_SECONDS = 45;
/** SQLSTATE `lock_not_available`. */
const NOT_AVAILABLE = '55P03';

/** The exclusive lock was not obtained in time, because calls to HubSpot were still running. */
export class StillTelling extends Error {
  constructor() {
    super(
      'HubSpot is just being told of joins, and that takes long. Give the same command again in a minute.',
    );
  }
}

/**
 * Runs `work` while a transaction holds the lock; null if the lock cannot be taken. The result of `work` is returned even if the
 * commit fails, since the transaction itself writes nothing.
 */
async function holding<T>(
  database: Database,
  take: (trx: Kysely<Tables>) => Promise<boolean>,
  work: () => Promise<T>,
): Promise<T | null> {
  let done: { value: T } | null = null;
  try {
    await database.transaction().execute(async (trx) => {
      // The transaction is idle while `work` talks to other servers, however long that takes.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(trx);
      if (await take(trx)) done = { value: await work() };
    });
  } catch (error) {
    if (done === null) throw error;
  }
  return (done as { value: T } | null)?.value ?? null;
}

/**
 * Runs `tell`, which sends joins to HubSpot, under the shared lock. `tell` must read its data under the lock: what was read before
 * may have been erased or linked since. Returns null, without running it, while somebody holds the exclusive lock.
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

/**
 * Runs `work` under the exclusive lock: waits until running calls to HubSpot have ended, and none begins before `work` ends. Throws
 * {@link StillTelling}.
 */
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
