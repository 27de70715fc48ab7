import { type Kysely, sql } from 'kysely';
import { forgottenNotes } from '#core/intentText.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { NotAtStripe, UnexpectedState } from '../providers/stripe/failures.ts';
import type { Deps } from './deps.ts';

/**
 * Cancels an intent at Stripe and then in our database. Returns false if the intent has just been paid, or the bank is still
 * deciding.
 */
export async function cancelIntent(deps: Deps, intentId: string): Promise<boolean> {
  try {
    await deps.payments.cancelIntent(intentId);
  } catch (error) {
    if (!(error instanceof UnexpectedState || error instanceof NotAtStripe)) throw error;
    // In a restored database, an intent that was cancelled after the backup is still open. It is then only recorded as cancelled.
    if (
      error instanceof UnexpectedState &&
      (await deps.payments.retrieveIntent(intentId)).status !== 'canceled'
    )
      return false;
  }
  await transaction(deps, (trx) => markCanceled(trx, intentId));
  return true;
}

/** Marks an intent as cancelled. Must be called only if the intent is cancelled at Stripe, or unknown there. */
export async function markCanceled(database: Kysely<Tables>, intentId: string): Promise<void> {
  await database
    .updateTable('payment')
    .set({ status: 'canceled', updated_at: sql`now()` })
    .where('intent_id', '=', intentId)
    .where('status', '=', 'open')
    .execute();
}

/**
 * Cancels an intent whose join was erased while the intent was being created, and removes the personal data from its metadata at
 * Stripe.
 */
export async function cancelErased(deps: Deps, intentId: string): Promise<void> {
  await cancelIntent(deps, intentId);
  await deps.payments.writeNotes(intentId, forgottenNotes());
}
