import type { ProductType } from './product.ts';

/** What stands beside a payment that succeeded, read while its join and its contact are locked. */
export interface PaymentFacts {
  kind: 'join' | 'upgrade';
  bought: ProductType;
  /** How our row of the payment stands; null when a crash kept us from writing it. */
  status: 'open' | 'succeeded' | 'canceled' | 'duplicate' | null;
  /** It has bought its membership already. */
  hasMembership: boolean;
  /** Another payment of this join for the same thing succeeded before it. */
  hasEarlier: boolean;
  /** Null for a join that names nobody. */
  contactId: string | null;
  /** The types of membership that the contact holds, by whatever join; none where nobody is named. */
  heldByContact: readonly ProductType[];
  /**
   * The membership that an upgrade is for is held: by the join itself, or, where a link sold the upgrade as a join of its
   * own, by its contact.
   */
  holdsBase: boolean;
}

/**
 * What a payment that succeeded buys. A success always confirms, however late, unless what it is for is held already or
 * has ended: then all of it goes back, and `unwanted` says why, as a part of a sentence to staff.
 */
export type Confirmation =
  | { is: 'confirmed already' }
  | { is: 'given back already' }
  | { is: 'unwanted'; why: string }
  | { is: 'wanted' };

export function confirmationOf(facts: PaymentFacts): Confirmation {
  if (facts.status === 'duplicate') return { is: 'given back already' };
  if (facts.status === 'succeeded' && facts.hasMembership) return { is: 'confirmed already' };
  const what = facts.kind === 'join' ? 'a membership' : 'a membership upgrade';
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
