import { isDonationType } from './product.ts';
import { centsBack, leftCents, type PaidOrder } from './refunds.ts';

/**
 * The purchases of a join, less what was refunded. A field is null if the join never bought anything of its kind, and empty or 0
 * if everything of its kind was refunded.
 */
export interface Purchases {
  /** The membership's name. The name is kept after the membership has ended, because another CRM field has the status. */
  membership: string | null;
  /** The upgrade's name; empty after the upgrade has ended. */
  upgrade: string | null;
  donationCents: number | null;
  /** The names of the store items, in the order in which they were added. */
  items: string[] | null;
}

/**
 * Returns the purchases of a join's paid orders. Leaves out donations and store items of which all of the price, or all of the
 * payment, was refunded. `holdsUpgrade`: whether the upgrade is still held.
 */
export function purchasesOf(
  orders: readonly Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>[],
  holdsUpgrade: boolean,
): Purchases {
  const bought: Purchases = { membership: null, upgrade: null, donationCents: null, items: null };
  for (const order of orders) {
    const isAllBack = leftCents(order) === 0;
    for (const [at, { type, name, priceCents }] of order.lines.entries()) {
      const keptCents = isAllBack ? 0 : Math.max(0, priceCents - centsBack(order.refunds, at));
      if (type === 'membership') bought.membership = name;
      else if (type === 'membership_upgrade') bought.upgrade = holdsUpgrade ? name : '';
      else if (isDonationType(type)) bought.donationCents = (bought.donationCents ?? 0) + keptCents;
      else bought.items = [...(bought.items ?? []), ...(keptCents > 0 ? [name] : [])];
    }
  }
  return bought;
}
