import { sql } from 'kysely';
import {
  disputedSentence,
  leftCents,
  planRefund,
  type RefundPlan,
  type RefundWish,
  restOf,
} from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { confirmPayment, intentOf, recordSuccess } from '../payments/confirmPayment.ts';
import { NotAtStripe, ProviderRefused, RefundRefused } from '../stripe/failures.ts';
import { followPayment, lockSession, paidOrders, recount } from './followPayment.ts';
import { giveBack, promiseRefund } from './giveBack.ts';

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

async function orNotRefundable<T>(asked: Promise<T>): Promise<T> {
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

/**
 * Gives back all that is left of one payment, whatever it was for and whether or not it could be confirmed: cents, and
 * sentences on what Stripe does not make yet.
 */
export async function refundPayment(
  deps: Deps,
  intentId: string,
): Promise<{ cents: number; notes: string[] }> {
  const intent = await orNotRefundable(deps.payments.retrieveIntent(intentId));
  const of = intentOf(deps, intent);
  if (!of) throw new NotRefundable(`Payment ${intentId} is not one of this installation.`);
  if (intent.status !== 'succeeded')
    throw new NotRefundable(`Payment ${intentId} is ${intent.status}: nothing was received.`);
  const unrefunded = intent.amountReceivedCents - (intent.charge?.refundedCents ?? 0);
  // What can be confirmed is; what cannot has no membership that would have to end.
  const outcome = await confirmPayment(deps, intentId).catch((error: unknown) => error);
  // Stripe does not answer any more: that says nothing about the payment.
  if (outcome instanceof Refusal) await orNotRefundable(Promise.reject(outcome));
  if (outcome instanceof Error) {
    const { rows } = await sql`select from join_session where uuid::text = ${of.uuid}`.execute(deps.database);
    if (rows.length === 0) {
      if (unrefunded > 0) await refundUnknown(deps, intentId, unrefunded);
      return { cents: unrefunded, notes: [] };
    }
    await deps.database.transaction().execute((trx) => recordSuccess(trx, intent, of, 'duplicate'));
  }
  await orNotRefundable(followPayment(deps, intentId));
  await deps.database.transaction().execute(async (trx) => {
    const session = await lockSession(trx, intentId);
    const [order] = await paidOrders(trx, [intentId]);
    const refunds = order?.refunds ?? [];
    const left = leftCents({ amountCents: intent.amountReceivedCents, refunds });
    if (left === 0) return;
    if (order?.dispute) throw new NotRefundable(disputedSentence(intentId));
    const isBought = order?.status === 'succeeded';
    const reason = outcome instanceof Error ? 'unconfirmed' : isBought ? 'requested' : 'duplicate';
    await promiseRefund(trx, {
      intentId,
      amountCents: left,
      reason,
      ...(isBought && { lines: restOf(order) }),
    });
    await recount(deps, trx, session, intentId);
  });
  return { cents: unrefunded, notes: await giveBack(deps, intentId) };
}

/** Of a payment for a join that does not exist: no row can say that it is due, so it is made now or not at all. */
async function refundUnknown(deps: Deps, intentId: string, amountCents: number): Promise<void> {
  try {
    await deps.payments.refund({
      intentId,
      amountCents,
      metadata: { app: 'induct', environment: deps.environment, reason: 'unconfirmed' },
      idempotencyKey: `${deps.environment}-refund-${intentId}-${amountCents}`,
    });
  } catch (error) {
    if (!(error instanceof RefundRefused)) throw error;
    throw new NotRefundable(`Stripe refuses to refund payment ${intentId}: ${error.message}`);
  }
}
