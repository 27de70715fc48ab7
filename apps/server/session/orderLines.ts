import { displayPrice } from '#core/money.ts';
import type { OpenLine, OrderLine } from '#core/orderLine.ts';
import type { ProductType } from '#core/product.ts';
import type { CatalogueProduct } from '../society/society.ts';

/** Returns the order line of a product with its present name, at the given price (cents). */
export function lineOf({ id, type, name }: CatalogueProduct, priceCents: number): OrderLine {
  return { productId: id, type, name, priceCents };
}

/** Returns the lines of a new order, as JSON: this line only, at revision 1. */
export function firstLine(line: OrderLine): string {
  return JSON.stringify([{ number: 1, ...line } satisfies OpenLine]);
}

const priceOf: Record<ProductType, string> = {
  membership: 'price of this membership',
  membership_upgrade: 'price of this upgrade',
  donation: 'amount of this donation',
  donation_other: 'amount of this donation',
  store: 'price of this item',
};

/** Returns the sentence for a product whose price (cents) is not the one on the screen. */
export function priceIsNow({ type }: Pick<CatalogueProduct, 'type'>, priceCents: number): string {
  return `The ${priceOf[type]} is now ${displayPrice(priceCents)}. Please check it and try again.`;
}
