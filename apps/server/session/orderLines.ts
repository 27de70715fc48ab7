import { type RawBuilder, sql } from 'kysely';
import type { OpenLine, OrderLine } from '#core/orderLine.ts';
import type { CatalogueProduct } from '../society/society.ts';

/** The order line of a product, with its name and price at the time it is added. */
export function lineOf({ id, type, name }: CatalogueProduct, priceCents: number): OrderLine {
  return { productId: id, type, name, priceCents };
}

/** The lines of a new order that has just this line, at revision 1. */
export function firstLine(line: OrderLine): string {
  return JSON.stringify([{ number: 1, ...line } satisfies OpenLine]);
}

/** `line` with the next revision as its number, for a statement that raises the revision. */
export function nextLine(line: OrderLine): RawBuilder<OpenLine> {
  return sql`(${JSON.stringify(line)}::jsonb || jsonb_build_object('number', revision + 1))`;
}

/** Whether the order has a line with exactly these values. */
export function hasLine(values: Partial<OpenLine>): RawBuilder<boolean> {
  return sql`lines @> ${JSON.stringify([values])}::jsonb`;
}
