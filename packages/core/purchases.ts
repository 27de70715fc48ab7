import { isDonationType } from './product.ts';
import { centsBack, leftCents, type PaidOrder } from './refunds.ts';

/** What a join has bought, less what went back. Null: it never bought any; empty: all of it went back. */
export interface Purchases {
  /** Its name; the membership's standing is told apart from it, so that it stays when the membership ends. */
  membership: string | null;
  /** Its name while it is held. */
  upgrade: string | null;
  donationCents: number | null;
  /** Names, in the order in which they were added. */
  items: string[] | null;
}

/**
 * What the paid orders of a join come to. A line is gone when refunds that name it gave back all of its price, or when
 * all of its payment went back. `holdsUpgrade`: the upgrade that was bought has not ended.
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
