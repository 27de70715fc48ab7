import type { OrderLine } from '#core/orderLine.ts';
import type { GivenBack, PaidOrder } from '#core/refunds.ts';

/** Returns an order line for a membership or an upgrade. */
export const membership = (kind: 'join' | 'upgrade'): OrderLine => ({
  productId: kind === 'join' ? 1 : 10,
  type: kind === 'join' ? 'membership' : 'membership_upgrade',
  name: 'Membership',
  priceCents: 6500,
});
let uuids = 0;

/** Returns a refund that was made in the dashboard and is not assigned. */
export const outside = (amountCents: number, change: Partial<GivenBack> = {}): GivenBack => ({
  uuid: `${++uuids}`,
  amountCents,
  status: 'succeeded',
  lines: null,
  assignedBy: null,
  ...change,
});
/** Returns a store item whose product id equals its price in cents. */
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
