import { isMembershipType, type MembershipType, type ProductType } from './product.ts';

/**
 * How the persons of two joins are related (docs/decisions/0011-a-person-is-a-row.md).
 * - `same`: one row of `person`. A personal code, a signed link, HubSpot or staff say so.
 * - `likely same`: two rows with equal keys (personKeys.ts). Nobody knows: a father and his son may share a name and an email.
 * - `other`: anybody else.
 */
export type Relation = 'same' | 'likely same' | 'other';

/** What has become of an earlier purchase of a membership. */
export type Purchase = 'paying' | 'paid' | 'disputed' | 'refunded';

/** A join that is about to buy a membership, or has just paid for one, beside an earlier purchase. */
export interface SecondPurchase {
  relation: Relation;
  first: { isProven: boolean; is: Purchase };
  /** Whether it is proven who the join is of: a personal code or a signed link names the person, or its pass was opened. */
  second: { isProven: boolean };
  /** Whether the browser of the second join holds the first one, too. */
  inSameBrowser: boolean;
}

/**
 * What Buy Now is answered.
 * - `sell`: the payment may begin.
 * - `wait`: the other payment is under way and may still succeed.
 * - `refuse`: the person has paid, even if the payment is disputed.
 * - `ask`: the joiner is asked whether this membership is for somebody else, and may then pay.
 */
export type Answer = 'sell' | 'wait' | 'refuse' | 'ask';

/**
 * Decides what Buy Now is answered, once {@link orderRefusal} has refused nothing. Of likely the same ones nothing is told in another
 * browser.
 */
export function answerToSecond({ relation, first, inSameBrowser }: SecondPurchase): Answer {
  if (relation === 'other' || first.is === 'refunded') return 'sell';
  if (relation === 'same') return first.is === 'paying' ? 'wait' : 'refuse';
  return inSameBrowser ? 'ask' : 'sell';
}

/**
 * What becomes of a second payment that has succeeded although the first did, too.
 * - `buys`: it buys its membership.
 * - `buys, staff are told`: it does, and staff decide: they merge the two persons, give one payment back, or keep them apart.
 * - `goes back`: all of it is refunded by itself, and staff are told.
 */
export type EndOfSecond = 'buys' | 'buys, staff are told' | 'goes back';

/**
 * Decides what becomes of a second payment. Only what is proven of one person on both sides goes back by itself. A first payment that
 * is still under way is the second one once it succeeds.
 */
export function endOfSecond({ relation, first, second }: Omit<SecondPurchase, 'inSameBrowser'>): EndOfSecond {
  if (relation === 'other' || first.is === 'refunded' || first.is === 'paying') return 'buys';
  return relation === 'same' && first.isProven && second.isProven ? 'goes back' : 'buys, staff are told';
}

/** What a person holds, and what HubSpot says of their contact. */
export interface Holdings {
  holdsMembership: boolean;
  holdsUpgrade: boolean;
  /** Whether HubSpot says that the contact is a member, and no join made HubSpot say so that merely found the contact by its email. */
  isMemberAtHubspot: boolean;
}

/** Whether a person is a member. */
export function isMember({ holdsMembership, isMemberAtHubspot }: Holdings): boolean {
  return holdsMembership || isMemberAtHubspot;
}

export type SaleRefusal = 'held already' | 'not a member';

/** Returns why a person may not buy a membership or an upgrade; null if they may. */
export function saleRefusal(type: MembershipType, holdings: Holdings): SaleRefusal | null {
  if (type === 'membership') return isMember(holdings) ? 'held already' : null;
  if (holdings.holdsUpgrade) return 'held already';
  return isMember(holdings) ? null : 'not a member';
}

/**
 * Returns why the membership or upgrade of an order may not be sold to a person; null if it may, or the order has none. An order has one
 * of them at most.
 */
export function orderRefusal(
  lines: readonly { type: ProductType }[],
  holdings: Holdings,
): SaleRefusal | null {
  const type = lines.map((line) => line.type).find(isMembershipType);
  return type === undefined ? null : saleRefusal(type, holdings);
}
