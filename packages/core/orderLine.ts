import { isMembershipType, type MembershipType, type ProductType } from './product.ts';

/**
 * A line of an order, with the name and price (cents) of the day on which it was added. A snapshot keeps the line as it was paid.
 */
export interface OrderLine {
  productId: number;
  type: ProductType;
  name: string;
  priceCents: number;
}

/** Whether a line is the order's membership or upgrade. */
export function isMembershipLine(line: OrderLine): line is OrderLine & { type: MembershipType } {
  return isMembershipType(line.type);
}

/** A line of an open order. Its number is the revision of the order that added it, so no number is used twice. */
export interface OpenLine extends OrderLine {
  number: number;
}

/** The largest number that fits the last 16 bits of a line's uuid. An order with more revisions accepts no more lines. */
export const MOST_REVISIONS = 0xffff;

/**
 * Returns the uuid of a line: the session's uuid (version 4), made version 8, which is free for custom use (RFC 9562, section
 * 5.8), with the line's number in the last 16 bits. So a line is found without a table of lines.
 */
export function lineUuid(sessionUuid: string, number: number): string {
  const session = sessionUuid.toLowerCase();
  return `${session.slice(0, 14)}8${session.slice(15, 32)}${number.toString(16).padStart(4, '0')}`;
}

/**
 * Reads a line's uuid: the line's number, and a range of uuids in which its session is the only one. Null when it is not a line's
 * uuid.
 */
export function readLineUuid(uuid: string): { number: number; session: { from: string; to: string } } | null {
  if (uuid[14] !== '8') return null;
  const start = `${uuid.slice(0, 14)}4${uuid.slice(15, 32)}`;
  return {
    number: Number.parseInt(uuid.slice(32), 16),
    session: { from: `${start}0000`, to: `${start}ffff` },
  };
}
