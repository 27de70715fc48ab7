import type { OrderLine } from './orderLine.ts';
import { isMembershipType } from './product.ts';
import {
  centsBack,
  counts,
  type Dispute,
  type GivenBack,
  goneCents,
  isHeld,
  isLostWhole,
  type MembershipStanding,
} from './refunds.ts';

/** The record that the goods of an order line were sent. */
export interface Shipment {
  line: number;
  shippedAt: Date;
  shippedBy: string;
  note: string | null;
}

/** A payment that succeeded, with everything that decides which of its goods are to be sent. */
export interface ShippedOrder {
  lines: readonly OrderLine[];
  /** The name of the goods of each line; null for a line without goods. */
  goods: readonly (string | null)[];
  refunds: readonly Pick<GivenBack, 'amountCents' | 'status' | 'lines' | 'isDispute'>[];
  dispute: Dispute | null;
  /** The standing of the membership or upgrade that the payment bought; null if it bought neither. */
  standing: MembershipStanding | null;
  /** Whether the payment bought an upgrade whose base membership has ended without a replacement. */
  hasLostBase: boolean;
  shipments: readonly Shipment[];
}

/**
 * The state of goods:
 * - `open`: to be sent.
 * - `held`: staff must decide, because the payment is disputed, the upgrade's base membership has ended, or part of the payment
 *   was refunded and it is unknown for which lines.
 * - `ended`: not to be sent, because the money was refunded or lost in a dispute, or the membership has ended.
 * - `sent`: already sent. `isOwed` is false if the goods would now be `ended`, had they not been sent.
 */
export type GoodsState =
  | { is: 'open' }
  | { is: 'held' | 'ended'; because: string }
  | { is: 'sent'; shipment: Shipment; isOwed: boolean };

export interface Goods {
  line: number;
  productId: number;
  name: string;
  state: GoodsState;
}

/** Returns the state of goods in words for staff. `dayOf` formats a day for the page or command that shows it. */
export function goodsWords(state: GoodsState, dayOf: (time: Date) => string): string {
  switch (state.is) {
    case 'open':
      return 'to send';
    case 'held':
      return `held: ${state.because}`;
    case 'ended':
      return `not to be sent: ${state.because}`;
    case 'sent': {
      const { shippedAt, shippedBy, note } = state.shipment;
      const back = state.isOwed ? '' : ', and its money went back since';
      return `sent on ${dayOf(shippedAt)} by ${shippedBy}${note ? ` (${note})` : ''}${back}`;
    }
  }
}

/** Returns the state of goods in words for the member. A note by staff is, for example, a tracking number. */
export function goodsWordsForMember(state: GoodsState, dayOf: (time: Date) => string): string {
  switch (state.is) {
    case 'open':
      return 'has not shipped yet';
    case 'held':
      return 'is on hold until we write to you';
    case 'ended':
      return 'will not be shipped';
    case 'sent': {
      const { shippedAt, note } = state.shipment;
      return `was sent on ${dayOf(shippedAt)}${note ? ` (${note})` : ''}`;
    }
  }
}

/**
 * Returns the name of the goods of a line; null for a line without goods. For a store item, this is the product's name. For a
 * membership or upgrade, it is what the society file says that the product `ships`; `ships` looks that up by product id.
 */
export function goodsOf(line: OrderLine, ships: (productId: number) => string | undefined): string | null {
  if (line.type === 'store') return line.name;
  return isMembershipType(line.type) ? (ships(line.productId) ?? null) : null;
}

/** Returns the goods of a paid order, each with its state. Goods that were sent are `sent`, even if they are refunded later. */
export function goodsOfOrder(order: ShippedOrder): Goods[] {
  return order.lines.flatMap((paid, line) => {
    const name = order.goods[line] ?? null;
    if (name === null) return [];
    const owed = owes(order, paid, line);
    const shipment = order.shipments.find((sent) => sent.line === line);
    const state: GoodsState = shipment ? { is: 'sent', shipment, isOwed: owed.is !== 'ended' } : owed;
    return [{ line, productId: paid.productId, name, state }];
  });
}

type Owed = Exclude<GoodsState, { is: 'sent' }>;

function owes(
  { lines, refunds, dispute, standing, hasLostBase }: ShippedOrder,
  paid: OrderLine,
  line: number,
): Owed {
  const lost: Owed = { is: 'ended', because: 'a dispute over its money was lost' };
  if (isLostWhole({ refunds, dispute })) return lost;
  const taken = refunds.filter((refund) => refund.isDispute && counts(refund));
  const back = centsBack(refunds, line);
  // Any refund of a membership or upgrade ends it. A store item counts as refunded only when its whole price was refunded.
  if (isMembershipType(paid.type) ? back > 0 : back >= paid.priceCents)
    return centsBack(taken, line) > 0 ? lost : { is: 'ended', because: 'refunded' };
  const total = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  if (goneCents(refunds) >= total) return taken.length > 0 ? lost : { is: 'ended', because: 'refunded' };
  if (isMembershipType(paid.type) && (standing === null || !isHeld(standing)))
    return { is: 'ended', because: 'its membership has ended' };
  if (hasLostBase && isMembershipType(paid.type))
    return { is: 'held', because: 'the membership that it upgrades has ended' };
  if (dispute === 'open') return { is: 'held', because: 'its payment is disputed' };
  if (refunds.some((refund) => counts(refund) && refund.lines === null))
    return { is: 'held', because: 'some of its payment went back without saying what for' };
  return { is: 'open' };
}

/** The postal address for a parcel. */
export interface Address {
  address1: string;
  address2: string;
  city: string;
  state: string;
  zip: string;
  country: string;
}

/** Returns an address on one line. */
export function addressLine(address: Address): string {
  return Object.values(address).filter(Boolean).join(', ');
}

type Fields<Name extends string> = { [name in Name]?: string | null };

/**
 * Returns the postal address: that of the joiner's details if they have both a street and a city, otherwise that of the contact
 * under the same condition; null if neither has both.
 */
export function addressFrom(
  details: Fields<'address1' | 'address2' | 'city' | 'state' | 'zipcode' | 'country'> | null,
  profile: Fields<'address' | 'address2' | 'city' | 'state' | 'zip' | 'country'> | null,
): Address | null {
  const given = [
    details && { ...details, zip: details.zipcode },
    profile && { ...profile, address1: profile.address },
  ];
  for (const one of given)
    if (one?.address1 && one.city)
      return {
        address1: one.address1,
        address2: one.address2 ?? '',
        city: one.city,
        state: one.state ?? '',
        zip: one.zip ?? '',
        country: one.country ?? '',
      };
  return null;
}
