import { sql } from 'kysely';
import { planRefund, type RefundPlan, type RefundWish } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { NotAtStripe, ProviderRefused } from '../providers/stripe/failures.ts';
import { followPayment, recount } from './followPayment.ts';
import { giveBack, promiseRefund } from './giveBack.ts';
import { paidOrders } from './paidOrders.ts';

/** Why nothing is refunded, for staff. */
export class NotRefundable extends Error {}

/**
 * Takes in what has gone back of a join's payments in Stripe's dashboard and was not reported yet: whatever is planned
 * without that may be given twice. Throws {@link NotRefundable} when Stripe does not answer.
 */
export async function followJoin(deps: Deps, uuid: string): Promise<void> {
  const { rows } = await sql<{ intent_id: string }>`
    select intent_id from payment where session_uuid = ${uuid} and status = 'succeeded'`.execute(
    deps.database,
  );
  for (const { intent_id } of rows) await orNotRefundable(followPayment(deps, intent_id));
}

export async function orNotRefundable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof NotAtStripe) throw error;
    if (error instanceof ProviderRefused)
      throw new NotRefundable(`Stripe refuses to say what has gone back already: ${error.message}`);
    throw new NotRefundable(
      'Stripe does not answer, so what has gone back already is not known. Nothing was decided; please try again.',
    );
  }
}

/**
 * Gives back what staff ask for, across both payments of a join: decided and written in one transaction, so that asked
 * twice it is given once; then made at Stripe, and by the sweep if that fails now. With `isTrial` nothing is decided.
 */
export async function refundJoin(
  deps: Deps,
  uuid: string,
  wish: RefundWish,
  { isTrial = false } = {},
): Promise<RefundPlan> {
  await followJoin(deps, uuid);
  const plan = await deps.database.transaction().execute(async (trx) => {
    const session = await trx
      .selectFrom('join_session')
      .select(['uuid', 'contact_id', 'state'])
      .where('uuid', '=', uuid)
      .forUpdate()
      .executeTakeFirst();
    if (!session) throw new NotRefundable(`There is no join ${uuid}.`);
    const { rows } = await sql<{ intent_id: string }>`
      select intent_id from payment where session_uuid = ${uuid} and status = 'succeeded'`.execute(trx);
    const orders = await paidOrders(
      deps,
      trx,
      rows.map(({ intent_id }) => intent_id),
    );
    if (orders.length === 0) throw new NotRefundable(`Join ${uuid} is ${session.state}: nothing was paid.`);
    const plan = planRefund(orders, wish);
    if (plan.refunds.length === 0 && plan.disputed.length > 0) throw new NotRefundable(plan.notes.join('\n'));
    if (isTrial) return plan;
    // The upgrade first: a membership that ends after its upgrade leaves none behind that staff would be told of.
    for (const { intentId, amountCents, lines } of [...plan.refunds].reverse()) {
      const reason = wish.ineligible ? 'ineligible' : 'requested';
      await promiseRefund(trx, { intentId, amountCents, lines, reason });
      await recount(deps, trx, session, intentId);
    }
    return plan;
  });
  if (isTrial) return plan;
  const notes = [...plan.notes];
  for (const { intentId } of plan.refunds) notes.push(...(await giveBack(deps, intentId)));
  return { ...plan, notes };
}
