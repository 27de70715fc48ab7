import type { RefundWish } from '#core/refunds.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { orNotRefundable, refundJoin } from '../paying/refunds/refundJoin.ts';
import type { Deps } from './deps.ts';

/**
 * Like {@link refundJoin}, but first confirms open payments of the join that have succeeded at Stripe, so that the refund
 * includes them.
 */
export async function refundPaid(
  deps: Deps,
  uuid: string,
  wish: RefundWish,
  options: Parameters<typeof refundJoin>[3] = {},
): ReturnType<typeof refundJoin> {
  const open = await deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .where('status', '=', 'open')
    .execute();
  for (const { intent_id } of open) await orNotRefundable(confirmPayment(deps, intent_id));
  return refundJoin(deps, uuid, wish, options);
}
