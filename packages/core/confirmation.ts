import type { ProductType } from './product.ts';
import { isHeld, type MembershipStanding } from './refunds.ts';

/** What the server knows when a payment has succeeded. It is read while the payment's join and contact are locked. */
export interface PaymentFacts {
  kind: 'join' | 'upgrade';
  bought: ProductType;
  /** Whether the amount received equals the total of the order that was on the screen. */
  isAsShown: boolean;
  /** The status in our row of the payment; null when a crash prevented the row from being written. */
  status: 'open' | 'succeeded' | 'canceled' | 'duplicate' | null;
  /** Whether the membership that this payment buys is already in the database. */
  hasMembership: boolean;
  /** Whether an earlier payment of this join for the same product has succeeded. */
  hasEarlier: boolean;
  /** The join's contact; null if it has none. */
  contactId: string | null;
  /** The product types of what the contact holds, from any join; empty without a contact. */
  heldByContact: readonly ProductType[];
  /** Whether the membership to be upgraded is held: by the same join or, for an upgrade by link, by the contact of its join. */
  holdsBase: boolean;
  /** Null when the payment is confirmed for the first time. */
  madeAgain: MadeAgain | null;
}

/** What Stripe says of a payment that had been confirmed before a restore and is now made again. */
export interface MadeAgain {
  /** Whether the payment bought nothing at that time and was therefore refunded. */
  isReturned: boolean;
  /** The standing of what the payment bought, as its refunds and disputes at Stripe imply. */
  standing: MembershipStanding;
  paidAt: Date;
}

/**
 * What a succeeded payment buys. However late it succeeds, it buys its product, unless the product is held already or an upgrade's
 * base membership is not held (`unwanted`): then all of it is refunded, and `why` is the reason, as part of a sentence for staff.
 * `another amount`: the payment's amount differs from the order on the screen, so that it buys nothing. A payment that is made
 * again has two exceptions: if its membership has ended since, another held membership does not matter, and its upgrade needs no
 * held base.
 */
export type Confirmation =
  | { is: 'confirmed already' }
  | { is: 'given back already' }
  | { is: 'another amount' }
  | { is: 'unwanted'; why: string }
  | { is: 'wanted' };

export function confirmationOf(facts: PaymentFacts): Confirmation {
  if (facts.status === 'duplicate') return { is: 'given back already' };
  // Not judged again: what the database has of the screen may be older than the payment, as after a restore.
  if (facts.status === 'succeeded' && facts.hasMembership) return { is: 'confirmed already' };
  if (!facts.isAsShown) return { is: 'another amount' };
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
