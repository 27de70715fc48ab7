import { sql, type Transaction } from 'kysely';
import type { Database } from './client.ts';
import type { Tables } from './types.ts';

/** The name of the member of staff who does a piece of work; null for a joiner, a provider, or Induct's background work. */
export type Actor = string | null;

/** Runs `work` in a transaction. Database triggers record the steps of joins in it as the actor's. */
export async function transaction<T>(
  { database, actor }: { database: Database; actor: Actor },
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return database.transaction().execute(async (trx) => {
    if (actor !== null) await sql`select set_config('induct.actor', ${actor}, true)`.execute(trx);
    return work(trx);
  });
}
