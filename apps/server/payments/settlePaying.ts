import { sql } from 'kysely';
import type { JoinSessionState } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { UnexpectedState } from '../stripe/provider.ts';
import { confirmPayment, markCanceled } from './confirmPayment.ts';

/** For this long after Buy Now a payment is under way whatever Stripe says: the page may be about to confirm it. Seconds. */
const UNDER_WAY_SECONDS = 15;

/**
 * Asks Stripe how a begun payment stands and brings the session to that state: paid when it succeeded, an open order
 * when it came to nothing, still paying while its outcome is open.
 *
 * - `look`: somebody only wants to know. A silent payment stays as it is.
 * - `failed`: the page, or Stripe, has seen it fail: the order opens, and the same intent takes the next card.
 * - `change`: the joiner wants another order. A payment that was begun and left is cancelled in Stripe first, so that
 *   no other tab can still finish it at the old total.
 */
export async function settlePaying(
  deps: Deps,
  uuid: string,
  why: 'look' | 'failed' | 'change',
): Promise<JoinSessionState | null> {
  const { rows } = await sql<{ state: JoinSessionState; intent_id: string | null; seconds: number }>`
    select state, intent_id, extract(epoch from now() - paying_since)::float as seconds
    from join_session left join payment on session_uuid = uuid and kind = 'join' and payment.status = 'open'
    where uuid = ${uuid}`.execute(deps.database);
  const session = rows[0];
  if (!session) return null;
  if (session.state !== 'paying') return session.state;
  if (session.intent_id !== null) {
    const status = await confirmPayment(deps, session.intent_id);
    if (status === 'succeeded') return 'paid';
    if (status === 'processing') return 'paying';
    const isLeft = status !== 'canceled' && !(why === 'failed' && status === 'requires_payment_method');
    if (isLeft) {
      if (why === 'look' || session.seconds < UNDER_WAY_SECONDS) return 'paying';
      if (!(await cancel(deps, session.intent_id))) return settlePaying(deps, uuid, 'look');
    }
  }
  await deps.database
    .updateTable('join_session')
    .set({ state: 'ordering', paying_since: null, updated_at: sql`now()` })
    .where('uuid', '=', uuid)
    .where('state', '=', 'paying')
    .execute();
  return 'ordering';
}

/** A change that finds the order frozen is tried once more when the payment turns out to have come to nothing. */
export async function whileFrozen<T>(
  deps: Deps,
  uuid: string,
  change: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const first = await change();
  if (first !== undefined) return first;
  return (await settlePaying(deps, uuid, 'change')) === 'ordering' ? change() : undefined;
}

/** False when it was paid in this very moment. */
async function cancel(deps: Deps, intentId: string): Promise<boolean> {
  try {
    await deps.payments.cancelIntent(intentId);
  } catch (error) {
    if (error instanceof UnexpectedState) return false;
    throw error;
  }
  await markCanceled(deps.database, intentId);
  return true;
}
