import { type RawBuilder, sql } from 'kysely';

/** SQL for the sum (cents) of the refunds in these states of the query's `payment`, including amounts that lost disputes took. */
const refundedCents = (...states: ('due' | 'pending' | 'succeeded')[]) =>
  sql<number>`(select coalesce(sum(refund.amount_cents), 0) from refund
    where refund.intent_id = payment.intent_id and refund.status in (${sql.join(states.map((state) => sql.lit(state)))}))`;

/**
 * SQL for whether all of the query's `payment` has been refunded by Stripe or lost in disputes. A refund that is still pending at
 * Stripe counts as refunded.
 */
export const isReturnedInFull: RawBuilder<boolean> = sql<boolean>`${refundedCents('pending', 'succeeded')} >= payment.amount_cents`;

/**
 * SQL for whether all of the query's `payment` is refunded, lost in disputes or due to be refunded. If so, staff have nothing
 * more to decide.
 */
export const goesBack: RawBuilder<boolean> = sql<boolean>`${refundedCents('due', 'pending', 'succeeded')} >= payment.amount_cents`;
