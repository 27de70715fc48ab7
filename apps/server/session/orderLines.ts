import { type RawBuilder, sql } from 'kysely';
import type { OpenLine, OrderLine } from '#core/orderLine.ts';
import type { CatalogueProduct } from '../society/society.ts';

/** A product as a line holds it: with the name and price of the day on which it was added. */
export function lineOf({ id, type, name }: CatalogueProduct, priceCents: number): OrderLine {
  return { productId: id, type, name, priceCents };
}

/** The lines of an order that begins with this one, at revision 1. */
export function firstLine(line: OrderLine): string {
  return JSON.stringify([{ number: 1, ...line } satisfies OpenLine]);
}

/** `line` as the next revision's, a part of a statement that raises the revision. */
export function nextLine(line: OrderLine): RawBuilder<OpenLine> {
  return sql`(${JSON.stringify(line)}::jsonb || jsonb_build_object('number', revision + 1))`;
}

/** Whether the order has a line with just these values. */
export function hasLine(values: Partial<OpenLine>): RawBuilder<boolean> {
  return sql`lines @> ${JSON.stringify([values])}::jsonb`;
}
