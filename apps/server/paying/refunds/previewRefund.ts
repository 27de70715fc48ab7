import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type Consequences, consequencesOf, type PaidOrder, type RefundPlan } from '#core/refunds.ts';
import { parcelOf } from '../../membership/orders.ts';
import type { Tables } from '../../platform/database/types.ts';
import type { Deps } from '../deps.ts';
import { type RefundRequest, readRequests } from './readRequests.ts';

/** What a refund would do besides giving back money, for the staff who decide on it. */
export interface RefundPreview extends Consequences {
  /** Where each refund would go. `card` is null if unknown. */
  cards: { intentId: string; card: { brand: string; last4: string } | null }[];
  /** Goods that would be refunded although they were sent already. */
  sent: { name: string; shippedAt: Date }[];
  /** Goods that would not be sent any more. */
  unsent: string[];
  /** The member's refund requests. Each says whether it is open and who declined it. */
  asked: RefundRequest[];
  /** Whether Induct would send a letter about each refund. */
  isTold: boolean;
}

/** Returns the other effects of a refund plan. `orders` are all orders that the plan was made for. Writes nothing. */
export async function previewRefund(
  { config, society }: Pick<Deps, 'config' | 'society'>,
  database: Kysely<Tables>,
  orders: readonly (PaidOrder & { sessionUuid: string })[],
  { refunds }: Pick<RefundPlan, 'refunds'>,
): Promise<RefundPreview> {
  const consequences = consequencesOf(orders, { refunds });
  const { rows: cards } = await sql<RefundPreview['cards'][number]>`
    select intent_id as "intentId", case when card_last4 is not null then
      json_build_object('brand', coalesce(card_brand, 'Card'), 'last4', card_last4) end as card
    from payment where intent_id = any(${refunds.map(({ intentId }) => intentId)}) order by created_at`.execute(
    database,
  );
  const goods = [];
  for (const uuid of new Set(orders.map(({ sessionUuid }) => sessionUuid)))
    goods.push(...((await parcelOf(database, society, uuid))?.goods ?? []));
  const returned = goods.filter(({ intentId, line }) =>
    refunds.some((refund) => refund.intentId === intentId && refund.lines.some((part) => part.line === line)),
  );
  return {
    ...consequences,
    cards,
    sent: returned.flatMap(({ name, state }) =>
      state.is === 'sent' ? [{ name, shippedAt: state.shipment.shippedAt }] : [],
    ),
    unsent: returned
      .filter(({ state }) => state.is === 'open' || state.is === 'held')
      .map(({ name }) => name),
    asked: await readRequests(
      database,
      orders.map(({ sessionUuid }) => sessionUuid),
    ),
    isTold: config.mail !== null,
  };
}

/** The parts of a preview that others may change while staff look at it: the goods sent and the member's requests. */
export type Beside = Pick<RefundPreview, 'sent' | 'asked'>;

/** Whether nothing of {@link Beside} has changed since the preview was shown. */
export function isAsSeen(seen: Beside, now: Beside): boolean {
  return isDeepStrictEqual([seen.sent, seen.asked], [now.sent, now.asked]);
}
