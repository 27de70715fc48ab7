import { goodsOf } from '#core/fulfilment.ts';
import type { Promised } from '#core/intentText.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { Society } from '../society/society.ts';

/** Returns the goods and the processing fee that an order promises, according to the present society file. */
export function promised(
  society: Pick<Society, 'product' | 'programme'>,
  programme: string,
  lines: readonly OrderLine[],
): Promised {
  return {
    goods: goodsPromised(society, lines),
    processingFeeCents: society.programme(programme).processingFeeCents,
  };
}

/** Returns the columns of a snapshot that store the promises of its order. */
export function promisedColumns({ goods, processingFeeCents }: Promised): {
  goods: string;
  processing_fee_cents: number;
} {
  return { goods: JSON.stringify(goods), processing_fee_cents: processingFeeCents };
}

/** Returns the goods of each line according to the present society file; null for a line without goods. */
export function goodsPromised(
  society: Pick<Society, 'product'>,
  lines: readonly OrderLine[],
): (string | null)[] {
  return lines.map((line) => goodsOf(line, (id) => society.product(id)?.ships));
}
