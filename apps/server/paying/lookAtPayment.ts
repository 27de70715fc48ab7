import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { payerOfMetadata } from '#core/intentText.ts';
import { type DueLetter, insertLetters } from '../letters/dueLetters.ts';
import type { FailedData } from '../letters/takeLetter.ts';
import type { PaymentTable } from '../platform/database/types.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { confirmIntent, type PaymentOutcome } from './confirmPayment.ts';
import type { Deps } from './deps.ts';

/**
 * The shortest time (ms) between two reads of one open intent from Stripe, by all callers and servers together. Anybody can cause
 * such reads, and all joins share Stripe's rate limit (https://docs.stripe.com/rate-limits).
 */
const EVERY_MS = 1_000;
/** How often (ms) a caller polls the database for the result of another caller's read. */
const POLL_MS = 100;

/** The last known status of a payment. `intent` is Stripe's intent if this caller itself has read it, otherwise null. */
export interface Look {
  /** The status of the payment; null if Stripe was never asked or has never answered. */
  outcome: PaymentOutcome | null;
  intent: Intent | null;
}

/**
 * SQL for whether the payment in the query's `payment` table was read from Stripe within the last second. If so, its recorded
 * status is used.
 */
const lookedAtJustNow: RawBuilder<boolean> = sql<boolean>`coalesce(payment.looked_at > now() - make_interval(secs => ${sql.lit(EVERY_MS / 1000)}), false)`;

/** The recorded status of a payment that has ended; null while it is open. */
export function recordedEnd(status: PaymentTable['status']): 'succeeded' | 'refunded' | 'canceled' | null {
  if (status === 'open') return null;
  return status === 'duplicate' ? 'refunded' : status;
}

/**
 * Returns the status of a payment of ours, and confirms the payment if it has succeeded at Stripe. All callers together ask
 * Stripe about a payment at most once a second. If Stripe was asked within the last second, `need` decides:
 * - `recorded`: returns the status of that look.
 * - `fresh`: waits until this caller may ask Stripe, or until Stripe has answered a look that another caller began after this
 *   call. For joiners who return from paying, and for calls that reopen an order.
 */
export async function lookAtPayment(deps: Deps, intentId: string, need: 'recorded' | 'fresh'): Promise<Look> {
  let askedAt: string | null = null;
  for (;;) {
    const turn = await takeLook(deps, intentId, askedAt);
    const end = turn && recordedEnd(turn.status);
    if (end) return { outcome: end, intent: null };
    if (!turn || turn.is_taken) {
      const intent = await deps.payments.retrieveIntent(intentId);
      // A success is not recorded here: `confirmIntent` below writes it.
      if (turn && intent.status !== 'succeeded') await recordSeen(deps, intent, turn.at);
      return { outcome: await confirmIntent(deps, intent), intent };
    }
    if (need === 'recorded' || turn.is_answered) return { outcome: turn.seen_status, intent: null };
    askedAt ??= turn.at;
    await pause(Math.max(1, Math.min(turn.wait_ms, POLL_MS)));
  }
}

/**
 * Claims the next look at a payment if there was none within the last second; otherwise returns the result of the last look.
 * Times are the database's, as text with microseconds.
 */
async function takeLook(deps: Deps, intentId: string, askedAt: string | null) {
  const { rows } = await sql<{
    status: PaymentTable['status'];
    is_taken: boolean;
    at: string;
    seen_status: Intent['status'] | null;
    is_answered: boolean;
    wait_ms: number;
  }>`
    with taken as (
      update payment set looked_at = now() where intent_id = ${intentId} and status = 'open' and not ${lookedAtJustNow}
        and (seen_at >= ${askedAt}::timestamptz) is not true
      returning intent_id
    )
    select status, exists (select from taken) as is_taken, now()::text as at, seen_status,
      coalesce(seen_at >= ${askedAt}::timestamptz, false) as is_answered,
      ceil(coalesce(${EVERY_MS}::int - 1000 * extract(epoch from now() - looked_at), 0))::int as wait_ms
    from payment where intent_id = ${intentId}`.execute(deps.database);
  return rows[0];
}

/**
 * Records the status that a look saw, unless a later look is recorded already. If the payment of a join fails after the bank was
 * undecided at the previous look, a letter reports this to whoever pays, because they may have left the page. Otherwise the page
 * itself reports a failure.
 */
async function recordSeen(
  deps: Deps,
  { id, status, amountCents, metadata, receiptEmail }: Intent,
  lookedAt: string,
): Promise<void> {
  const cameToNothing = status === 'requires_payment_method' || status === 'canceled';
  const sessionUuid = metadata.session;
  const data = { amountCents } satisfies FailedData;
  const letter =
    payerOfMetadata(metadata) !== null && receiptEmail !== null
      ? { kind: 'payer-failed' as const, email: receiptEmail }
      : { kind: 'payment-failed' as const };
  const letters: DueLetter[] =
    cameToNothing && sessionUuid ? [{ ...letter, sessionUuid, occasion: id, data }] : [];
  const wasProcessing = sql<boolean>`exists (select from before where kind = 'join' and seen_status = 'processing')`;
  await sql`
    with before as (
      select intent_id, session_uuid, kind, seen_status from payment
      where intent_id = ${id} and status = 'open' and (seen_at is null or seen_at < ${lookedAt}::timestamptz) for update
    ), seen as (
      update payment set seen_status = ${status}, seen_at = ${lookedAt}::timestamptz from before
      where payment.intent_id = before.intent_id
    )
    ${insertLetters(deps, letters, wasProcessing)}`.execute(deps.database);
}
