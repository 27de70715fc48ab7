import type { OrderLine } from './orderLine.ts';
import { isDonationType, isMembershipType } from './product.ts';

type Summed = Pick<OrderLine, 'type' | 'priceCents'>;

export interface OrderSummary<Line extends Summed> {
  /** The line of the membership or upgrade; null if there is none. An order has at most one. */
  membership: Line | null;
  donations: Line[];
  storeProducts: Line[];
  subtotalCents: number;
  /** The tax. It is always 0 (specification, section 4). */
  taxCents: 0;
  totalDueTodayCents: number;
}

/** Groups an order's lines by type and adds up their prices. Tax is 0 (specification, section 4). */
export function summarise<Line extends Summed>(lines: readonly Line[]): OrderSummary<Line> {
  const membership = lines.find((line) => isMembershipType(line.type)) ?? null;
  const donations = lines.filter((line) => isDonationType(line.type));
  const storeProducts = lines.filter((line) => line.type === 'store');
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
