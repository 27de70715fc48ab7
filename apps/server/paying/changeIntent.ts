import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Refusal } from '../platform/http/refusal.ts';
import { NotAtStripe, ProviderRefused, UnexpectedState } from '../providers/stripe/failures.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import { cancelIntent, markCanceled } from './cancelIntent.ts';
import { confirmPayment } from './confirmPayment.ts';
import type { Deps } from './deps.ts';
import { intentRequest } from './intentRequest.ts';
import type { Order } from './readOrder.ts';

/**
 * Marks the order's intent as being changed, before Stripe is asked. Returns the mark; null if the order is not open at this
 * revision, or another change is running.
 */
export async function beginChange(deps: Deps, uuid: string, revision: number): Promise<string | null> {
  const mark = randomUUID();
  const { rows } = await sql`
    update join_session set intent_change = ${mark}, intent_changing_since = now()
    where uuid = ${uuid} and ${stateAllows('changeOrder')} and revision = ${revision} and intent_changing_since is null
    returning uuid`.execute(deps.database);
  return rows.length > 0 ? mark : null;
}

/**
 * Updates the open intent to match the present order, first at Stripe and then in our database. Returns false if the caller must
 * read the order again: the intent has ended without a success, it was cancelled because Stripe refused the change, or another
 * call has given up this change. Throws if the intent was paid, or the bank is deciding. If Stripe does not answer, Stripe may
 * make the update later. The change's mark therefore stays, and a later call replaces the intent.
 */
export async function changeIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  { intentId, mark, email }: { intentId: string; mark: string; email: string | null },
): Promise<boolean> {
  try {
    await deps.payments.updateIntent(intentId, intentRequest(deps, uuid, order, email));
  } catch (error) {
    // Stripe has not answered, so it may have made the change. A change that Stripe refused (ProviderRefused) was not made.
    if (error instanceof Refusal && !(error instanceof ProviderRefused)) {
      await sql`update join_session set intent_changing_since = '-infinity' where uuid = ${uuid} and intent_change = ${mark}`.execute(
        deps.database,
      );
      throw error;
    }
    await endChange(deps, uuid, mark);
    // The intent belongs to another Stripe account, because our keys were changed. It can never be paid here.
    if (error instanceof NotAtStripe) {
      await markCanceled(deps.database, intentId);
      return false;
    }
    if (!(error instanceof UnexpectedState)) throw error;
    const status = await confirmPayment(deps, intentId);
    if (status === 'succeeded' || status === 'processing') throw await refusalFor(deps, 'changeOrder', uuid);
    // The intent has not ended, and yet Stripe refuses the change.
    if (status.startsWith('requires_')) await replace(deps, uuid, intentId, null);
    return false;
  }
  // Writes only if the join still has this call's mark. Otherwise another call has given up the change and replaced the intent.
  const { rows } = await sql`
    with ended as (
      update join_session set intent_change = null, intent_changing_since = null
      where uuid = ${uuid} and intent_change = ${mark} returning uuid
    )
    update payment set amount_cents = ${order.totalCents}, revision = ${order.revision}, receipt_email = ${email},
      saves_card = ${order.saveCard}, updated_at = now()
    from ended where intent_id = ${intentId}
    returning intent_id`.execute(deps.database);
  return rows.length > 0;
}

/**
 * Cancels the intent and ends the change, so that an update still in flight cannot alter an intent that can be paid. The caller
 * then makes a new intent for the present order.
 */
export async function replace(
  deps: Deps,
  uuid: string,
  intentId: string,
  mark: string | null,
): Promise<void> {
  if (!(await cancelIntent(deps, intentId))) {
    await confirmPayment(deps, intentId);
    throw await refusalFor(deps, 'changeOrder', uuid);
  }
  await endChange(deps, uuid, mark);
}

/**
 * Cancels the open intent of another payer, so that the caller can open one: the joiner and somebody who pays by a pay link must
 * not both have an open intent. Does nothing if the order has changed or its payment has begun meanwhile, so that nobody who is
 * paying loses their intent.
 */
export async function replaceOther(
  deps: Deps,
  uuid: string,
  { revision, change }: Pick<Order, 'revision' | 'change'>,
  intentId: string,
): Promise<void> {
  // An order with a mark cannot be frozen. Only an order without a mark is checked, by {@link beginChange}.
  const mark = change ? change.mark : await beginChange(deps, uuid, revision);
  if (change || mark !== null) await replace(deps, uuid, intentId, mark);
}

/** Removes the mark of a change that has ended or was given up. The mark of another change stays. */
export async function endChange(deps: Deps, uuid: string, mark: string | null): Promise<void> {
  await sql`
    update join_session set intent_change = null, intent_changing_since = null
    where uuid = ${uuid} and intent_change is not distinct from ${mark}`.execute(deps.database);
}
