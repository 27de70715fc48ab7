import { type Kysely, type Selectable, sql } from 'kysely';
import { isMembershipType } from '#core/product.ts';
import type { Deps } from '../deps.ts';
import { cancelIntent } from '../payments/cancelIntent.ts';
import { confirmIntent, NotConfirmable, NotInDatabase } from '../payments/confirmPayment.ts';
import { namedOrder } from '../payments/namedOrder.ts';
import { settlePaying } from '../payments/settlePaying.ts';
import type { PaymentTable, Tables } from '../platform/database/types.ts';
import { inPages } from '../platform/inPages.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { followPayment, lockSession } from '../refunds/followPayment.ts';
import { giveBack, watchRefunds } from '../refunds/giveBack.ts';
import { bringStanding } from '../refunds/membershipStanding.ts';
import { paidOrders } from '../refunds/paidOrders.ts';
import { transitions } from '../session/states.ts';
import { giveUpUnwritten } from './catchUp.ts';
import { madeAgainOf, NotRebuilt, rebuildJoin } from './rebuildJoin.ts';

/** There is nothing to settle; the message says why. */
export class NotSettled extends Error {}

/**
 * Brings one payment to what Stripe says of it, whatever we held: what succeeded is confirmed, what is cancelled or
 * unknown there buys nothing here, what is open and abandoned is cancelled. The repair that `reconcile` names. Returns
 * sentences on what Stripe does not do yet, or refuses. Throws NotRebuilt when its join is not here and Stripe does not tell enough,
 * and {@link NotSettled} when there is no such payment of ours.
 * `isMadeAgain`: it was confirmed before a restore, though its join is here.
 */
export async function settlePayment(
  deps: Deps,
  intentId: string,
  { isMadeAgain = false } = {},
): Promise<string[]> {
  const intent = await deps.payments.retrieveIntent(intentId).catch((error: unknown) => {
    if (error instanceof NotAtStripe) return null;
    throw error;
  });
  const status = intent?.status ?? null;
  const row = await deps.database
    .selectFrom('payment')
    .select(['status', 'kind', 'session_uuid'])
    .where('intent_id', '=', intentId)
    .executeTakeFirst();
  if (!row && !intent) throw new NotSettled(`Neither Stripe nor this database knows a payment ${intentId}.`);
  if (!row && intent && !namedOrder(deps, intent))
    throw new NotSettled(`Payment ${intentId} is not one of this installation.`);
  if (intent?.status === 'succeeded') {
    const given = await watchRefunds(deps, intentId);
    if (isMadeAgain) await makeAgain(deps, intent);
    else
      await confirmIntent(deps, intent).catch((error: unknown) => {
        if (error instanceof NotInDatabase) return makeAgain(deps, intent);
        throw error;
      });
    await deps.database.transaction().execute((trx) => restore(deps, trx, intentId));
    await giveBack(deps, intentId);
    await followPayment(deps, intentId);
    const { waits, refused } = await given();
    return [...waits, ...refused];
  }
  if (status === 'processing') return [`The bank is still deciding on payment ${intentId}.`];
  if (!row) {
    await giveUpUnwritten(deps, intentId);
    return [];
  }
  if (row.status === 'succeeded' || row.status === 'duplicate')
    await deps.database.transaction().execute((trx) => takeBack(trx, intentId, row.kind));
  if (status === 'canceled' || status === null)
    await sql`update payment set status = 'canceled' where intent_id = ${intentId} and status = 'open'`.execute(
      deps.database,
    );
  else await cancelIntent(deps, intentId);
  if (row.kind === 'join') await settlePaying(deps, row.session_uuid, 'look');
  return [];
}

/** Confirms a payment as it was confirmed before a restore, with its join when that is lost. Throws NotRebuilt. */
async function makeAgain(deps: Deps, intent: Intent): Promise<void> {
  await rebuildJoin(deps, intent);
  await confirmIntent(deps, intent, await madeAgainOf(deps, intent));
}

/**
 * Settles every payment of a join, its upgrade's after its own; one that turns out to be paid by nothing is an open order again. Returns what
 * {@link settlePayment} does; null when there is no such join.
 */
export async function settleJoin(deps: Deps, uuid: string): Promise<string[] | null> {
  const { rows } = await sql<{ intent_id: string | null }>`
    select intent_id from join_session left join payment on session_uuid = uuid where uuid::text = ${uuid}
    order by kind, attempt`.execute(deps.database);
  if (rows.length === 0) return null;
  const notes: string[] = [];
  for (const { intent_id } of rows)
    if (intent_id !== null) notes.push(...(await settlePayment(deps, intent_id)));
  await sql`
    update join_session set ${transitions.undoPayment}
    where uuid = ${uuid} and state in ('paying', 'paid')
      and not exists (select from payment where session_uuid = uuid and kind = 'join' and status in ('open', 'succeeded'))`.execute(
    deps.database,
  );
  await sql`
    update join_session set ${transitions.reopenUpgrade}
    where uuid = ${uuid} and upgrade = 'taken'
      and not exists (select from payment where session_uuid = uuid and kind = 'upgrade' and status = 'succeeded')`.execute(
    deps.database,
  );
  return notes;
}

/**
 * After a restore, before servers start: makes again, from what Stripe knows, the payments that were made since, the oldest first;
 * then takes in what went back of those that this database has. In this order a membership whose refund has failed since does not
 * come back before the one that its contact has bought instead. An intent that is open at Stripe for another order than here is
 * closed: its page would show this one, and charge that one. Nothing is given back by itself: what is left for staff, `reconcile`
 * names. Returns the payments that it settled, how many it closed, and a sentence for each that it could not settle.
 */
export async function settleMissing(
  deps: Deps,
): Promise<{ settled: string[]; closed: number; notes: string[] }> {
  const missing: Intent[] = [];
  const wentBack: string[] = [];
  const closing: string[] = [];
  for await (const page of inPages(deps.payments.listIntents(null))) {
    const ours = page.filter((intent) => namedOrder(deps, intent));
    const here = await paymentsHere(deps, ours);
    for (const intent of ours) {
      const row = here.get(intent.id);
      if (intent.status === 'succeeded') {
        if (row?.status !== 'succeeded' && row?.status !== 'duplicate') missing.push(intent);
        // What went back may be made up of other refunds than those of the backup.
        else if (intent.charge?.isDisputed || intent.charge?.refundedCents || row.refunded_cents > 0)
          wentBack.push(intent.id);
      } else if (mayBePaid(intent) && !(row && isOfSameOrder(intent, row))) closing.push(intent.id);
    }
  }
  for (const intentId of closing) await giveUpUnwritten(deps, intentId);
  const settled: string[] = [];
  const notes: string[] = [];
  // Stripe lists the newest first: of those that were paid in one second the older comes first.
  for (const intent of missing.reverse().sort(byPayment)) {
    try {
      await settlePayment(deps, intent.id, { isMadeAgain: true });
      settled.push(intent.id);
    } catch (error) {
      if (!(error instanceof NotRebuilt || error instanceof NotConfirmable)) throw error;
      const isAllBack = intent.charge?.refundedCents === intent.amountReceivedCents;
      if (!isAllBack) notes.push(`${intent.id}: ${error.message}`);
    }
  }
  for (const intentId of wentBack) await followPayment(deps, intentId);
  return { settled, closed: closing.length, notes };
}

type PaymentHere = Pick<Selectable<PaymentTable>, 'status' | 'revision' | 'amount_cents' | 'refunded_cents'>;

/** Our rows of these intents, by intent. */
async function paymentsHere(deps: Deps, intents: readonly Intent[]): Promise<Map<string, PaymentHere>> {
  if (intents.length === 0) return new Map();
  const rows = await deps.database
    .selectFrom('payment')
    .select(['intent_id', 'status', 'revision', 'amount_cents', 'refunded_cents'])
    .where(
      'intent_id',
      'in',
      intents.map(({ id }) => id),
    )
    .execute();
  return new Map(rows.map(({ intent_id, ...row }) => [intent_id, row]));
}

/** Whoever has its secret may still pay it. */
function mayBePaid({ status }: Intent): boolean {
  return status !== 'succeeded' && status !== 'canceled' && status !== 'processing';
}

/** It is open here for the order that Stripe has it for. */
function isOfSameOrder({ metadata, amountCents }: Intent, row: PaymentHere): boolean {
  return (
    row.status === 'open' && row.amount_cents === amountCents && String(row.revision) === metadata.revision
  );
}

/** In the order in which they were paid; Stripe's time is in seconds, and a join is paid before its upgrade. */
function byPayment(one: Intent, other: Intent): number {
  const paidAt = ({ charge, createdAt }: Intent) => (charge?.createdAt ?? createdAt).getTime();
  const isUpgrade = ({ metadata }: Intent) => Number(metadata.kind === 'upgrade');
  return paidAt(one) - paidAt(other) || isUpgrade(one) - isUpgrade(other);
}

/** What was written beside a payment that Stripe knows as succeeded, as it was when it was confirmed. */
async function restore(deps: Deps, trx: Kysely<Tables>, intentId: string): Promise<void> {
  const session = await lockSession(trx, intentId);
  const [order] = await paidOrders(deps, trx, [intentId]);
  if (order?.status !== 'succeeded') return;
  const paidCents = order.lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  await trx
    .updateTable('payment')
    .set({ amount_cents: paidCents })
    .where('intent_id', '=', intentId)
    .execute();
  const bought = order.lines.find(({ type }) => isMembershipType(type));
  if (bought)
    await trx
      .updateTable('membership')
      .set({ product_id: bought.productId })
      .where('payment_intent', '=', intentId)
      .execute();
  const paid = order.kind === 'join' ? transitions.markPaid() : transitions.takeUpgrade;
  await sql`update join_session set ${paid} where uuid = ${session.uuid}`.execute(trx);
}

/** What we held as paid, and Stripe does not, buys nothing. */
async function takeBack(trx: Kysely<Tables>, intentId: string, kind: 'join' | 'upgrade'): Promise<void> {
  const session = await lockSession(trx, intentId);
  await bringStanding(trx, session, intentId, 'void');
  await trx
    .updateTable('payment')
    .set({ status: 'canceled', succeeded_at: null, updated_at: sql`now()` })
    .where('intent_id', '=', intentId)
    .execute();
  const undone = kind === 'join' ? transitions.undoPayment : transitions.reopenUpgrade;
  // Another payment may have bought the same.
  await sql`
    update join_session set ${undone} where uuid = ${session.uuid}
      and not exists (select from payment where session_uuid = join_session.uuid and kind = ${kind} and status = 'succeeded')`.execute(
    trx,
  );
}
