import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { disputedSentence, type GivenBack, goneCents, leftCents, restOf } from '#core/refunds.ts';
import { confirmPayment, NotConfirmable, NotInDatabase } from '../paying/confirmPayment.ts';
import { namedOrder } from '../paying/namedOrder.ts';
import { recordSuccess } from '../paying/paymentRow.ts';
import { followPayment, lockSession, recount } from '../paying/refunds/followPayment.ts';
import {
  type Given,
  giveBack,
  nothingGiven,
  promiseRefund,
  promiseReturn,
  watchRefunds,
} from '../paying/refunds/giveBack.ts';
import { paidOrders, type SettledOrder } from '../paying/refunds/paidOrders.ts';
import { previewRefund, type RefundPreview } from '../paying/refunds/previewRefund.ts';
import { mustBeSeen, NotRefundable, orNotRefundable } from '../paying/refunds/refundJoin.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { RefundRefused } from '../providers/stripe/failures.ts';
import type { Deps } from './deps.ts';

/**
 * Reads a payment from Stripe, and the order in its metadata. Throws {@link NotRefundable} if the payment is not ours or has
 * brought no money.
 */
async function receivedPayment(deps: Deps, intentId: string) {
  const intent = await orNotRefundable(deps.payments.retrieveIntent(intentId));
  const named = namedOrder(deps, intent);
  if (!named) throw new NotRefundable(`Payment ${intentId} is not one of this installation.`);
  if (intent.status !== 'succeeded')
    throw new NotRefundable(`Payment ${intentId} is ${intent.status}: nothing was received.`);
  return { intent, named };
}

/** How many cents of a payment can be refunded, how many of them are decided already and due, and what the refund would do. */
export interface RefundablePart {
  cents: number;
  dueCents: number;
  preview: RefundPreview;
}

/**
 * Returns how many cents of a payment {@link refundPayment} would refund, and what that would do. The amount is all that Stripe
 * has received and has neither refunded nor lost by a dispute. Refunds that are due count as not made. Writes nothing. In
 * particular, it does not confirm the payment, because a payment that is then recorded as a duplicate could not be settled any
 * more.
 */
export async function refundablePart(deps: Deps, intentId: string): Promise<RefundablePart> {
  const { intent } = await receivedPayment(deps, intentId);
  const [order] = await paidOrders(deps, deps.database, [intentId]);
  const lost = (order?.refunds ?? []).filter(({ isDispute }) => isDispute);
  const left = leftCents({ amountCents: intent.amountReceivedCents, refunds: lost });
  const cents = Math.max(0, left - (intent.charge?.refundedCents ?? 0));
  if (cents > 0 && order?.dispute) throw new NotRefundable(disputedSentence(order));
  return {
    cents,
    dueCents: dueCents(order?.refunds),
    preview: await previewOf(deps, deps.database, order, cents),
  };
}

function previewOf(deps: Deps, database: Kysely<Tables>, order: SettledOrder | undefined, cents: number) {
  const lines = order?.status === 'succeeded' ? restOf(order) : [];
  const refunds = order && cents > 0 ? [{ intentId: order.intentId, amountCents: cents, lines }] : [];
  return previewRefund(deps, database, order ? [order] : [], { refunds });
}

function dueCents(refunds: readonly GivenBack[] = []): number {
  return goneCents(refunds.filter(({ status }) => status === 'due'));
}

/**
 * Refunds all that is left of one payment, whatever it was for and whether or not it can be confirmed. With `seen`, an earlier
 * result of {@link refundablePart}, throws and refunds nothing if that has changed, for example because somebody else refunds the
 * payment at the same time.
 */
export async function refundPayment(deps: Deps, intentId: string, seen?: RefundablePart): Promise<Given> {
  const check = ({ preview, cents, dueCents }: RefundablePart) => {
    if (seen)
      mustBeSeen(
        { refunds: [seen.cents, seen.dueCents], preview: seen.preview },
        { refunds: [cents, dueCents], preview },
      );
  };
  if (seen) check(await refundablePart(deps, intentId));
  const { intent, named } = await receivedPayment(deps, intentId);
  const given = await watchRefunds(deps, intentId);
  const backBefore = intent.charge?.refundedCents ?? 0;
  // Confirms the payment if possible. If it cannot be confirmed, there is no membership that the refund would have to end.
  const outcome = await orNotRefundable(
    confirmPayment(deps, intentId).catch((error: unknown) => {
      // Only these two errors mean that the payment cannot be confirmed. Any other failure, of Stripe or of the database, is
      // thrown.
      if (error instanceof NotConfirmable || error instanceof NotInDatabase) return error;
      throw error;
    }),
  );
  if (outcome instanceof Error) {
    const { rows } = await sql`select from join_session where uuid::text = ${named.uuid}`.execute(
      deps.database,
    );
    if (rows.length === 0) {
      const cents = intent.amountReceivedCents - backBefore;
      if (cents > 0) await refundUnknown(deps, intentId, cents);
      return { ...nothingGiven(), cents, madeCents: cents };
    }
    await transaction(deps, (trx) => recordSuccess(trx, intent, named, 'duplicate'));
  }
  await orNotRefundable(followPayment(deps, intentId));
  await transaction(deps, async (trx) => {
    const session = await lockSession(trx, intentId);
    const [order] = await paidOrders(deps, trx, [intentId]);
    const refunds = order?.refunds ?? [];
    const left = leftCents({ amountCents: intent.amountReceivedCents, refunds });
    const cents = left + dueCents(refunds);
    check({ cents, dueCents: dueCents(refunds), preview: await previewOf(deps, trx, order, cents) });
    if (left === 0) return;
    if (order?.dispute) throw new NotRefundable(disputedSentence(order));
    const promised = { intentId, amountCents: left };
    if (outcome instanceof Error) await promiseRefund(trx, { ...promised, reason: 'unconfirmed' });
    else if (order?.status === 'succeeded')
      await promiseRefund(trx, { ...promised, reason: 'requested', lines: restOf(order) });
    else await promiseReturn(trx, deps, session.uuid, intentId, left);
    await recount(deps, trx, session, intentId);
  });
  await giveBack(deps, intentId);
  const { refunded_cents } = await deps.database
    .selectFrom('payment')
    .select('refunded_cents')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  return { ...(await given()), cents: Math.max(0, refunded_cents - backBefore) };
}

/**
 * Refunds a payment whose join does not exist. Without the join no row could keep the refund as due, so Stripe makes the refund
 * now or not at all. Each call has a new idempotency key, because Stripe replays a refusal under the same key for a day. Stripe
 * cannot refund twice, because each refund is of all that is left.
 */
async function refundUnknown(deps: Deps, intentId: string, amountCents: number): Promise<void> {
  try {
    await deps.payments.refund({
      intentId,
      amountCents,
      environment: deps.environment,
      uuid: null,
      decided: { reason: 'unconfirmed', lines: null },
      idempotencyKey: randomUUID(),
    });
  } catch (error) {
    if (!(error instanceof RefundRefused)) throw error;
    throw new NotRefundable(`Stripe refuses to refund payment ${intentId}: ${error.message}`);
  }
}
