import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Kysely, type Selectable, sql } from 'kysely';
import { withLines } from '#core/dashboardRefunds.ts';
import { displayPrice } from '#core/money.ts';
import type { Notice } from '#core/notice.ts';
import {
  counts,
  decideAgain,
  type GivenBack,
  goneCents,
  leftCents,
  type PaidOrder,
  type RefundedLine,
  type RefundReason,
  standingAfter,
} from '#core/refunds.ts';
import type { Remedy } from '#core/remedy.ts';
import { queueForHubspot } from '../../crm/queuePersonsForHubspot.ts';
import { dueLetters, dueSecondPayment } from '../../letters/dueLetters.ts';
import { endNotices, notifyStaff } from '../../letters/notifyStaff.ts';
import { isUuid } from '../../platform/database/isUuid.ts';
import { transaction } from '../../platform/database/transaction.ts';
import type { JoinSessionTable, RefundTable, Tables } from '../../platform/database/types.ts';
import type { MoneyBack } from '../../providers/stripe/moneyBack.ts';
import { sentTogetherWith } from '../../session/alike.ts';
import type { Deps } from '../deps.ts';
import { bringStanding } from './membershipStanding.ts';
import { paidOrders, refundsOfPayment, type SettledOrder } from './paidOrders.ts';

/** followPayment throws after this many rounds if in each round another caller has written first. */
const ROUNDS = 10;

/**
 * The text that is stored with a refund that Stripe has accepted, but does not pay out yet because our balance at Stripe is too
 * low.
 */
const LACKS_FUNDS =
  'Stripe sends it once the balance of the Stripe account suffices. Put money on that account.';

/**
 * Copies a payment's refunds (also those made outside Induct) and disputes from Stripe, and updates the membership's standing.
 * Reads Stripe's present state, so it does not matter whether events arrive late, twice or not at all. Does nothing for an intent
 * that is not recorded here as paid.
 */
export async function followPayment(deps: Deps, intentId: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await deps.database
      .selectFrom('payment')
      .select('followed')
      .where('intent_id', '=', intentId)
      .where('status', 'in', ['succeeded', 'duplicate'])
      .executeTakeFirst();
    if (!before) return;
    const money = await deps.payments.moneyBack(intentId);
    if (await write(deps, intentId, before.followed, money)) return;
  }
  throw new Error(`what went back of payment ${intentId} changes faster than it can be written`);
}

/**
 * Writes Stripe's answer into our tables. If another caller has written since this caller asked Stripe, the answer may be
 * outdated: writes nothing and returns false.
 */
async function write(
  deps: Deps,
  intentId: string,
  followed: number,
  { refunds, dispute, lost }: MoneyBack,
): Promise<boolean> {
  return transaction(deps, async (trx) => {
    const session = await lockSession(trx, intentId);
    const payment = await trx
      .updateTable('payment')
      .set({ followed: followed + 1, dispute })
      .where('intent_id', '=', intentId)
      .where('followed', '=', followed)
      .returning(['status', 'by_pay_link', 'receipt_email'])
      .executeTakeFirst();
    if (!payment) return false;
    // Our refunds come first, so that a dashboard refund of the same amount is not mistaken for one of ours. Our refunds are
    // sorted by age, the oldest first, and so are the others (Stripe lists the newest first), because the lines that each refund
    // was for are derived in this order.
    const made: string[] = [];
    let wentElsewhere = false;
    const oldestFirst = [...refunds].reverse();
    for (const refund of oldestFirst.sort((a, b) => Number(a.uuid === null) - Number(b.uuid === null))) {
      const { uuid, reason, isNew, isMadeNow } = await takeIn(trx, session.uuid, intentId, refund);
      if (isNew) made.push(uuid);
      if (isNew && counts(refund)) wentElsewhere = true;
      if (!isMadeNow) continue;
      // If the payment bought nothing, its letter (`second-payment`) usually becomes due when we decide the refund. It becomes
      // due here if staff made the refund in the dashboard instead. Then either Stripe had refused our refund and the letter was
      // withdrawn, or a restore had lost both the refund and the letter.
      const about = { sessionUuid: session.uuid, occasion: uuid };
      const email = payment.receipt_email;
      if (payment.by_pay_link && email !== null)
        await dueLetters(trx, deps, [{ kind: 'payer-refund', ...about, email }]);
      if (payment.status === 'succeeded' || reason === 'unconfirmed' || payment.by_pay_link)
        await dueLetters(trx, deps, [{ kind: 'refund', ...about }]);
      else if (reason === 'dashboard') await dueSecondPayment(trx, deps, session.uuid, intentId);
    }
    if (wentElsewhere) await dropDue(trx, session, intentId, payment.status === 'duplicate');
    made.push(...(await takeInLost(trx, intentId, lost)));
    await recount(deps, trx, session, intentId, made);
    return true;
  });
}

export type LockedSession = Pick<Selectable<JoinSessionTable>, 'uuid'>;

/**
 * Locks joins, and all other joins of their persons and of the persons who are sent to HubSpot together with them
 * ({@link bringStanding}). Locks in the order of the uuids, to avoid deadlocks. Locks only `for no key update`, which does not
 * block a transaction that inserts a notice about a locked join. Such a transaction may be handling a join that is not locked
 * here, because that join's person was recorded only after this call.
 */
export async function lockJoins(trx: Kysely<Tables>, uuids: readonly string[]): Promise<void> {
  const these = sql`any(${uuids}::uuid[])`;
  await sql`
    select from join_session
    where uuid = ${these} or person_id in (
      select alike.id from join_session own cross join lateral ${sentTogetherWith(sql`own.person_id`)} as alike (id) where own.uuid = ${these})
    order by uuid for no key update`.execute(trx);
}

/** Locks the join session of a payment, so that all writes about its money are sequential. */
export async function lockSession(trx: Kysely<Tables>, intentId: string): Promise<LockedSession> {
  const { session_uuid: uuid } = await trx
    .selectFrom('payment')
    .select('session_uuid')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  await lockJoins(trx, [uuid]);
  return { uuid };
}

/**
 * Updates all that follows from a payment's recorded refunds and disputes. Staff get a notice of a refund made outside Induct, or
 * of a lost dispute, in two cases: it is new (its uuid is in `made`), or it now counts for other lines.
 */
export async function recount(
  deps: Deps,
  trx: Kysely<Tables>,
  session: LockedSession,
  intentId: string,
  made: readonly string[] = [],
): Promise<void> {
  const [order] = await paidOrders(deps, trx, [intentId]);
  if (!order) return;
  await trx
    .updateTable('payment')
    .set({
      refunded_cents: goneCents(
        order.refunds.filter(({ status, isDispute }) => status !== 'due' && !isDispute),
      ),
    })
    .where('intent_id', '=', intentId)
    .execute();
  // If the payment bought nothing, its refunds are for no lines.
  const refunds =
    order.status === 'succeeded'
      ? withLines(order, order.processingFeeCents)
      : order.refunds.map((refund) => (refund.assignedBy === null ? { ...refund, lines: null } : refund));
  for (const [index, refund] of refunds.entries()) {
    const isOther = !isDeepStrictEqual(refund.lines, order.refunds[index]!.lines);
    if (isOther)
      await trx
        .updateTable('refund')
        .set({ lines: refund.lines && JSON.stringify(refund.lines) })
        .where('uuid', '=', refund.uuid)
        .execute();
    if (!isOther && !made.includes(refund.uuid)) continue;
    await endNotices(trx, ['refund_elsewhere'], { about: { refund: refund.uuid } });
    if (counts(refund)) await notifyStaff(trx, refundElsewhere(order, session.uuid, refund));
  }
  await bringStanding(trx, session, intentId, standingAfter({ ...order, refunds }));
  await queueForHubspot(trx, session.uuid);
}

/**
 * Returns the notice about a refund made outside Induct: what it was for, or how staff can assign it. About a lost dispute of a
 * payment that bought nothing, it says how much is still owed.
 */
function refundElsewhere(
  order: SettledOrder,
  subject: string,
  { uuid, amountCents, lines, isDispute = false }: GivenBack,
): Notice {
  const { intentId, dispute } = order;
  const bought = order.status !== 'duplicate';
  const isOwed = !bought && isDispute && leftCents(order) > 0;
  return {
    kind: 'refund_elsewhere',
    subject,
    params: {
      refund: uuid,
      intentId,
      amountCents,
      isDispute,
      bought,
      names: lines?.map(({ name }) => name) ?? null,
      owed: isOwed ? { dispute, cents: leftCents(order) } : null,
    },
    remedy: bought && lines === null ? { do: 'assign refund', refund: uuid } : null,
  };
}

/**
 * Updates our row of a refund from Stripe's data, or inserts a row if there is none. `isMadeNow` in the result is whether Stripe
 * reports for the first time that the refund has succeeded.
 */
async function takeIn(
  trx: Kysely<Tables>,
  sessionUuid: string,
  intentId: string,
  refund: MoneyBack['refunds'][number],
): Promise<{ uuid: string; reason: RefundTable['reason']; isNew: boolean; isMadeNow: boolean }> {
  const { id, amountCents, status, uuid } = refund;
  const refusal = refund.lacksFunds ? LACKS_FUNDS : null;
  const known =
    (await trx
      .selectFrom('refund')
      .select(['uuid', 'status', 'reason', 'refusal'])
      .where('intent_id', '=', intentId)
      .where((row) =>
        row.or([row('stripe_id', '=', id), ...(uuid && isUuid(uuid) ? [row('uuid', '=', uuid)] : [])]),
      )
      .executeTakeFirst()) ??
    (uuid === null && status !== 'failed' && status !== 'canceled'
      ? await madeInItsPlace(trx, intentId, amountCents)
      : undefined) ??
    (await decidedBefore(trx, intentId, refund));
  if (known) {
    await trx
      .updateTable('refund')
      .set({ stripe_id: id, status, amount_cents: amountCents, refusal, updated_at: sql`now()` })
      .where('uuid', '=', known.uuid)
      .execute();
    const isLost = (of: RefundTable['status']) => of === 'failed' || of === 'canceled';
    if (isLost(status) && !isLost(known.status))
      await notifyStaff(trx, {
        kind: 'refund_failed',
        subject: sessionUuid,
        params: {
          refund: known.uuid,
          intentId,
          amountCents,
          isCanceled: status === 'canceled',
          isCardClosed: refund.isCardClosed,
        },
        // A further refund to a closed card would fail, too.
        remedy: refund.isCardClosed ? null : await toDecideAgain(trx, known.uuid),
      });
    return {
      uuid: known.uuid,
      reason: known.reason,
      isNew: false,
      isMadeNow: status === 'succeeded' && known.status !== 'succeeded',
    };
  }
  const made = await trx
    .insertInto('refund')
    .values({
      uuid: uuidOf(id),
      intent_id: intentId,
      stripe_id: id,
      amount_cents: amountCents,
      reason: 'dashboard' satisfies RefundTable['reason'],
      status,
      refusal,
      created_at: sql`clock_timestamp()`,
    })
    .returning('uuid')
    .executeTakeFirstOrThrow();
  return { uuid: made.uuid, reason: 'dashboard', isNew: true, isMadeNow: status === 'succeeded' };
}

/** Returns the sentence for staff about a refund that Stripe has accepted but does not pay out yet. */
export function waitsSentence(intentId: string, amountCents: number, refusal: string): string {
  return `The refund of ${displayPrice(amountCents)} of payment ${intentId} waits: ${refusal}`;
}

/**
 * Returns the uuid for the row of a refund or a lost dispute that was not decided here. The uuid is derived from Stripe's id, so
 * that a restored database gives the row the same uuid as before: a letter about the row keeps its Message-ID, and commands with
 * the uuid still work.
 */
function uuidOf(stripeId: string): string {
  return createHash('sha256').update(stripeId).digest('hex').slice(0, 32);
}

/**
 * Updates our rows of lost disputes. The row of a dispute that no longer counts as lost becomes `canceled`. Returns the uuids of
 * new rows.
 */
async function takeInLost(trx: Kysely<Tables>, intentId: string, lost: MoneyBack['lost']): Promise<string[]> {
  const known = await trx
    .selectFrom('refund')
    .select(['uuid', 'stripe_id'])
    .where('intent_id', '=', intentId)
    .where('is_dispute', '=', true)
    .execute();
  for (const { uuid, stripe_id } of known) {
    const still = lost.find(({ id }) => id === stripe_id);
    await trx
      .updateTable('refund')
      .set(still ? { amount_cents: still.amountCents, status: 'succeeded' } : { status: 'canceled' })
      .where('uuid', '=', uuid)
      .execute();
  }
  const made: string[] = [];
  for (const { id, amountCents } of lost) {
    if (known.some(({ stripe_id }) => stripe_id === id)) continue;
    const { uuid } = await trx
      .insertInto('refund')
      .values({
        uuid: uuidOf(id),
        intent_id: intentId,
        stripe_id: id,
        amount_cents: amountCents,
        reason: 'dashboard',
        is_dispute: true,
        status: 'succeeded',
        created_at: sql`clock_timestamp()`,
      })
      .returning('uuid')
      .executeTakeFirstOrThrow();
    made.push(uuid);
  }
  return made;
}

/**
 * Inserts the row of a refund of ours that a restore has lost, from the refund's metadata at Stripe. Returns null for all other
 * refunds.
 */
async function decidedBefore(
  trx: Kysely<Tables>,
  intentId: string,
  { amountCents, uuid, decided }: MoneyBack['refunds'][number],
) {
  if (uuid === null || !isUuid(uuid) || decided === null) return null;
  return trx
    .insertInto('refund')
    .values({
      uuid,
      intent_id: intentId,
      amount_cents: amountCents,
      reason: decided.reason,
      lines: decided.lines && JSON.stringify(decided.lines),
      status: 'due',
      created_at: sql`clock_timestamp()`,
    })
    .returning(['uuid', 'status', 'reason', 'refusal'])
    .executeTakeFirstOrThrow();
}

/**
 * Reduces or cancels due refunds that Stripe has not made, because money of the same payment has just been refunded outside
 * Induct. If the payment bought nothing (`isReturn`), what is left of the payment stays due. Otherwise the due refunds are
 * cancelled and staff decide what is still owed, because it is uncertain what the outside refund was for.
 */
async function dropDue(
  trx: Kysely<Tables>,
  session: LockedSession,
  intentId: string,
  isReturn: boolean,
): Promise<void> {
  const { rows: due } = await sql<Pick<GivenBack, 'uuid' | 'amountCents'> & { leftCents: number }>`
    select uuid, refund.amount_cents as "amountCents", greatest(0, payment.amount_cents - (
        select coalesce(sum(gone.amount_cents), 0) from refund gone
        where gone.intent_id = refund.intent_id and gone.status in ('pending', 'succeeded')))::int as "leftCents"
    from refund join payment using (intent_id)
    where intent_id = ${intentId} and refund.status = 'due' and stripe_id is null`.execute(trx);
  for (const { uuid, amountCents, leftCents } of due) {
    const rest = isReturn ? Math.min(amountCents, leftCents) : 0;
    await trx
      .updateTable('refund')
      .set(
        rest > 0
          ? { amount_cents: rest, attempts: sql`attempts + 1`, updated_at: sql`now()` }
          : { status: 'canceled', updated_at: sql`now()` },
      )
      .where('uuid', '=', uuid)
      .execute();
    if (!isReturn)
      await notifyStaff(trx, {
        kind: 'refund_dropped',
        subject: session.uuid,
        params: { intentId, amountCents },
        remedy: await toDecideAgain(trx, uuid, { isTrial: true }),
      });
  }
}

/**
 * Returns how staff can repeat a refund that was decided and not made. With `isTrial`, staff should first look at what it would
 * do. Null for a refund made outside Induct.
 */
export async function toDecideAgain(
  trx: Kysely<Tables>,
  refund: string,
  options: { isTrial?: boolean } = {},
): Promise<Remedy | null> {
  const { rows } = await sql<
    Pick<PaidOrder, 'intentId' | 'amountCents' | 'lines' | 'refunds'> & {
      session: string;
      isReturn: boolean;
      reason: RefundReason;
      decided: RefundedLine[];
    }
  >`
    select session_uuid as session, intent_id as "intentId", payment.amount_cents as "amountCents", payment.status = 'duplicate' as "isReturn",
      reason, coalesce(refund.lines, '[]') as decided, coalesce(items, '[]') as lines, ${refundsOfPayment} as refunds
    from refund join payment using (intent_id) left join order_snapshot using (session_uuid, kind, revision)
    where refund.uuid = ${refund}`.execute(trx);
  const { session, isReturn, reason, decided, ...order } = rows[0]!;
  if (reason === 'dashboard') return null;
  return isReturn
    ? { do: 'refund payment', intentId: order.intentId }
    : decideAgain(session, order, { lines: decided, reason }, options);
}

/**
 * Finds a due refund of ours that Stripe has not made and that has this amount: staff have made the refund in Stripe's dashboard
 * instead. If ours were made as well, the money would be refunded twice.
 */
async function madeInItsPlace(trx: Kysely<Tables>, intentId: string, amountCents: number) {
  return trx
    .selectFrom('refund')
    .select(['uuid', 'status', 'reason', 'refusal'])
    .where('intent_id', '=', intentId)
    .where('status', '=', 'due')
    .where('stripe_id', 'is', null)
    .where('amount_cents', '=', amountCents)
    .orderBy('created_at')
    .executeTakeFirst();
}
