import { type Kysely, sql } from 'kysely';
import type { Database } from './client.ts';
import type { Tables } from './types.ts';

/**
 * Runs `work`, which may call external services, in a transaction that holds an advisory lock. `take` tries to acquire the lock.
 * If it returns false, `work` is not run, and the result is null. The transaction writes nothing, so the result of `work` is
 * returned even if the commit fails.
 */
export async function holding<T>(
  database: Database,
  take: (trx: Kysely<Tables>) => Promise<boolean>,
  work: () => Promise<T>,
): Promise<T | null> {
  const done: { value: T }[] = [];
  try {
    await database.transaction().execute(async (trx) => {
      // The transaction is idle while `work` runs, which may take long, so its idle timeout is switched off.
      await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(trx);
      if (await take(trx)) done.push({ value: await work() });
    });
  } catch (error) {
    if (done.length === 0) throw error;
  }
  return done[0]?.value ?? null;
}
