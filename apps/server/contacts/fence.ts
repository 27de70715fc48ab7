import { type Kysely, sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';

/**
 * The key of a PostgreSQL advisory lock. Whoever sends people to HubSpot takes it shared; whoever erases a person, or links a join
 * to another contact, takes it exclusively. It ends with its transaction, and so also when the process dies.
 */
const LOCK = 23_062;
/** How long an exclusive lock waits for calls to HubSpot that are already running, before it gives up. */
const PATIENCE_SECONDS = 45;
/** SQLSTATE `lock_not_available`. */
const NOT_AVAILABLE = '55P03';

/** Calls to HubSpot were still running when whoever wanted the exclusive lock had waited long enough. */
export class StillTelling extends Error {
  constructor() {
    super(
      'HubSpot is just being told of joins, and that takes long. Give the same command again in a minute.',
    );
  }
}

/**
 * Runs `work` while a transaction holds the lock; null if the lock cannot be taken. The transaction itself writes nothing, so what
 * `work` has done stays done even if the transaction's end fails.
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
 * Sends people to HubSpot under the shared lock. Everything that is sent must be read inside `tell`, since no erasure and no link
 * begins before it has ended. Returns null, and does nothing, while somebody holds the exclusive lock.
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
 * Runs `work` under the exclusive lock: once no call to HubSpot is running any more, and none begins before `work` has ended.
 * Throws {@link StillTelling}.
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
