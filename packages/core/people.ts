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

/** What is known of whether a person is a member. */
export interface Holdings {
  holdsMembership: boolean;
  holdsUpgrade: boolean;
  /** Whether HubSpot says that the contact is a member. After a membership bought here has ended, only a later word of HubSpot counts. */
  isMemberAtHubspot: boolean;
  /** Whether a join made the contact. Otherwise the society did. */
  isMadeByJoin: boolean;
  /** Whether a join of theirs was paid whose joiner is proven. */
  hasPaidProven: boolean;
}

/**
 * To whom it is answered whether a person is a member.
 * - `code`: whoever has a code or a signed link of theirs. Purchases of a person who {@link isOfUnproven} do not count, since a stranger
 *   may have typed the name and email.
 * - `joiner`: the joiner of a join of theirs. HubSpot's status of a contact that a join made does not count, since a relative with the
 *   same name and email may have caused it.
 * - `staff`: everything counts.
 */
export type Asker = 'code' | 'joiner' | 'staff';

/** Whether a person is known by unproven joins alone: one of them made the contact, and no proven one was paid. */
export function isOfUnproven({ isMadeByJoin, hasPaidProven }: Holdings): boolean {
  return isMadeByJoin && !hasPaidProven;
}

/** Whether a person is a member. Nobody knows the person of a school's code yet: null is no member. */
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

/** Whether a person is a member by HubSpot's word alone, which may be out of date. */
export function isMemberByHubspotAlone(person: Holdings | null): boolean {
  return isMember(person, 'staff') && !person?.holdsMembership;
}

/** Whether what another join did is told to the joiner of a join: to one who is proven, only what is proven. */
export function countsFor(other: { isProven: boolean }, own: { isProven: boolean }): boolean {
  return other.isProven || !own.isProven;
}

/** What is known of the membership that an upgrade extends. */
export interface BaseFacts {
  /** Whether the join that bought the upgrade holds a membership. */
  isHeldByJoin: boolean;
  /** Whether the join or its person has ever bought a membership here. */
  wasBoughtHere: boolean;
  /** Null if the join is erased. */
  holdings: Holdings | null;
}

/** Returns what has become of the base of an upgrade. `lost`: it was bought here and has ended, and no other has replaced it. */
export function baseOf({ isHeldByJoin, wasBoughtHere, holdings }: BaseFacts): 'held' | 'lost' | 'unknown' {
  if (isHeldByJoin || isMember(holdings, 'staff')) return 'held';
  return wasBoughtHere ? 'lost' : 'unknown';
}

export type SaleRefusal = 'held already' | 'not a member';

/** Returns why a person may not buy a membership or an upgrade; null if they may. An upgrade is sold to every member. */
export function saleRefusal(type: MembershipType, person: Holdings, asker: Asker): SaleRefusal | null {
  if (type === 'membership') return isMember(person, asker) ? 'held already' : null;
  if (person.holdsUpgrade) return 'held already';
  return isMember(person, 'staff') ? null : 'not a member';
}

/**
 * Returns why the membership or upgrade of an order may not be sold to its joiner; null if it may, or the order has none. An order has
 * one of them at most.
 */
export function orderRefusal(lines: readonly { type: ProductType }[], joiner: Holdings): SaleRefusal | null {
  const type = lines.map((line) => line.type).find(isMembershipType);
  return type === undefined ? null : saleRefusal(type, joiner, 'joiner');
}

/** A join by which something is held. */
export interface Held {
  uuid: string;
  type: MembershipType;
}

/** A join (`uuid`) with the types of membership that other joins of the same contact (`others`) hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

/** Returns the joins of one person by which a type is held that another person holds, too. */
export function twiceHeld(from: readonly Held[], into: readonly Held[]): HeldTwice[] {
  const isTwice = ({ type }: Held) => into.some((theirs) => theirs.type === type);
  return [...Map.groupBy(from.filter(isTwice), ({ uuid }) => uuid)].map(([uuid, held]) => {
    const types = held.map(({ type }) => type);
    const others = into.flatMap((theirs) => (types.includes(theirs.type) ? [theirs.uuid] : []));
    return { uuid, types, others: [...new Set(others)] };
  });
}
