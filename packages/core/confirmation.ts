import type { ProductType } from './product.ts';
import { isHeld, type MembershipStanding } from './refunds.ts';

/** What the server knows when a payment succeeds, read while the payment's join and contact are locked. */
export interface PaymentFacts {
  kind: 'join' | 'upgrade';
  bought: ProductType;
  /** The amount received equals the amount of the order that was on the screen. */
  isAsShown: boolean;
  /** Status of our row of the payment; null when a crash prevented writing the row. */
  status: 'open' | 'succeeded' | 'canceled' | 'duplicate' | null;
  /** This payment's membership has been written already. */
  hasMembership: boolean;
  /** Another payment of this join for the same product succeeded before. */
  hasEarlier: boolean;
  /** Null for a join without a contact. */
  contactId: string | null;
  /** The types of membership that the contact holds, from any join; empty without a contact. */
  heldByContact: readonly ProductType[];
  /**
   * Whether the membership to be upgraded is held: by the join itself, or by its contact if a link sold the upgrade as a separate
   * join.
   */
  holdsBase: boolean;
  /** Null for a payment that is confirmed for the first time. */
  madeAgain: MadeAgain | null;
}

/** What Stripe tells of a payment that had been confirmed before a restore lost its row. */
export interface MadeAgain {
  /** The payment bought nothing, so all of it was refunded. */
  isReturned: boolean;
  /** The standing, by its refunds and disputes, of what the payment would buy. */
  standing: MembershipStanding;
  /** When it was paid. */
  paidAt: Date;
}

/**
 * What a succeeded payment buys. It always buys its product, however late it succeeds, unless the product is held already or an
 * upgrade's base membership is not held: then all of it is refunded, and `why` is the reason, as part of a sentence for staff.
 * `another amount`: the payment's amount is not that of the order on the screen, so it buys nothing. For a payment that is made
 * again: if its membership has ended since, another held membership does not matter; and its upgrade needs no held base.
 */
export type Confirmation =
  | { is: 'confirmed already' }
  | { is: 'given back already' }
  | { is: 'another amount' }
  | { is: 'unwanted'; why: string }
  | { is: 'wanted' };

export function confirmationOf(facts: PaymentFacts): Confirmation {
  if (facts.status === 'duplicate') return { is: 'given back already' };
  if (!facts.isAsShown) return { is: 'another amount' };
  if (facts.status === 'succeeded' && facts.hasMembership) return { is: 'confirmed already' };
  const { madeAgain } = facts;
  if (madeAgain?.isReturned) return { is: 'unwanted', why: 'bought nothing, and was given back for that.' };
  const what = facts.bought === 'membership' ? 'a membership' : 'a membership upgrade';
  if (facts.hasEarlier)
    return { is: 'unwanted', why: `was a second one for ${what} that this join has already paid for.` };
  const isTaken = facts.heldByContact.includes(facts.bought);
  if (isTaken && (madeAgain === null || isHeld(madeAgain.standing)))
    return {
      is: 'unwanted',
      why: `was for ${what} that contact ${facts.contactId} already holds by another join.`,
    };
  if (facts.bought === 'membership_upgrade' && !facts.holdsBase && madeAgain === null)
    return {
      is: 'unwanted',
      why:
        facts.kind === 'upgrade'
          ? 'was for the upgrade of a membership that has ended meanwhile.'
          : 'was for the upgrade of somebody who is not a member.',
    };
  return { is: 'wanted' };
}
