import { MINIMUM_CHARGE_CENTS } from './money.ts';

/**
 * The highest price (cents) that a link may set for a product. No membership costs as much, and the total of an order with this
 * price stays below Stripe's limit of $999,999.99.
 */
export const HIGHEST_OVERRIDE_CENTS = 1_000_000;

/** Returns the lowest price (cents) that a link may set for a product. */
export function floorOf(product: {
  priceCents?: number | undefined;
  floorCents?: number | undefined;
}): number {
  return Math.max(product.floorCents ?? product.priceCents ?? 0, MINIMUM_CHARGE_CENTS);
}

/**
 * Returns the price (cents) at which a link sells a product: the price that the link sets, otherwise the catalogue's (0 if the
 * catalogue has none). If the link sets a price that is not allowed, returns `too low` or `too high`.
 */
export function salePrice(
  product: { priceCents?: number | undefined; floorCents?: number | undefined },
  override: number | null | undefined,
): number | 'too low' | 'too high' {
  if (override == null) return product.priceCents ?? 0;
  if (override < floorOf(product)) return 'too low';
  return override > HIGHEST_OVERRIDE_CENTS ? 'too high' : override;
}
