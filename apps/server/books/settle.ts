import { type Kysely, type Selectable, sql } from 'kysely';
import { correctedEmail } from '#core/intentText.ts';
import { isMembershipType } from '#core/product.ts';
import { cancelIntent } from '../paying/cancelIntent.ts';
import { confirmIntent, NotConfirmable, NotInDatabase } from '../paying/confirmPayment.ts';
import { namedOrder } from '../paying/namedOrder.ts';
import { followPayment, lockSession } from '../paying/refunds/followPayment.ts';
import { giveBack, watchRefunds } from '../paying/refunds/giveBack.ts';
import { bringStanding } from '../paying/refunds/membershipStanding.ts';
import { paidOrders } from '../paying/refunds/paidOrders.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { PaymentTable, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { inPages } from '../platform/inPages.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { transitions } from '../session/states.ts';
import { giveUpUnwritten } from './catchUp.ts';
import type { Deps } from './deps.ts';
import { madeAgainOf, NotRebuilt, rebuildJoin, takeCorrection } from './rebuildJoin.ts';

/** Thrown if there is nothing to settle. The message gives the reason. */
export class NotSettled extends Failed {}

/**
 * Updates one payment to its state at Stripe, whatever its state here: a success is confirmed, an intent that is cancelled or
 * unknown at Stripe buys nothing here, and an open intent is cancelled. `reconcile` suggests this repair. Returns sentences about
 * refunds that Stripe does not make yet or refuses, or about a payment on which the bank is still deciding. Throws NotRebuilt if
 * the join is missing here and Stripe's metadata is not enough to restore it, and {@link NotSettled} if the payment is unknown or
 * not ours. `isMadeAgain`: whether the payment had been confirmed before a restore.
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
    await transaction(deps, (trx) => restore(deps, trx, intentId));
    await giveBack(deps, intentId);
    await followPayment(deps, intentId);
    const { notes, refused } = await given();
    return [...notes, ...refused];
  }
  if (status === 'processing') return [`The bank is still deciding on payment ${intentId}.`];
  if (!row) {
    await giveUpUnwritten(deps, intentId);
    return [];
  }
  if (row.status === 'succeeded' || row.status === 'duplicate')
    await transaction(deps, (trx) => takeBack(trx, intentId, row.kind));
  if (status === 'canceled' || status === null)
    await sql`update payment set status = 'canceled' where intent_id = ${intentId} and status = 'open'`.execute(
      deps.database,
    );
  else await cancelIntent(deps, intentId);
  if (row.kind === 'join') await settlePaying(deps, row.session_uuid, 'look');
  return [];
}

/**
 * Confirms a payment that had been confirmed before a restore. If its join or order is missing, restores it first. Throws
 * NotRebuilt.
 */
async function makeAgain(deps: Deps, intent: Intent): Promise<void> {
  await rebuildJoin(deps, intent);
  await confirmIntent(deps, intent, await madeAgainOf(deps, intent));
}

/**
 * Settles every payment of a join: first those for the join itself, then those for its upgrade. Afterwards reopens the join's
 * order if no payment for it is open or has succeeded, and offers the upgrade again if no payment for it has succeeded. Returns
 * the sentences of {@link settlePayment}; null if there is no such join.
 */
export async function settleJoin(deps: Deps, uuid: string): Promise<string[] | null> {
  const { rows } = await sql<{ intent_id: string | null }>`
    select intent_id from join_session left join payment on session_uuid = uuid where uuid::text = ${uuid}
    order by kind, attempt`.execute(deps.database);
  if (rows.length === 0) return null;
  const notes: string[] = [];
  for (const { intent_id } of rows)
    if (intent_id !== null) notes.push(...(await settlePayment(deps, intent_id)));
  await transaction(deps, async (trx) => {
    await sql`
      update join_session set ${transitions.undoPayment}
      where uuid = ${uuid} and state in ('paying', 'paid')
        and not exists (select from payment where session_uuid = uuid and kind = 'join' and status in ('open', 'succeeded'))`.execute(
      trx,
    );
    await sql`
      update join_session set ${transitions.reopenUpgrade}
      where uuid = ${uuid} and upgrade = 'taken'
        and not exists (select from payment where session_uuid = uuid and kind = 'upgrade' and status = 'succeeded')`.execute(
      trx,
    );
  });
  return notes;
}

/** Returns each payment of a join as it is here and at Stripe (null: Stripe does not know it), in the order of {@link settleJoin}. */
export async function previewSettlement(
  deps: Deps,
  uuid: string,
): Promise<{ intentId: string; cents: number; here: PaymentTable['status']; atStripe: string | null }[]> {
  const { rows } = await sql<{ intentId: string; cents: number; here: PaymentTable['status'] }>`
    select intent_id as "intentId", amount_cents as cents, status as here from payment where session_uuid::text = ${uuid}
    order by kind, attempt`.execute(deps.database);
  const seen = [];
  for (const row of rows) {
    const intent = await deps.payments.retrieveIntent(row.intentId).catch((error: unknown) => {
      if (error instanceof NotAtStripe) return null;
      throw error;
    });
    seen.push({ ...row, atStripe: intent?.status ?? null });
  }
  return seen;
}

/** A payment that could not be made again after a restore. */
export interface NotMade {
  intentId: string;
  why: Failed;
}

/**
 * Repairs the payments after a restore, before servers start, in this order:
 * - Cancels each open intent whose order is missing here or differs from its order at Stripe. Otherwise the page would show one
 *   order and charge another.
 * - Makes the payments since the backup again, from Stripe's data, the oldest first.
 * - Updates the payments in this database that have refunds or disputes. This comes after the payments are made again, because of
 *   refunds that have failed since: the membership of such a refund must not become held again if its person has bought another
 *   membership later.
 * - Corrects the persons whose names and email were corrected since the backup.
 * Nothing is refunded automatically: `reconcile` lists the rest for staff. Returns the intents that were made again (`settled`),
 * the numbers of those that were cancelled (`closed`) and updated (`followed`), and those that could not be made again and
 * were not refunded in full (`notMade`).
 */
export async function settleMissing(
  deps: Deps,
): Promise<{ settled: string[]; closed: number; followed: number; notMade: NotMade[] }> {
  const missing: Intent[] = [];
  const wentBack: string[] = [];
  const corrected: Intent[] = [];
  const closing: string[] = [];
  const undecided: Intent[] = [];
  for await (const page of inPages(deps.payments.listIntents(null))) {
    const ours = page.filter((intent) => namedOrder(deps, intent));
    const here = await paymentsHere(deps, ours);
    for (const intent of ours) {
      const row = here.get(intent.id);
      if (intent.status === 'succeeded') {
        if (row?.status !== 'succeeded' && row?.status !== 'duplicate') {
          missing.push(intent);
          continue;
        }
        if (correctedEmail(intent.metadata)) corrected.push(intent);
        // The restored database may lack refunds, so they are read from Stripe again.
        if (intent.charge?.isDisputed || intent.charge?.refundedCents || row.refunded_cents > 0)
          wentBack.push(intent.id);
      } else if (intent.status === 'processing' || (mayBePaid(intent) && row && isOfSameOrder(intent, row)))
        undecided.push(intent);
      else if (mayBePaid(intent)) closing.push(intent.id);
    }
  }
  // The backup may lack the last press of Buy Now. An earlier press that the backup has does not show which order is on the page,
  // or was on the page when the bank began to decide. Therefore that press is removed.
  const joins = undecided.map((intent) => namedOrder(deps, intent)!).filter(({ kind }) => kind === 'join');
  await sql`
    update join_session set begun_revision = null
    where uuid = any(${joins.map(({ uuid }) => uuid).filter(isUuid)}::uuid[]) and begun_revision is not null`.execute(
    deps.database,
  );
  for (const intentId of closing) await giveUpUnwritten(deps, intentId);
  const settled: string[] = [];
  const notMade: NotMade[] = [];
  // Stripe lists the newest intent first. The list is reversed so that, within one second, the older payment is settled first.
  for (const intent of missing.reverse().sort(byPayment)) {
    try {
      await settlePayment(deps, intent.id, { isMadeAgain: true });
      settled.push(intent.id);
    } catch (error) {
      if (!(error instanceof NotRebuilt || error instanceof NotConfirmable)) throw error;
      const isAllBack = intent.charge?.refundedCents === intent.amountReceivedCents;
      if (!isAllBack) notMade.push({ intentId: intent.id, why: error });
    }
  }
  for (const intentId of wentBack) await followPayment(deps, intentId);
  for (const intent of corrected) await takeCorrection(deps, intent, namedOrder(deps, intent)!.uuid);
  return { settled, closed: closing.length, followed: wentBack.length, notMade };
}

type PaymentHere = Pick<Selectable<PaymentTable>, 'status' | 'revision' | 'amount_cents' | 'refunded_cents'>;

/** Returns our payment rows of these intents, by the intent's id. */
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

/** Whether somebody with the client secret could still pay the intent with a card. */
function mayBePaid({ status }: Intent): boolean {
  return status !== 'succeeded' && status !== 'canceled' && status !== 'processing';
}

function isOfSameOrder({ metadata, amountCents }: Intent, row: PaymentHere): boolean {
  return (
    row.status === 'open' && row.amount_cents === amountCents && String(row.revision) === metadata.revision
  );
}

/** Compares intents by the time of payment. Stripe's times are whole seconds; within a second, a join comes before an upgrade. */
function byPayment(one: Intent, other: Intent): number {
  const paidAt = ({ charge, createdAt }: Intent) => (charge?.createdAt ?? createdAt).getTime();
  const isUpgrade = ({ metadata }: Intent) => Number(metadata.kind === 'upgrade');
  return paidAt(one) - paidAt(other) || isUpgrade(one) - isUpgrade(other);
}

/**
 * Restores the amount, product and join state of a payment that has succeeded at Stripe, to the values that its confirmation
 * wrote.
 */
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

/** Voids a payment that succeeded according to our row but not according to Stripe. Its membership ends. */
async function takeBack(trx: Kysely<Tables>, intentId: string, kind: 'join' | 'upgrade'): Promise<void> {
  const session = await lockSession(trx, intentId);
  await bringStanding(trx, session, intentId, 'void');
  await trx
    .updateTable('payment')
    .set({ status: 'canceled', succeeded_at: null, updated_at: sql`now()` })
    .where('intent_id', '=', intentId)
    .execute();
  const undone = kind === 'join' ? transitions.undoPayment : transitions.reopenUpgrade;
  // The join's state is not undone if another payment has succeeded for the same join or upgrade.
  await sql`
    update join_session set ${undone} where uuid = ${session.uuid}
      and not exists (select from payment where session_uuid = join_session.uuid and kind = ${kind} and status = 'succeeded')`.execute(
    trx,
  );
}
