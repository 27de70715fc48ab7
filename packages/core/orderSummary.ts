import { isDonationType, isMembershipType, type ProductType } from './product.ts';

/** What an order line must tell for the summary; `priceCents` is the price stored when the item entered the session. */
export interface OrderLine {
  productType: ProductType;
  priceCents: number;
}

export interface OrderSummary<Line extends OrderLine> {
  /** The first membership or membership_upgrade product; an order has one at most. */
  membership: Line | null;
  donations: Line[];
  storeProducts: Line[];
  subtotalCents: number;
  /** Always 0 (specification, section 4). */
  taxCents: 0;
  totalDueTodayCents: number;
}

/** Splits an order by type and totals it: subtotal is the sum of all lines shown, tax is 0 (specification, section 4). */
export function summarise<Line extends OrderLine>(lines: readonly Line[]): OrderSummary<Line> {
  const membership = lines.find((line) => isMembershipType(line.productType)) ?? null;
  const donations = lines.filter((line) => isDonationType(line.productType));
  const storeProducts = lines.filter((line) => line.productType === 'store');
  const shown = [...(membership ? [membership] : []), ...donations, ...storeProducts];
  const subtotalCents = shown.reduce((sum, line) => sum + line.priceCents, 0);
  return {
    membership,
    donations,
    storeProducts,
    subtotalCents,
    taxCents: 0,
    totalDueTodayCents: subtotalCents,
  };
}
