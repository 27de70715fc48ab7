import { goodsOf } from '#core/fulfilment.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { Society } from '../society/society.ts';

/**
 * Returns what a snapshot stores besides its lines: the goods of each line (as JSON), and the programme's processing fee in cents.
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

/** Returns the goods of each line according to the present society file; null for a line without goods. */
export function goodsPromised(
  society: Pick<Society, 'product'>,
  lines: readonly OrderLine[],
): (string | null)[] {
  return lines.map((line) => goodsOf(line, (id) => society.product(id)?.ships));
}
