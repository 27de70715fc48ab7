import { sql } from 'kysely';
import { goesBack, isReturnedInFull } from '../session/goesBack.ts';
import type { Deps } from './deps.ts';

/**
 * A payment that bought nothing. `why` is `other_amount` if its amount differed from the order on the screen; otherwise `held`,
 * for example because the joiner already held the product. `amount` is in cents.
 */
export interface Duplicate {
  kind: 'join' | 'upgrade';
  why: 'held' | 'other_amount';
  amount: number;
  card: { brand: string; last4: string } | null;
  /**
   * Whether the money is back: Stripe has refunded all of the payment, or a lost dispute took it. If false, the refund is under
   * way, unless `isWithStaff` is true.
   */
  isReturned: boolean;
  /**
   * Whether the payment is refunded only when staff decide so: it was made again after a restore, or Stripe has refused its refund
   * for good.
   */
  isWithStaff: boolean;
}

/**
 * Returns duplicate payments, the oldest first. By `intentId`: only the payment with this intent. By `joinUuid`: those of a join.
 * By `uuid`: those of a join and of all other joins of its person.
 */
export async function duplicatesOf(
  deps: Deps,
  by: { intentId: string } | { joinUuid: string } | { uuid: string },
): Promise<Duplicate[]> {
  const which =
    'intentId' in by
      ? sql`intent_id = ${by.intentId}`
      : 'joinUuid' in by
        ? sql`session_uuid = ${by.joinUuid}`
        : sql`session_uuid in (
          select other.uuid from join_session own join join_session other on other.uuid = own.uuid or other.person_id = own.person_id
          where own.uuid = ${by.uuid})`;
  const { rows } = await sql<{
    kind: Duplicate['kind'];
    why: Duplicate['why'];
    amount_cents: number;
    card_brand: string | null;
    card_last4: string | null;
    is_returned: boolean;
    is_with_staff: boolean;
  }>`
    select case when items @> ${JSON.stringify([{ type: 'membership_upgrade' }])}::jsonb then 'upgrade' else kind end as kind,
      case when exists (select from refund where refund.intent_id = payment.intent_id and reason = 'unconfirmed') then 'other_amount' else 'held' end as why,
      payment.amount_cents, card_brand, card_last4, ${isReturnedInFull} as is_returned, not ${goesBack} as is_with_staff
    from payment left join order_snapshot snapshot using (session_uuid, kind, revision)
    where status = 'duplicate' and ${which} order by succeeded_at`.execute(deps.database);
  return rows.map(({ kind, why, amount_cents, card_brand, card_last4, is_returned, is_with_staff }) => ({
    kind,
    why,
    amount: amount_cents,
    card: card_last4 ? { brand: card_brand ?? 'Card', last4: card_last4 } : null,
    isReturned: is_returned,
    isWithStaff: is_with_staff,
  }));
}
