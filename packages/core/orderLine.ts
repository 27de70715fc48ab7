import type { ProductType } from './product.ts';

/** A line of an order, with the name and price (cents) of the day on which it was added. A snapshot keeps it as it was paid. */
export interface OrderLine {
  productId: number;
  type: ProductType;
  name: string;
  priceCents: number;
}

/** A line of an order that is open. Its number is the order's revision that added it, so none is ever given twice. */
export interface OpenLine extends OrderLine {
  number: number;
}

/** The last 16 bits of a line's uuid: an order that was changed more often takes no more lines. */
export const MOST_REVISIONS = 0xffff;

/**
 * The uuid of a line is that of its session (version 4) as one of version 8, which is for meanings of one's own (RFC 9562,
 * section 5.8), with the line's number in its last 16 bits: so a line is found without a table of lines.
 */
export function lineUuid(sessionUuid: string, number: number): string {
  const session = sessionUuid.toLowerCase();
  return `${session.slice(0, 14)}8${session.slice(15, 32)}${number.toString(16).padStart(4, '0')}`;
}

/** The session is the only one between two uuids. Null when this is no line's uuid. */
export function readLineUuid(uuid: string): { number: number; session: { from: string; to: string } } | null {
  if (uuid[14] !== '8') return null;
  const start = `${uuid.slice(0, 14)}4${uuid.slice(15, 32)}`;
  return {
    number: Number.parseInt(uuid.slice(32), 16),
    session: { from: `${start}0000`, to: `${start}ffff` },
  };
}
