import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { shortName } from '../session/person.ts';
import { dayOf, receiptNotes } from '../society/texts.ts';
import type { Deps } from './deps.ts';

type Receipt = NonNullable<Data<'getWelcome'>['receipt']>;

/**
 * Returns the lines for which a join and its upgrade paid, with amounts in cents. The lines come from the confirmed snapshots,
 * because the catalogue may have changed since.
 */
export async function receiptOf(deps: Deps, uuid: string): Promise<Receipt> {
  const { rows } = await sql<{
    name: string | null;
    intent_id: string;
    succeeded_at: Date;
    items: OrderLine[];
    amount_cents: number;
    refunded_cents: number;
    card_brand: string | null;
    card_last4: string | null;
    by_pay_link: boolean;
    payer_name: string | null;
  }>`
    select ${shortName} as name,
      intent_id, succeeded_at, items, payment.amount_cents, refunded_cents, card_brand, card_last4, by_pay_link, payer_name
    from payment
      join order_snapshot snapshot using (session_uuid, kind, revision)
      join join_session session on session.uuid = session_uuid
      left join person on person.id = session.person_id
    where session_uuid = ${uuid} and payment.status = 'succeeded'
    order by succeeded_at`.execute(deps.database);
  return {
    name: rows[0]?.name ?? '',
    payments: rows.map((row) => ({
      reference: row.intent_id,
      paidAt: dayOf(deps.society, row.succeeded_at),
      lines: row.items.map(({ name, priceCents }) => ({ name, amount: priceCents })),
      amount: row.amount_cents,
      refunded: row.refunded_cents,
      card:
        row.card_last4 && !row.by_pay_link
          ? { brand: row.card_brand ?? 'Card', last4: row.card_last4 }
          : null,
      notes: receiptNotes(deps.society, row.items),
      paidBy: row.by_pay_link ? (row.payer_name ?? '') : null,
    })),
  };
}
