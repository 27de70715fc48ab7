import { sql } from 'kysely';
import { leftCents, planRefund, type RefundPlan, type RefundWish } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { confirmPayment, intentOf, recordSuccess } from './confirmPayment.ts';
import { lockSession, paidOrders, recount } from './followPayment.ts';
import { giveBack, promiseRefund } from './giveBack.ts';

/** Why nothing is refunded, for staff. */
export class NotRefundable extends Error {}

/**
 * Gives back what staff ask for, across both payments of a join: decided and written in one transaction, so that asked
 * twice it is given once; then made at Stripe, and by the sweep if that fails now. With `isTrial` nothing is written.
 */
export async function refundJoin(
  deps: Deps,
  uuid: string,
  wish: RefundWish,
  { isTrial = false } = {},
): Promise<RefundPlan> {
  const plan = await deps.database.transaction().execute(async (trx) => {
    const session = await trx
      .selectFrom('join_session')
      .select(['uuid', 'programme', 'contact_id', 'state'])
      .where('uuid', '=', uuid)
      .forUpdate()
      .executeTakeFirst();
    if (!session) throw new NotRefundable(`There is no join ${uuid}.`);
    const { rows } = await sql<{ intent_id: string }>`
      select intent_id from payment where session_uuid = ${uuid} and status = 'succeeded'`.execute(trx);
    const orders = await paidOrders(
      trx,
      rows.map(({ intent_id }) => intent_id),
    );
    if (orders.length === 0) throw new NotRefundable(`Join ${uuid} is ${session.state}: nothing was paid.`);
    const { processingFee } = deps.society.programme(session.programme);
    const plan = planRefund(orders, wish, processingFee);
    for (const { intentId } of plan.refunds)
      if (orders.some((order) => order.intentId === intentId && order.dispute !== null))
        throw new NotRefundable(
          `Payment ${intentId} is disputed: its bank has the money, and Stripe refunds nothing of it.`,
        );
    if (isTrial) return plan;
    for (const { intentId, amountCents, lines } of plan.refunds) {
      const reason = wish.ineligible ? 'ineligible' : 'requested';
      await promiseRefund(trx, { intentId, amountCents, lines, reason });
      await recount(deps, trx, session, intentId);
    }
    return plan;
  });
  if (!isTrial) for (const { intentId } of plan.refunds) await giveBack(deps, intentId);
  return plan;
}

/** Gives back all that is left of one payment, whatever it was for and whether or not it could be confirmed. In cents. */
export async function refundPayment(deps: Deps, intentId: string): Promise<number> {
  const intent = await deps.payments.retrieveIntent(intentId);
  const of = intentOf(deps, intent);
  if (!of) throw new NotRefundable(`Payment ${intentId} is not one of this installation.`);
  if (intent.status !== 'succeeded')
    throw new NotRefundable(`Payment ${intentId} is ${intent.status}: nothing was received.`);
  const unrefunded = intent.amountReceivedCents - (intent.charge?.refundedCents ?? 0);
  // What can be confirmed is; what cannot has no membership that would have to end.
  const outcome = await confirmPayment(deps, intentId).catch((error: unknown) => error);
  if (outcome instanceof Error) {
    const { rows } = await sql`select from join_session where uuid::text = ${of.uuid}`.execute(deps.database);
    if (rows.length === 0) {
      if (unrefunded > 0)
        await deps.payments.refund({
          intentId,
          amountCents: unrefunded,
          metadata: { app: 'induct', environment: deps.environment, reason: 'unconfirmed' },
          idempotencyKey: `${deps.environment}-refund-${intentId}-${unrefunded}`,
        });
      return unrefunded;
    }
    await deps.database.transaction().execute((trx) => recordSuccess(trx, intent, of, 'duplicate'));
  }
  await deps.database.transaction().execute(async (trx) => {
    const session = await lockSession(trx, intentId);
    const [order] = await paidOrders(trx, [intentId]);
    const refunds = order?.refunds ?? [];
    const left = leftCents({ amountCents: intent.amountReceivedCents, refunds });
    if (left === 0) return;
    const everything: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'all' };
    const lines =
      order?.status === 'succeeded' ? planRefund([order], everything, 0).refunds[0]?.lines : undefined;
    const reason = outcome instanceof Error ? 'unconfirmed' : lines ? 'requested' : 'duplicate';
    await promiseRefund(trx, { intentId, amountCents: left, reason, ...(lines ? { lines } : {}) });
    await recount(deps, trx, session, intentId);
  });
  await giveBack(deps, intentId);
  return unrefunded;
}
