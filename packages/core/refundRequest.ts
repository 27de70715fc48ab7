import { isDonationType, isMembershipType, type ProductType } from './product.ts';
import type { PaidOrder, RefundPlan, RefundWish } from './refunds.ts';

/** What members may request a refund of with a button. */
export const refundParts = ['membership', 'upgrade', 'donations', 'items'] as const;
export type RefundPart = (typeof refundParts)[number];

const partWords: Record<RefundPart, string> = {
  membership: 'the membership',
  upgrade: 'the upgrade',
  donations: 'donations',
  items: 'items that have not shipped yet',
};

/**
 * Returns the sentence about refunds for a member who changes their mind. `askDays`: how many days they have to ask; 0: never.
 */
export function changeOfMind({ askDays, gives }: { askDays: number; gives: readonly RefundPart[] }): string {
  const list = (parts: readonly RefundPart[]) =>
    new Intl.ListFormat('en').format(parts.map((part) => partWords[part]));
  const kept = refundParts.filter((part) => !gives.includes(part));
  if (askDays === 0) return '';
  return `If you change your mind, you can ask for a refund within ${askDays} days: ${list(gives)}.${kept.length > 0 ? ` Not refunded: ${list(kept)}.` : ''}`;
}

/** Returns what a refund request asks for: the parts that the society's terms refund, without goods that were sent by post. */
export function requestedWish(
  orders: readonly Pick<PaidOrder, 'intentId' | 'lines'>[],
  parts: readonly RefundPart[],
  wasSent: (intentId: string, line: number) => boolean,
): RefundWish {
  const isGiven = (type: ProductType) => parts.includes(isDonationType(type) ? 'donations' : 'items');
  const items = orders.flatMap(({ intentId, lines }) =>
    lines.flatMap(({ type, productId }, line) =>
      !isMembershipType(type) && isGiven(type) && !wasSent(intentId, line) ? [productId] : [],
    ),
  );
  const upgrade =
    parts.includes('upgrade') &&
    orders.some(({ lines }) => lines.some(({ type }) => type === 'membership_upgrade'));
  return { membership: parts.includes('membership'), ineligible: false, upgrade, items };
}

/** The requested parts, which are preselected for staff. `items`: donations and store items, by product id. */
export interface Asked {
  types: ('membership' | 'membership_upgrade')[];
  items: number[];
}

/** Returns the products that a refund plan refunds. */
export function askedIn(
  orders: readonly Pick<PaidOrder, 'intentId' | 'lines'>[],
  { refunds }: Pick<RefundPlan, 'refunds'>,
): Asked {
  const back = refunds.flatMap(({ intentId, lines }) => {
    const order = orders.find((each) => each.intentId === intentId)!;
    return lines.map(({ line }) => order.lines[line]!);
  });
  return {
    types: back.flatMap(({ type }) => (isMembershipType(type) ? [type] : [])),
    items: back.flatMap(({ type, productId }) => (isMembershipType(type) ? [] : [productId])),
  };
}

/** Returns the refund that staff make when they accept a request. */
export function acceptedWish({ types, items }: Asked): RefundWish {
  return {
    membership: types.includes('membership'),
    ineligible: false,
    upgrade: types.includes('membership_upgrade'),
    items,
  };
}

/** Returns why a member cannot request a refund here; null if they can. */
export function whyNotAsked({
  mayAsk,
  isDeclined,
  isAsked,
  plan: { refunds, disputed },
  isOver,
}: {
  mayAsk: boolean;
  isDeclined: boolean;
  isAsked: boolean;
  plan: Pick<RefundPlan, 'refunds' | 'disputed'>;
  isOver: boolean;
}): string | null {
  if (!mayAsk) return NOT_OFFERED.elsewhere;
  if (isDeclined) return NOT_OFFERED.declined;
  if (isAsked) return NOT_OFFERED.asked;
  if (refunds.length === 0) return disputed.length > 0 ? NOT_OFFERED.disputed : NOT_OFFERED.nothing;
  return isOver ? NOT_OFFERED.over : null;
}

/** Returns the lines of these orders that a plan does not refund, and the parts of lines that are kept. Amounts are cents. */
export function keptLines(
  orders: readonly Pick<PaidOrder, 'intentId' | 'lines'>[],
  { refunds }: Pick<RefundPlan, 'refunds'>,
): { name: string; amount: number }[] {
  return orders.flatMap(({ intentId, lines }) => {
    const back = refunds.find((refund) => refund.intentId === intentId)?.lines ?? [];
    return lines.flatMap(({ name, priceCents }, line) => {
      const amount = priceCents - (back.find((part) => part.line === line)?.cents ?? 0);
      return amount > 0 ? [{ name, amount }] : [];
    });
  });
}

export const NOT_OFFERED = {
  over: 'The time to ask for a refund here has passed. Please write to us.',
  nothing: 'There is nothing to refund.',
  disputed: 'Your bank is already handling a dispute about this payment, so the decision is theirs.',
  asked: 'You have already asked for a refund.',
  declined: 'We have already answered your request. Please write to us if something is not right.',
  elsewhere: 'For your safety, only the member can ask for a refund. If that is you, please prove it first.',
} as const;
