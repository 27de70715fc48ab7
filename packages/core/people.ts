import { isMembershipType, type MembershipType, type ProductType } from './product.ts';

/**
 * How the persons of two joins are related (docs/decisions/0011-a-person-is-a-row.md).
 * - `same`: one row of `person`, because of a personal code, a signed link, HubSpot or staff.
 * - `likely same`: two rows with equal keys (personKeys.ts). It is unknown whether they are one person: a father and his son may
 *   share a name and an email.
 * - `other`: all other cases.
 */
export type Relation = 'same' | 'likely same' | 'other';

/** The state of an earlier purchase of a membership. */
export type Purchase = 'paying' | 'paid' | 'disputed' | 'refunded';

/** A join that is about to buy a membership, or has just paid for one, although there is an earlier purchase. */
export interface SecondPurchase {
  relation: Relation;
  first: { isProven: boolean; is: Purchase };
  /** Whether it is proven who the joiner is: a personal code or a signed link names the person, or the join's pass was opened. */
  second: { isProven: boolean };
  /** Whether the browser of the second join also holds the first join. */
  inSameBrowser: boolean;
}

/**
 * What happens when the joiner presses Buy Now.
 * - `sell`: the payment may begin.
 * - `wait`: the other payment is in progress and may still succeed.
 * - `refuse`: the person has paid, even if the payment is disputed.
 * - `ask`: the joiner is asked whether this membership is for somebody else, and may then pay.
 */
export type Answer = 'sell' | 'wait' | 'refuse' | 'ask';

/**
 * Decides what happens on Buy Now, once {@link orderRefusal} has allowed the order. A browser that does not hold the first join
 * learns nothing about a purchase by a person who is only likely the same.
 */
export function answerToSecond({ relation, first, inSameBrowser }: SecondPurchase): Answer {
  if (relation === 'other' || first.is === 'refunded') return 'sell';
  if (relation === 'same') return first.is === 'paying' ? 'wait' : 'refuse';
  return inSameBrowser ? 'ask' : 'sell';
}

/**
 * What happens to a second payment that has succeeded although the first payment has succeeded too.
 * - `buys`: it buys its membership.
 * - `buys, staff are told`: it buys its membership, and staff decide whether to merge the two persons, refund one payment, or
 *   keep the persons apart.
 * - `goes back`: all of it is refunded automatically, and staff are notified.
 */
export type EndOfSecond = 'buys' | 'buys, staff are told' | 'goes back';

/**
 * Decides what happens to a second payment. It is refunded automatically only if both joins are proven to be of the same person.
 * If the first payment is still in progress, the second one buys; the first is judged as the second once it succeeds.
 */
export function endOfSecond({ relation, first, second }: Omit<SecondPurchase, 'inSameBrowser'>): EndOfSecond {
  if (relation === 'other' || first.is === 'refunded' || first.is === 'paying') return 'buys';
  return relation === 'same' && first.isProven && second.isProven ? 'goes back' : 'buys, staff are told';
}

/** The facts that decide whether a person is a member. */
export interface Holdings {
  holdsMembership: boolean;
  holdsUpgrade: boolean;
  /**
   * Whether HubSpot lists the contact as a member. After a membership bought here has ended, this counts only if HubSpot's status
   * changed later.
   */
  isMemberAtHubspot: boolean;
  /** Whether a join created the contact. Otherwise the society created it. */
  isMadeByJoin: boolean;
  /** Whether the person has a paid join whose joiner is proven. */
  hasPaidProven: boolean;
}

/**
 * Who asks whether a person is a member.
 * - `code`: somebody who has a code or a signed link of the person. Purchases of a person who {@link isOfUnproven} do not count,
 *   since a stranger may have typed the name and email.
 * - `joiner`: the joiner of one of the person's joins. HubSpot's status of a contact that a join created does not count, since a
 *   relative with the same name and email may have caused it.
 * - `staff`: everything counts.
 */
export type Asker = 'code' | 'joiner' | 'staff';

/** Whether a person is known only from unproven joins: one of them created the contact, and no proven join was paid. */
export function isOfUnproven({ isMadeByJoin, hasPaidProven }: Holdings): boolean {
  return isMadeByJoin && !hasPaidProven;
}

/** Whether a person is a member. False for null: an erased join, or a school's code, whose joiner is not known yet. */
export function isMember(person: Holdings | null, asker: Asker): boolean {
  if (person === null) return false;
  const { holdsMembership, isMemberAtHubspot, isMadeByJoin } = person;
  switch (asker) {
    case 'code':
      return isMemberAtHubspot || (holdsMembership && !isOfUnproven(person));
    case 'joiner':
      return holdsMembership || (isMemberAtHubspot && !isMadeByJoin);
    case 'staff':
      return holdsMembership || isMemberAtHubspot;
  }
}

/** Whether a person is a member only according to HubSpot, which may be out of date. */
export function isMemberByHubspotAlone(person: Holdings | null): boolean {
  return isMember(person, 'staff') && !person?.holdsMembership;
}

/** Whether a joiner may learn what happened in another join. A proven joiner learns only about proven joins. */
export function countsFor(other: { isProven: boolean }, own: { isProven: boolean }): boolean {
  return other.isProven || !own.isProven;
}

/** What is known about the membership that an upgrade extends. */
export interface BaseFacts {
  /** Whether the join that bought the upgrade holds a membership. */
  isHeldByJoin: boolean;
  /** Whether the join or its person has ever bought a membership here. */
  wasBoughtHere: boolean;
  /** Null if the join is erased. */
  holdings: Holdings | null;
}

/**
 * Returns the state of an upgrade's base membership. `lost`: it was bought here and has ended, and no other membership has
 * replaced it.
 */
export function baseOf({ isHeldByJoin, wasBoughtHere, holdings }: BaseFacts): 'held' | 'lost' | 'unknown' {
  if (isHeldByJoin || isMember(holdings, 'staff')) return 'held';
  return wasBoughtHere ? 'lost' : 'unknown';
}

export type SaleRefusal = 'held already' | 'not a member';

/**
 * Returns why a person may not buy a membership or an upgrade; null if they may. For an upgrade, everything counts as membership,
 * whoever asks.
 */
export function saleRefusal(type: MembershipType, person: Holdings, asker: Asker): SaleRefusal | null {
  if (type === 'membership') return isMember(person, asker) ? 'held already' : null;
  if (person.holdsUpgrade) return 'held already';
  return isMember(person, 'staff') ? null : 'not a member';
}

/**
 * Returns why the membership or upgrade of an order may not be sold to its joiner; null if it may, or if the order has neither.
 * An order has at most one of them.
 */
export function orderRefusal(lines: readonly { type: ProductType }[], joiner: Holdings): SaleRefusal | null {
  const type = lines.map((line) => line.type).find(isMembershipType);
  return type === undefined ? null : saleRefusal(type, joiner, 'joiner');
}

/** A join that holds a membership or upgrade of a type. */
export interface Held {
  uuid: string;
  type: MembershipType;
}

/** A join (`uuid`) of one person, with the types of membership that joins of the other person (`others`) hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

/** Returns the joins of one person that hold a type of membership that another person holds as well. */
export function twiceHeld(from: readonly Held[], into: readonly Held[]): HeldTwice[] {
  const isTwice = ({ type }: Held) => into.some((theirs) => theirs.type === type);
  return [...Map.groupBy(from.filter(isTwice), ({ uuid }) => uuid)].map(([uuid, held]) => {
    const types = held.map(({ type }) => type);
    const others = into.flatMap((theirs) => (types.includes(theirs.type) ? [theirs.uuid] : []));
    return { uuid, types, others: [...new Set(others)] };
  });
}
