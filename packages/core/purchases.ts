import { isDonationType } from './product.ts';
import { centsBack, leftCents, type PaidOrder } from './refunds.ts';

/** What a join has bought, less what was refunded. Null: it never bought any; empty or 0: all of it was refunded. */
export interface Purchases {
  /** The membership's name. It stays when the membership ends, since its standing is a separate field. */
  membership: string | null;
  /** The upgrade's name while it is held. */
  upgrade: string | null;
  donationCents: number | null;
  /** Names, in the order in which they were added. */
  items: string[] | null;
}

/**
 * Sums up what the paid orders of a join bought. A line is gone when refunds that name it gave back all of its price, or when all
 * of its payment was refunded. `holdsUpgrade`: the upgrade that was bought has not ended.
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
