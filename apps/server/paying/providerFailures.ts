import { sql } from 'kysely';
import { Declined, ProviderFailed, ProviderRefused } from '../providers/stripe/failures.ts';
import type { Deps } from './deps.ts';

/**
 * Runs calls to Stripe whose idempotency keys contain `failures`, the session's count of failed calls. If Stripe fails or refuses
 * a call, or a bank declines, increases the count, so that the next try has new keys: Stripe replays such an answer under the
 * same key for a day. If a failed call did create an intent, that intent is cancelled when its event is handled (catchUp.ts).
 */
export async function countingFailures<T>(
  deps: Deps,
  sessionUuid: string,
  failures: number,
  calls: () => Promise<T>,
): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    if (error instanceof ProviderFailed || error instanceof ProviderRefused || error instanceof Declined)
      await sql`
        update join_session set provider_failures = provider_failures + 1
        where uuid = ${sessionUuid} and provider_failures = ${failures}`.execute(deps.database);
    throw error;
  }
}
