import { goodsOf } from '#core/fulfilment.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { Society } from '../society/society.ts';

/**
 * What an order is sold with beside its lines, as its snapshot keeps it: what each line sends by post, and the processing fee of
 * its programme in cents.
 */
export function promised(
  society: Pick<Society, 'product' | 'programme'>,
  programme: string,
  lines: readonly OrderLine[],
): { goods: string; processing_fee_cents: number } {
  return {
    goods: JSON.stringify(goodsPromised(society, lines)),
    processing_fee_cents: society.programme(programme).processingFeeCents,
  };
}

/** What each line sends by post, or null, as the society's file says now. */
export function goodsPromised(
  society: Pick<Society, 'product'>,
  lines: readonly OrderLine[],
): (string | null)[] {
  return lines.map((line) => goodsOf(line, (id) => society.product(id)?.ships));
}
