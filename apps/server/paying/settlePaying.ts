import { sql } from 'kysely';
import { type Holding, isOpenIn } from '#core/holding.ts';
import type { JoinSessionState } from '#core/joinSession.ts';
import { transaction } from '../platform/database/transaction.ts';
import { readStanding } from '../session/standing.ts';
import { reopenFrozen } from '../session/states.ts';
import { cancelIntent } from './cancelIntent.ts';
import { noteFailure } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';
import type { Deps } from './deps.ts';
import { lookAtPayment } from './lookAtPayment.ts';
import { isBefore } from './stripeClock.ts';

/** For this many seconds after Buy Now, a payment is taken to be under way: the page may be about to confirm it. */
export const UNDER_WAY_SECONDS = 15;
/**
 * The same limit for a payment that is not the caller's own: the joiner cannot see whether somebody who pays by the pay link is
 * at the bank, and vice versa.
 */
const OTHERS_UNDER_WAY_SECONDS = 120;

/**
 * Asks Stripe for the status of a begun payment and updates the session: `paid` if the payment succeeded, `ordering` if it failed
 * or was cancelled, still `paying` if its outcome is undecided. Returns the state; null if there is no such join. `why`:
 * - `look`: only asks. An undecided payment is left as it is.
 * - `failed`: the page, or Stripe, reported that the payment failed. The order is open again, and the same intent takes the next
 *   card. If Stripe does not say so, the payment is treated as for `change`. If `failedAt` is before the current try began, the
 *   order stays frozen, because the joiner is already trying the next card.
 * - `change`: the joiner wants to change the order. An abandoned payment is first cancelled at Stripe, so that no other tab can
 *   still finish it at the old total.
 * - `takeOver`: somebody with the join's pay link wants to pay. An abandoned payment is cancelled, as for `change`.
 */
export async function settlePaying(
  deps: Deps,
  uuid: string,
  why: 'look' | 'failed' | 'change' | 'takeOver',
  failedAt?: Date,
): Promise<JoinSessionState | null> {
  const { rows } = await sql<{
    state: JoinSessionState;
    intent_id: string | null;
    /** When the running payment was begun. Never null while the state is `paying`. */
    paying_since: Date | null;
    /** `paying_since` as text with microseconds, which a Date cannot hold. */
    begun: string | null;
    seconds: number;
    by_pay_link: boolean | null;
  }>`
    select state, intent_id, paying_since, paying_since::text as begun, extract(epoch from now() - paying_since)::float as seconds,
      by_pay_link
    from join_session left join payment on session_uuid = uuid and kind = 'join' and payment.status = 'open'
    where uuid = ${uuid}`.execute(deps.database);
  const session = rows[0];
  if (!session) return null;
  if (session.state !== 'paying') return session.state;
  const isOfBefore = failedAt !== undefined && isBefore(failedAt, session.paying_since!);
  if (isOfBefore) return 'paying';
  if (session.intent_id !== null) {
    const { outcome: status, intent } = await lookAtPayment(
      deps,
      session.intent_id,
      why === 'look' ? 'recorded' : 'fresh',
    );
    if (status === 'succeeded') return 'paid';
    if (status === 'processing') return 'paying';
    // If another caller has asked Stripe, this caller has only the status, and `intent` is null. The declined card is then
    // counted when the webhook arrives.
    if (why === 'failed' && status === 'requires_payment_method' && intent) await noteFailure(deps, intent);
    // The status `refunded` means that the payment bought nothing and is refunded. Its confirmation has already reopened the
    // order.
    const isOver = status === 'canceled' || status === 'refunded';
    const isLeft = !isOver && !(why === 'failed' && status === 'requires_payment_method');
    if (isLeft) {
      const isOfOther = session.by_pay_link || why === 'takeOver';
      const underWay = isOfOther ? OTHERS_UNDER_WAY_SECONDS : UNDER_WAY_SECONDS;
      if (why === 'look' || session.seconds < underWay) return 'paying';
      if (!(await cancelIntent(deps, session.intent_id))) {
        const end = await confirmPayment(deps, session.intent_id);
        if (end !== 'refunded') return end === 'succeeded' ? 'paid' : 'paying';
      }
    }
  }
  const isSameTry = sql<boolean>`uuid = ${uuid} and paying_since = ${session.begun}::timestamptz`;
  await transaction(deps, (trx) => reopenFrozen(trx, isSameTry));
  // Another caller may have reopened the order first and begun to pay it once more. Therefore the state is read again.
  const now = await deps.database
    .selectFrom('join_session')
    .select('state')
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  return now?.state ?? null;
}

/**
 * Runs `change` on an order. If `change` resolves to undefined, because the order is frozen, settles the payment, and runs
 * `change` again if the payment has failed or was abandoned. Settles no payment for a browser that may not continue the join.
 */
export async function whileFrozen<T>(
  deps: Deps,
  uuid: string,
  holding: Holding,
  change: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const first = await change();
  if (first !== undefined) return first;
  const standing = await readStanding(deps, uuid);
  if (!standing || !isOpenIn(holding, standing)) return undefined;
  return (await settlePaying(deps, uuid, 'change')) === 'ordering' ? change() : undefined;
}
