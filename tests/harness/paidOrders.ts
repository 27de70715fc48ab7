import type { OrderLine } from '#core/orderLine.ts';
import type { GivenBack, PaidOrder } from '#core/refunds.ts';

/** A line of the price of a membership. */
export const membership = (kind: 'join' | 'upgrade'): OrderLine => ({
  productId: kind === 'join' ? 1 : 10,
  type: kind === 'join' ? 'membership' : 'membership_upgrade',
  name: 'Membership',
  priceCents: 6500,
});
let uuids = 0;

/** A refund that was made in the dashboard, and that nobody has said anything of. */
export const outside = (amountCents: number, change: Partial<GivenBack> = {}): GivenBack => ({
  uuid: `${++uuids}`,
  amountCents,
  status: 'succeeded',
  lines: null,
  saidBy: null,
  ...change,
});
/** A store item whose product id is its price in cents. */
export const bought = (name: string, priceCents: number): OrderLine => ({
  productId: priceCents,
  type: 'store',
  name,
  priceCents,
});
export const paid = (
  lines: OrderLine[],
  refunds: GivenBack[],
  change: Partial<PaidOrder> = {},
): PaidOrder => ({
  intentId: 'pi',
  lines,
  amountCents: lines.reduce((sum, { priceCents }) => sum + priceCents, 0),
  refunds,
  dispute: null,
  processingFeeCents: 0,
  ...change,
});
