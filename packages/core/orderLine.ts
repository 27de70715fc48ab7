import { isMembershipType, type MembershipType, type ProductType } from './product.ts';

/**
 * A line of an order, with the name and price (cents) that the product had when the line was added. A snapshot keeps its lines
 * unchanged.
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

/** A line of an open order. `number` is the revision of the order that added the line, so it is unique in the order. */
export interface OpenLine extends OrderLine {
  number: number;
}

/**
 * The maximum number of revisions of an order; after that many, no line can be added. A line's number is the revision that added
 * the line, and must fit into the last 16 bits of the line's uuid.
 */
export const MOST_REVISIONS = 0xffff;
/** The maximum number of lines of an order. Nobody needs as many; the limit stops scripts. */
export const MOST_LINES = 50;

/** The lines of an order, and how often they were changed. */
export interface OpenOrder {
  lines: readonly OpenLine[];
  revision: number;
}

/** Returns the lines of an order with one line added; null if it has too many lines or was changed too often. */
export function withLine({ lines, revision }: OpenOrder, line: OrderLine): readonly OpenLine[] | null {
  if (lines.length >= MOST_LINES || revision >= MOST_REVISIONS) return null;
  return [...lines, { ...line, number: revision + 1 }];
}

/**
 * Returns the lines of an order with this membership first, in place of any membership or upgrade; null if it was changed too
 * often.
 */
export function withMembership(
  { lines, revision }: OpenOrder,
  membership: OrderLine,
): readonly OpenLine[] | null {
  if (revision >= MOST_REVISIONS) return null;
  return [{ ...membership, number: revision + 1 }, ...lines.filter((line) => !isMembershipLine(line))];
}

/**
 * Returns the uuid of a line: the session's uuid (version 4) with the version changed to 8, which is free for custom use (RFC
 * 9562, section 5.8), and the line's number in the last 16 bits. So the lines' uuids need not be stored.
 */
export function lineUuid(sessionUuid: string, number: number): string {
  const session = sessionUuid.toLowerCase();
  return `${session.slice(0, 14)}8${session.slice(15, 32)}${number.toString(16).padStart(4, '0')}`;
}

/**
 * Parses a line's uuid. Returns the line's number, and the first and the last uuid that the line's session can have: the last 16
 * bits of the session's uuid are unknown, since the line's number has taken their place. Returns null if the text is not the uuid
 * of a line.
 */
export function readLineUuid(uuid: string): { number: number; session: { from: string; to: string } } | null {
  if (uuid[14] !== '8') return null;
  const start = `${uuid.slice(0, 14)}4${uuid.slice(15, 32)}`;
  return {
    number: Number.parseInt(uuid.slice(32), 16),
    session: { from: `${start}0000`, to: `${start}ffff` },
  };
}
