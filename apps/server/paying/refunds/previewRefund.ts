import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type Consequences, consequencesOf, type PaidOrder, type RefundPlan } from '#core/refunds.ts';
import { parcelOf } from '../../membership/orders.ts';
import type { Tables } from '../../platform/database/types.ts';
import type { Deps } from '../deps.ts';
import { type RefundRequest, readRequests } from './readRequests.ts';

/** All that a refund would do, for whoever decides it. */
export interface RefundPreview extends Consequences {
  /** Where each refund would go. `card` is null if Stripe has not told it. */
  cards: { intentId: string; card: { brand: string; last4: string } | null }[];
  /** Goods that were sent already, though their money would go back. */
  sent: { name: string; shippedAt: Date }[];
  /** Goods that would not be sent any more. */
  unsent: string[];
  /** What the member has asked for back, and whether staff have declined it. */
  asked: RefundRequest[];
  /** Whether the payer would get a letter from here about each refund. */
  isTold: boolean;
}

/** Returns what a plan would do beside the refunds themselves. `orders` are all orders that the plan was made for. Writes nothing. */
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

/** What may change beside a refund, at the same moment: what staff have sent, what the member has asked for, and who declined it. */
export type Beside = Pick<RefundPreview, 'sent' | 'asked'>;

/** Whether nothing of {@link Beside} has changed since a refund was shown. */
export function isAsSeen(seen: Beside, now: Beside): boolean {
  return isDeepStrictEqual([seen.sent, seen.asked], [now.sent, now.asked]);
}
