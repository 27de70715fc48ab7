import { type RawBuilder, sql } from 'kysely';

/** The sum of a payment's refunds (cents) in these states, including what a lost dispute took. */
const refundedCents = (...states: ('due' | 'pending' | 'succeeded')[]) =>
  sql<number>`(select coalesce(sum(refund.amount_cents), 0) from refund
    where refund.intent_id = payment.intent_id and refund.status in (${sql.join(states.map((state) => sql.lit(state)))}))`;

/** SQL for whether Stripe has taken the refund of all of a query's `payment`, or a lost dispute has taken the money. */
export const isReturnedInFull: RawBuilder<boolean> = sql<boolean>`${refundedCents('pending', 'succeeded')} >= payment.amount_cents`;

/** SQL for whether all of a query's `payment` goes back without staff deciding anything more. */
export const goesBack: RawBuilder<boolean> = sql<boolean>`${refundedCents('due', 'pending', 'succeeded')} >= payment.amount_cents`;
