import { type QueryCreator, type RawBuilder, sql, type Transaction } from 'kysely';
import { payerOfMetadata } from '#core/intentText.ts';
import type { Tables } from '../platform/database/types.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import type { NamedOrder } from './namedOrder.ts';

/** Records an intent as paid, and inserts its payment row if there is none. `paidAt`: the time of payment, if not now. */
export async function recordSuccess(
  trx: Transaction<Tables>,
  intent: Intent,
  named: NamedOrder,
  status: 'succeeded' | 'duplicate',
  paidAt?: Date,
): Promise<void> {
  await insertSuccess(trx, intent, named, status, paidAt).execute();
}

export function insertSuccess(
  database: QueryCreator<Tables>,
  intent: Intent,
  { uuid, kind, revision }: NamedOrder,
  status: 'succeeded' | 'duplicate',
  paidAt?: Date,
) {
  const settled = {
    status,
    amount_cents: intent.amountReceivedCents,
    revision,
    payment_method_id: intent.paymentMethodId,
    saves_card: intent.savesCard,
    card_brand: intent.card?.brand ?? null,
    card_last4: intent.card?.last4 ?? null,
    succeeded_at: paidAt ?? sql<Date>`now()`,
    updated_at: sql<Date>`now()`,
  };
  return database
    .insertInto('payment')
    .values({ ...unwritten(intent, { uuid, kind, revision }), ...settled })
    .onConflict((conflict) => conflict.column('intent_id').doUpdateSet(settled));
}

/**
 * Returns a new row for an intent whose row is missing because of a crash or a restore. Its `attempt` is one more than the
 * highest `attempt` of the same join and kind.
 */
export function unwritten(intent: Intent, { uuid, kind, revision }: NamedOrder) {
  const payerName = payerOfMetadata(intent.metadata);
  return {
    intent_id: intent.id,
    session_uuid: uuid,
    kind,
    attempt: nextAttempt(uuid, kind),
    client_secret: intent.clientSecret,
    customer_id: intent.customerId ?? '',
    amount_cents: intent.amountCents,
    revision,
    by_pay_link: payerName !== null,
    payer_name: payerName,
    ...(payerName !== null && { receipt_email: intent.receiptEmail }),
  };
}

/**
 * SQL for the next `attempt`: one more than the highest `attempt` of the same join and kind, whatever the outcomes of the earlier
 * tries to pay.
 */
export function nextAttempt(uuid: string, kind: NamedOrder['kind']): RawBuilder<number> {
  return sql<number>`(select coalesce(max(attempt), 0) + 1 from payment where session_uuid = ${uuid} and kind = ${kind})`;
}
