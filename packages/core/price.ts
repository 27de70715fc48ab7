import { MINIMUM_CHARGE_CENTS } from './money.ts';

/** In cents. No membership costs more, and Stripe refuses a larger total. */
export const HIGHEST_OVERRIDE_CENTS = 1_000_000;

/** Returns the least price at which a link may sell a product, in cents. */
export function floorOf(product: {
  priceCents?: number | undefined;
  floorCents?: number | undefined;
}): number {
  return Math.max(product.floorCents ?? product.priceCents ?? 0, MINIMUM_CHARGE_CENTS);
}

/**
 * Returns the price (cents) at which a link sells a product: its override or the catalogue's price. Otherwise says why the
 * override is not accepted.
 */
export function salePrice(
  product: { priceCents?: number | undefined; floorCents?: number | undefined },
  override: number | null | undefined,
): number | 'too low' | 'too high' {
  if (override == null) return product.priceCents ?? 0;
  if (override < floorOf(product)) return 'too low';
  return override > HIGHEST_OVERRIDE_CENTS ? 'too high' : override;
}
