import type { ProductType } from './product.ts';

/** What else is known when a payment succeeds, read while its join and its contact are locked. */
export interface PaymentFacts {
  kind: 'join' | 'upgrade';
  bought: ProductType;
  /** Status of our row of the payment; null when a crash prevented writing it. */
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
   * The membership to be upgraded is held: by the join itself, or by its contact when a link sold the upgrade as a join of its
   * own.
   */
  holdsBase: boolean;
}

/**
 * What a succeeded payment buys. A success always confirms, however late, unless its product is held already or the join has
 * ended: then all of it is refunded, and `unwanted` is the reason, as part of a sentence for staff.
 */
export type Confirmation =
  | { is: 'confirmed already' }
  | { is: 'given back already' }
  | { is: 'unwanted'; why: string }
  | { is: 'wanted' };

export function confirmationOf(facts: PaymentFacts): Confirmation {
  if (facts.status === 'duplicate') return { is: 'given back already' };
  if (facts.status === 'succeeded' && facts.hasMembership) return { is: 'confirmed already' };
  const what = facts.bought === 'membership' ? 'a membership' : 'a membership upgrade';
  if (facts.hasEarlier)
    return { is: 'unwanted', why: `was a second one for ${what} that this join has already paid for.` };
  if (facts.heldByContact.includes(facts.bought))
    return {
      is: 'unwanted',
      why: `was for ${what} that contact ${facts.contactId} already holds by another join.`,
    };
  if (facts.bought === 'membership_upgrade' && !facts.holdsBase)
    return {
      is: 'unwanted',
      why:
        facts.kind === 'upgrade'
          ? 'was for the upgrade of a membership that has ended meanwhile.'
          : 'was for the upgrade of somebody who is not a member.',
    };
  return { is: 'wanted' };
}
