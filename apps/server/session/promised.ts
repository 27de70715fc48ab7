import { goodsOf } from '#core/fulfilment.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { Society } from '../society/society.ts';

/**
 * What a snapshot keeps of an order beside its lines: what each line sends by post, and the programme's processing fee in cents.
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

/** What each line sends by post, or null, according to the society file now. */
export function goodsPromised(
  society: Pick<Society, 'product'>,
  lines: readonly OrderLine[],
): (string | null)[] {
  return lines.map((line) => goodsOf(line, (id) => society.product(id)?.ships));
}
