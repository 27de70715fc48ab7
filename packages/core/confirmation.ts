import { endOfSecond, type Holdings, isMember } from './people.ts';
import type { ProductType } from './product.ts';
import { isHeld, type MembershipStanding } from './refunds.ts';

/** The facts that the server needs when a payment has succeeded. They are read while the payment's join and contact are locked. */
export interface PaymentFacts {
  kind: 'join' | 'upgrade';
  bought: ProductType;
  /** Whether the amount received equals the total of the order on the screen. */
  isAsShown: boolean;
  /** The status in our row of the payment; null if a crash or a restore has lost the row. */
  status: 'open' | 'succeeded' | 'canceled' | 'duplicate' | null;
  /** Whether the membership that this payment buys is already in the database. */
  hasMembership: boolean;
  /** Whether an earlier payment of the same kind has succeeded for this join. */
  hasEarlier: boolean;
  /** HubSpot's id of the join's person; null if there is none. */
  contactId: string | null;
  /** Whether it is proven who the joiner is. */
  isProven: boolean;
  /** The memberships and upgrades that the join's person holds by any join, and whether that join's joiner is proven. */
  held: readonly { type: ProductType; isProven: boolean }[];
  /** Whether the join holds a membership, which an upgrade right after the purchase extends. */
  isHeldByJoin: boolean;
  /** What the join's person holds, which an upgrade by link extends; null if the join is erased. */
  holdings: Holdings | null;
  /** Stripe's data on the payment if it is made again after a restore; null if the payment is confirmed for the first time. */
  madeAgain: MadeAgain | null;
}

/** Stripe's data on a payment that had been confirmed before a restore and is now made again. */
export interface MadeAgain {
  /** Whether the payment bought nothing when it was first confirmed, and was therefore refunded. */
  isReturned: boolean;
  /** The standing of the membership or upgrade that the payment bought, according to its refunds and disputes at Stripe. */
  standing: MembershipStanding;
  paidAt: Date;
}

/**
 * The decision about a succeeded payment. `wanted`: the payment buys its product, however late it succeeded. `confirmed already`
 * and `given back already`: it was decided before. In the other two cases it buys nothing, and all of it is refunded
 * automatically, unless it is made again after a restore:
 * - `unwanted`: an earlier payment of the join bought the product, the person holds it already, or an upgrade's base membership
 *   is not held. `why` is the reason, as part of a sentence for staff.
 * - `another amount`: the payment's amount differs from the order on the screen.
 *
 * A payment that is made again after a restore is judged differently in three ways:
 * - If it bought nothing the first time, it is `unwanted`.
 * - It buys an upgrade even if the upgrade's base membership is not held.
 * - It buys a product that the person already holds, if what this payment bought the first time has ended since.
 */
export type Confirmation =
  | { is: 'confirmed already' }
  | { is: 'given back already' }
  | { is: 'another amount' }
  | { is: 'unwanted'; why: string }
  | { is: 'wanted' };

export function confirmationOf(facts: PaymentFacts): Confirmation {
  if (facts.status === 'duplicate') return { is: 'given back already' };
  // A payment that was confirmed before is not judged again. After a restore, the database may have an older version of the
  // order, and the amount of this payment would then seem to be wrong.
  if (facts.status === 'succeeded' && facts.hasMembership) return { is: 'confirmed already' };
  if (!facts.isAsShown) return { is: 'another amount' };
  const { madeAgain } = facts;
  if (madeAgain?.isReturned) return { is: 'unwanted', why: 'bought nothing, and was given back for that.' };
  const what = facts.bought === 'membership' ? 'a membership' : 'a membership upgrade';
  if (facts.hasEarlier)
    return { is: 'unwanted', why: `was a second one for ${what} that this join has already paid for.` };
  const isTaken = facts.held.some(
    ({ type, isProven }) =>
      type === facts.bought &&
      endOfSecond({ relation: 'same', first: { isProven, is: 'paid' }, second: facts }) === 'goes back',
  );
  if (isTaken && (madeAgain === null || isHeld(madeAgain.standing)))
    return {
      is: 'unwanted',
      why: `was for ${what} that ${facts.contactId === null ? 'its person' : `contact ${facts.contactId}`} already holds by another join.`,
    };
  const isBaseHeld = facts.kind === 'upgrade' ? facts.isHeldByJoin : isMember(facts.holdings, 'staff');
  if (facts.bought === 'membership_upgrade' && !isBaseHeld && madeAgain === null)
    return {
      is: 'unwanted',
      why:
        facts.kind === 'upgrade'
          ? 'was for the upgrade of a membership that has ended meanwhile.'
          : 'was for the upgrade of somebody who is not a member.',
    };
  return { is: 'wanted' };
}
