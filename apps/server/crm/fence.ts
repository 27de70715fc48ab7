import { type Kysely, sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import { holding } from '../platform/database/holding.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';

/**
 * The key of a PostgreSQL advisory lock, which ends with its transaction, even if the process dies. Sending joins or documents to
 * HubSpot takes it in shared mode, and so do corrections of persons, merges by staff and their undoing. Erasing a person takes it
 * in exclusive mode.
 */
const LOCK = 23_062;
/** How long the exclusive lock waits for the calls that are running. Less than `statement_timeout` (patience.ts). */
const PATIENCE_SECONDS = 45;
/** SQLSTATE `lock_not_available`. */
const NOT_AVAILABLE = '55P03';

/** Thrown if running calls to HubSpot did not end before the wait for the exclusive lock timed out. */
export class StillTelling extends Failed {
  constructor() {
    super('HubSpot is just being told of joins, and that takes long. Try again in a minute.');
  }
}

/**
 * Runs `send`, which sends joins or documents to HubSpot, under the shared lock. It must read its data inside the lock: data read
 * before may belong to somebody who has been erased since. Returns null, without running it, while the exclusive lock is held.
 */
export function tellingHubspot<T>(database: Database, send: () => Promise<T>): Promise<T | null> {
  return holding(database, nobodyIsErased, send);
}

/**
 * Takes the shared lock until the transaction ends, so that nobody is erased meanwhile. Returns false if somebody is being
 * erased. Also used where data of persons are sent to Stripe or moved to another person.
 */
export async function nobodyIsErased(trx: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ isFree: boolean }>`
    select pg_try_advisory_xact_lock_shared(${LOCK}) as "isFree"`.execute(trx);
  return rows[0]!.isFree;
}

/**
 * Runs `work` under the exclusive lock: once the running calls to HubSpot have ended, and before any other begins. Throws {@link
 * StillTelling} if they take too long.
 */
export async function tellingHubspotNothing<T>(
  database: Database,
  work: () => Promise<T>,
  patienceSeconds = PATIENCE_SECONDS,
): Promise<T> {
  const take = async (trx: Kysely<Tables>) => {
    await sql`select set_config('lock_timeout', ${`${patienceSeconds}s`}, true)`.execute(trx);
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx).catch((error) => {
      // The pool wraps PostgreSQL's error in a DatabaseUnavailable.
      throw error.cause?.code === NOT_AVAILABLE ? new StillTelling() : error;
    });
    return true;
  };
  return (await holding(database, take, work)) as T;
}
