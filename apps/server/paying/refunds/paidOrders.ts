import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { GivenBack, PaidOrder } from '#core/refunds.ts';
import type { Tables } from '../../platform/database/types.ts';
import type { Deps } from '../deps.ts';

/**
 * A payment that succeeded or is a duplicate, in the form that the refund rules use. `kind` is whether the payment was for the join
 * itself or for its upgrade.
 */
export interface SettledOrder extends PaidOrder {
  sessionUuid: string;
  kind: 'join' | 'upgrade';
  status: 'succeeded' | 'duplicate';
}

/**
 * Reads those of the payments with these ids that are duplicates, or that succeeded and have a stored order. A duplicate has no
 * lines if a restore has lost its order.
 */
export async function paidOrders(
  { society }: Pick<Deps, 'society'>,
  database: Kysely<Tables>,
  intentIds: readonly string[],
): Promise<SettledOrder[]> {
  const { rows } = await sql<
    Omit<SettledOrder, 'processingFeeCents'> & { programme: string; processingFeeCents: number | null }
  >`
    select payment.intent_id as "intentId", payment.session_uuid as "sessionUuid", payment.kind, payment.status, coalesce(items, '[]') as lines,
      payment.amount_cents as "amountCents", dispute, ${refundsOfPayment} as refunds,
      processing_fee_cents as "processingFeeCents",
      (select programme from join_session where uuid = payment.session_uuid) as programme
    from payment left join order_snapshot snapshot using (session_uuid, kind, revision)
    where payment.intent_id = any(${intentIds}) and (status = 'duplicate' or (status = 'succeeded' and items is not null))
    order by payment.kind, payment.succeeded_at`.execute(database);
  return rows.map(({ programme, processingFeeCents, ...order }) => ({
    ...order,
    processingFeeCents: processingFeeCents ?? society.programme(programme).processingFeeCents,
  }));
}

/** SQL for the refunds of the query's `payment` as {@link GivenBack}s, the oldest first. */
export const refundsOfPayment: RawBuilder<GivenBack[]> = sql`coalesce((
  select json_agg(json_build_object('uuid', refund.uuid, 'amountCents', refund.amount_cents, 'status', refund.status,
    'lines', refund.lines, 'refusal', refund.refusal, 'isDispute', refund.is_dispute,
    'assignedBy', case when reason <> 'dashboard' then 'us' when assigned_at is not null then 'staff' end)
    order by refund.created_at, refund.uuid)
  from refund where refund.intent_id = payment.intent_id), '[]')`;
