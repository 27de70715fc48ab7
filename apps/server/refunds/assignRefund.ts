import { sql } from 'kysely';
import { type Assignment, assignRefund } from '#core/dashboardRefunds.ts';
import type { RefundedLine } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { lockSession, recount } from './followPayment.ts';
import { paidOrders } from './paidOrders.ts';
import { NotRefundable } from './refundJoin.ts';

/**
 * Records what a refund made outside Induct was for, as staff say, even if its amount suggests otherwise. Updates the
 * membership's standing. `refund` is our uuid or Stripe's id of the refund. Throws {@link NotRefundable} if the assignment is
 * impossible.
 */
export async function sayWhatFor(
  deps: Deps,
  refund: string,
  assignment: Assignment,
): Promise<{ amountCents: number; intentId: string; lines: RefundedLine[] }> {
  return deps.database.transaction().execute(async (trx) => {
    const found = await trx
      .selectFrom('refund')
      .select(['uuid', 'intent_id', 'reason', 'amount_cents'])
      .where(isUuid(refund) ? 'uuid' : 'stripe_id', '=', refund)
      .executeTakeFirst();
    if (!found) throw new NotRefundable(`There is no refund ${refund}.`);
    if (found.reason !== 'dashboard')
      throw new NotRefundable(`Refund ${refund} was made here: what it was for is known.`);
    const session = await lockSession(trx, found.intent_id);
    const [order] = await paidOrders(deps, trx, [found.intent_id]);
    if (order?.status !== 'succeeded')
      throw new NotRefundable(
        `Payment ${found.intent_id} bought nothing that refund ${refund} could be for.`,
      );
    const lines = assignRefund(order, { uuid: found.uuid, amountCents: found.amount_cents }, assignment);
    if (typeof lines === 'string') throw new NotRefundable(lines);
    await trx
      .updateTable('refund')
      .set({ lines: JSON.stringify(lines), assigned_at: sql`now()`, updated_at: sql`now()` })
      .where('uuid', '=', found.uuid)
      .execute();
    await recount(deps, trx, session, found.intent_id);
    return { amountCents: found.amount_cents, intentId: found.intent_id, lines };
  });
}
