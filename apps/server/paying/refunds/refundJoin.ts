import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { JoinSessionState } from '#core/joinSession.ts';
import {
  absentItems,
  planRefund,
  type RefundPlan,
  type RefundWish,
  type StaffReason,
} from '#core/refunds.ts';
import { transaction } from '../../platform/database/transaction.ts';
import type { Tables } from '../../platform/database/types.ts';
import { Failed } from '../../platform/failed.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { NotAtStripe, ProviderRefused } from '../../providers/stripe/failures.ts';
import { goesBack } from '../../session/goesBack.ts';
import type { Deps } from '../deps.ts';
import { followPayment, type LockedSession, lockJoins, recount } from './followPayment.ts';
import { type Given, giveBack, givenOf, promiseRefund } from './giveBack.ts';
import { paidOrders, type SettledOrder } from './paidOrders.ts';
import { type Beside, isAsSeen, previewRefund, type RefundPreview } from './previewRefund.ts';

/** Thrown if nothing can be refunded. The message is a sentence for staff with the reason. */
export class NotRefundable extends Failed {}

/** Thrown if Stripe does not answer after refunds were decided. They stay due and are retried later. */
export class StaysDue extends Failed {
  constructor() {
    super('Stripe does not answer. What was decided and is not made yet stays due, and is tried again.', {
      do: 'reconcile',
    });
  }
}

/** Throws {@link StaysDue} if refunds were decided and Stripe does not answer. */
export async function orStaysDue<T>(refunded: Promise<T>): Promise<T> {
  try {
    return await refunded;
  } catch (error) {
    // A Refusal comes only after the refunds were decided: failures of Stripe before that are thrown as NotRefundable.
    if (!(error instanceof Refusal) || error instanceof NotAtStripe) throw error;
    throw new StaysDue();
  }
}

/**
 * Copies a join's refunds and disputes from Stripe, which may not have reported dashboard refunds yet. Without them a refund plan
 * might refund money twice. Throws {@link NotRefundable} if Stripe does not answer or refuses to say.
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

/** Joins that are locked, and their succeeded payments. */
export interface PaidJoins {
  sessions: (LockedSession & { state: JoinSessionState })[];
  orders: SettledOrder[];
}

/** Locks joins as {@link lockJoins} does, and reads their succeeded payments. */
export async function lockPaid(
  deps: Deps,
  trx: Kysely<Tables>,
  uuids: readonly string[],
): Promise<PaidJoins> {
  await lockJoins(trx, uuids);
  const sessions = await trx
    .selectFrom('join_session')
    .select(['uuid', 'state'])
    .where('uuid', 'in', uuids)
    .execute();
  const { rows } = await sql<{ intent_id: string }>`
    select intent_id from payment where session_uuid = any(${uuids}::uuid[]) and status = 'succeeded'`.execute(
    trx,
  );
  const orders = await paidOrders(
    deps,
    trx,
    rows.map(({ intent_id }) => intent_id),
  );
  return { sessions, orders };
}

/**
 * Records the refunds of a plan as due, with all consequences, in the transaction that made the plan. Returns the refunds' uuids.
 */
export async function decideRefunds(
  deps: Deps,
  trx: Kysely<Tables>,
  { sessions, orders }: PaidJoins,
  { refunds }: RefundPlan,
  reason: StaffReason,
): Promise<string[]> {
  const decided = refunds.map((refund) => ({
    ...refund,
    order: orders.find(({ intentId }) => intentId === refund.intentId)!,
  }));
  const isBase = ({ order }: (typeof decided)[number]) =>
    order.lines.some(({ type }) => type === 'membership');
  const promised: string[] = [];
  // Upgrades come first. Their standing has then changed before the membership ends, so staff get no notice of an upgrade whose
  // membership has ended.
  for (const { intentId, amountCents, lines, order } of decided.sort(
    (a, b) => Number(isBase(a)) - Number(isBase(b)),
  )) {
    promised.push(await promiseRefund(trx, { intentId, amountCents, lines, reason }));
    const session = sessions.find(({ uuid }) => uuid === order.sessionUuid)!;
    await recount(deps, trx, session, intentId);
  }
  return promised;
}

/** Returns the payments of a join that bought nothing and are not refunded automatically. */
async function keptPayments(trx: Kysely<Tables>, uuid: string): Promise<string[]> {
  const { rows } = await sql<{ intent_id: string }>`
    select intent_id from payment where session_uuid = ${uuid} and status = 'duplicate' and not ${goesBack}
    order by succeeded_at`.execute(trx);
  return rows.map(({ intent_id }) => intent_id);
}

const CHANGED =
  'What would go back has changed since it was shown, so nothing was refunded. Please look again.';
const BESIDE_CHANGED =
  'What was shipped, or the member’s request, has changed since this was shown, so nothing was refunded. Please look again.';

/** Throws {@link NotRefundable} if the refunds or the preview have changed since they were shown. */
export function mustBeSeen<Refunds>(
  seen: { refunds: Refunds; preview: Beside },
  now: { refunds: Refunds; preview: Beside },
): void {
  if (!isDeepStrictEqual(seen.refunds, now.refunds)) throw new NotRefundable(CHANGED);
  if (!isAsSeen(seen.preview, now.preview)) throw new NotRefundable(BESIDE_CHANGED);
}

/** The result of a refund of a join, or of its trial. */
export interface JoinRefund extends RefundPlan {
  /** The payments of the join that bought nothing and that we have not refunded. */
  kept: string[];
  /** The outcome at Stripe; null in a trial. */
  given: Given | null;
  preview: RefundPreview;
}

/**
 * Refunds the things that staff have named, from the payments for the join and for its upgrade. Records all decisions in one
 * transaction, so that a repeated request refunds nothing twice. After the commit, Stripe is asked to make the refunds; refunds
 * that stay due are retried in the background (books/sweep.ts). `given` is the outcome. With `isTrial`, decides nothing, and
 * `given` is null. With `seen`, the result of a trial, throws if that result has changed ({@link mustBeSeen}).
 */
export async function refundJoin(
  deps: Deps,
  uuid: string,
  wish: RefundWish,
  { isTrial = false, seen }: { isTrial?: boolean; seen?: Pick<JoinRefund, 'refunds' | 'preview'> } = {},
): Promise<JoinRefund> {
  await followJoin(deps, uuid);
  const { plan, promised, preview } = await transaction(deps, async (trx) => {
    const paid = await lockPaid(deps, trx, [uuid]);
    const [session] = paid.sessions;
    if (!session) throw new NotRefundable(`There is no join ${uuid}.`);
    const kept = await keptPayments(trx, uuid);
    if (paid.orders.length === 0)
      throw kept[0] === undefined
        ? new NotRefundable(`Join ${uuid} is ${session.state}: nothing was paid.`)
        : new NotRefundable(`Payment ${kept.join(' and ')} bought nothing and is still with us.`, {
            do: 'refund payment',
            intentId: kept[0],
          });
    const absent = absentItems(paid.orders, wish);
    // Probably an id was mistyped. Therefore nothing is refunded, not even the lines that were found.
    if (absent.length > 0)
      throw new NotRefundable(
        `This join has no donation or store item with the id ${absent.join(' or ')}. Nothing was refunded.`,
      );
    const plan = { ...planRefund(paid.orders, wish), kept };
    if (plan.refunds.length === 0 && plan.disputed.length > 0) throw new NotRefundable(plan.notes.join('\n'));
    const preview = await previewRefund(deps, trx, paid.orders, plan);
    if (isTrial) return { plan, promised: [], preview };
    if (seen) mustBeSeen(seen, { ...plan, preview });
    const reason = wish.ineligible ? 'ineligible' : 'requested';
    return { plan, promised: await decideRefunds(deps, trx, paid, plan, reason), preview };
  });
  if (isTrial) return { ...plan, given: null, preview };
  for (const { intentId } of plan.refunds) await giveBack(deps, intentId);
  const given = await givenOf(deps, promised);
  return { ...plan, notes: [...plan.notes, ...given.notes, ...given.refused], given, preview };
}
