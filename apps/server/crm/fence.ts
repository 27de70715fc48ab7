import { type Kysely, sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';

/**
 * The key of a PostgreSQL advisory lock. Sending joins or documents to HubSpot takes it in shared mode. Erasing a person and
 * linking a join to another contact take it in exclusive mode. The lock ends with its transaction, even if the process dies.
 */
const LOCK = 23_062;
/** How long the exclusive lock waits for the calls to HubSpot that are running. Less than `statement_timeout` (patience.ts). */
const PATIENCE_SECONDS = 45;
/** SQLSTATE `lock_not_available`. */
const NOT_AVAILABLE = '55P03';

/** Thrown if running calls to HubSpot did not end before the wait for the exclusive lock timed out. */
export class StillTelling extends Error {
  constructor() {
    super(
      'HubSpot is just being told of joins, and that takes long. Give the same command again in a minute.',
    );
  }
}

/**
 * Runs `work` while a transaction holds the lock. Returns null, without running `work`, if `take` could not take the lock. The
 * transaction writes nothing, so the result of `work` is returned even if the commit fails.
 */
async function holding<T>(
  database: Database,
  take: (trx: Kysely<Tables>) => Promise<boolean>,
  work: () => Promise<T>,
): Promise<T | null> {
  let done: { value: T } | null = null;
  try {
    await database.transaction().execute(async (trx) => {
      // The transaction is idle while `work` runs, which may take long, so its idle timeout is switched off.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(trx);
      if (await take(trx)) done = { value: await work() };
    });
  } catch (error) {
    if (done === null) throw error;
  }
  return (done as { value: T } | null)?.value ?? null;
}

/**
 * Runs `tell`, which sends joins or documents to HubSpot, under the shared lock. `tell` must read its data inside the lock: data
 * read before may belong to somebody who has been erased since. Returns null, without running `tell`, while the exclusive lock is
 * held.
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
 * Runs `work` under the exclusive lock. First waits until the running calls to HubSpot have ended. No new call starts before `work`
 * has ended. Throws {@link StillTelling}.
 */
export async function tellingHubspotNothing<T>(
  database: Database,
  work: () => Promise<T>,
  patienceSeconds = PATIENCE_SECONDS,
): Promise<T> {
  const take = async (trx: Kysely<Tables>) => {
    await sql`select set_config('lock_timeout', ${`${patienceSeconds * 1_000}ms`}, true)`.execute(trx);
    try {
      await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx);
      return true;
    } catch (error) {
      // The pool wraps PostgreSQL's error in a DatabaseUnavailable.
      const { cause } = error as { cause?: { code?: string } };
      throw cause?.code === NOT_AVAILABLE ? new StillTelling() : error;
    }
  };
  return (await holding(database, take, work)) as T;
}
