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

/** What was sent of a line. */
export interface Shipment {
  line: number;
  shippedAt: Date;
  shippedBy: string;
  note: string | null;
}

/** A payment that succeeded, with all that decides what of it is to be sent. */
export interface ShippedOrder {
  lines: readonly OrderLine[];
  /** What each line sends by post, or null. */
  goods: readonly (string | null)[];
  refunds: readonly Pick<GivenBack, 'amountCents' | 'status' | 'lines' | 'isDispute'>[];
  dispute: Dispute | null;
  /** Of the membership or upgrade that it bought. */
  standing: MembershipStanding | null;
  /** Of an upgrade: the membership that it upgrades has ended, and none has taken its place. */
  hasLostBase: boolean;
  shipments: readonly Shipment[];
}

/**
 * open: to be sent. held: staff decide, since the bank has the money for now, or some went back without saying what for.
 * ended: its money went back, so it is not to be sent. sent: it was; `isOwed` is false when its money went back afterwards.
 */
export type GoodsState =
  | { is: 'open' }
  | { is: 'held' | 'ended'; because: string }
  | { is: 'sent'; shipment: Shipment; isOwed: boolean };

export interface Goods {
  line: number;
  productId: number;
  /** What goes into the parcel. */
  name: string;
  state: GoodsState;
}

/**
 * What a product sends by post: a store item itself, of a membership or upgrade what the society's file says, or null.
 * `ships` gives the latter by product id.
 */
export function goodsOf(line: OrderLine, ships: (productId: number) => string | undefined): string | null {
  if (line.type === 'store') return line.name;
  return isMembershipType(line.type) ? (ships(line.productId) ?? null) : null;
}

/** The goods of a paid order, and how each stands. A line that was sent stays so, whatever went back later. */
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
  // Any refund of a membership or an upgrade has ended it, an item one of all of it.
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

/** What a parcel is addressed to; null where no street or city is known. */
export interface Address {
  address1: string;
  address2: string;
  city: string;
  state: string;
  zip: string;
  country: string;
}

type Fields<Name extends string> = { [name in Name]?: string | null };

/** The address that the joiner gave, else the contact's; null when neither has a street and a city. */
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
