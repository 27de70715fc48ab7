import { type Kysely, sql } from 'kysely';
import { isUnassigned } from '#core/dashboardRefunds.ts';
import { displayPrice } from '#core/money.ts';
import { isMembershipType } from '#core/product.ts';
import {
  counts,
  disputedSentence,
  isHeld,
  type PaidOrder,
  planRefund,
  type RefundPlan,
  standingsAfter,
} from '#core/refunds.ts';
import { giveBack as giveMembershipBack } from '#core/remedy.ts';
import { finalRejection, type RejectionReason } from '#documents/document.ts';
import { type Given, giveBack, givenOf } from '../paying/refunds/giveBack.ts';
import { othersOfPerson } from '../paying/refunds/membershipStanding.ts';
import { previewRefund, type RefundPreview } from '../paying/refunds/previewRefund.ts';
import {
  decideRefunds,
  followJoin,
  lockPaid,
  mustBeSeen,
  NotRefundable,
  type PaidJoins,
} from '../paying/refunds/refundJoin.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { proofJoin } from './proofJoin.ts';
import {
  isOver,
  lockTranscripts,
  membershipOver,
  NothingToDecide,
  noTranscript,
  type Reviewed,
  recordReview,
} from './review.ts';

/** The decisions that a final rejection has made or, with `isTrial`, would make. */
export interface FinalRejection {
  /** The decision on the transcripts. Its `count` is 0 if all transcripts were already rejected finally before. */
  reviewed: Reviewed;
  /** The sentence that the applicant reads. */
  sentence: string;
  plan: RefundPlan;
  /** The plan's effects other than the refunds. */
  preview: RefundPreview;
  /** The uuids of the refunds that are now due. */
  promised: string[];
  /** The uuids of other joins that hold a membership, of the join's person or of persons who are likely the same. */
  others: string[];
}

/**
 * Rejects the transcripts of a join finally and decides the refund, in one transaction. Refunds the membership less the
 * processing fee, and its upgrade in full, but no donations or store items. For an upgrade by link, `uuid` may be the upgrade's
 * join or its base's. With `isTrial`, writes nothing. With `seen`, the result of a trial, decides nothing unless the transcripts
 * and the refunds are still the same. A repeated call decides refunds that are still missing.
 * - Throws {@link NothingToDecide} if there is no transcript, or if staff have already refunded the membership and it has ended.
 * - Throws {@link NotRefundable}, and decides nothing, if the membership or upgrade would stay held, or if Stripe cannot tell how
 * much was already refunded.
 */
export async function rejectFinally(
  deps: Deps,
  uuid: string,
  reason: RejectionReason,
  { isTrial = false, seen }: { isTrial?: boolean; seen?: FinalRejection | undefined } = {},
): Promise<FinalRejection> {
  const join = await proofJoin(deps.database, uuid);
  const joins = [join, ...(await upgradesByLink(deps.database, join))];
  for (const each of joins) await followJoin(deps, each);
  return transaction(deps, async (trx) => {
    const paid = await lockPaid(deps, trx, joins);
    const verdict = { review: 'rejected', reason } as const;
    const transcripts = await lockTranscripts(trx, [uuid, join]);
    if (transcripts.length === 0) throw new NothingToDecide(noTranscript(join));
    const isBegun = transcripts.some(({ is_final }) => is_final);
    if (!isBegun && isGivenBack(paid.orders, join) && (await isOver(trx, join)))
      throw new NothingToDecide(membershipOver(join));
    const undecided = transcripts.filter(({ is_final }) => !is_final);
    const reviewed = await recordReview(trx, deps, join, undecided, verdict, {
      isFinal: true,
      isTrial,
      seen: seen?.reviewed,
    });
    const { orders } = paid;
    const plan = planRefund(orders, {
      membership: true,
      ineligible: true,
      upgrade: orders.some(({ lines }) => lines.some(({ type }) => type === 'membership_upgrade')),
      items: 'none',
    });
    const standings = standingsAfter(orders, plan);
    const kept = orders.find((_, index) => isHeld(standings[index]!));
    if (kept) throw whyKept(kept, join);
    const preview = await previewRefund(deps, trx, orders, plan);
    if (seen) mustBeSeen({ ...seen.plan, preview: seen.preview }, { ...plan, preview });
    const promised = isTrial ? [] : await decideRefunds(deps, trx, paid, plan, 'ineligible');
    const base = orders.findIndex(({ lines }) => lines.some(({ type }) => type === 'membership'));
    const isReturned = standings[base] === 'refunded';
    const others = await othersOfPerson(trx, join);
    return { reviewed, sentence: finalRejection({ isReturned }), plan, preview, promised, others };
  });
}

/**
 * Like {@link rejectFinally}, and makes the refunds at Stripe. If Stripe does not answer, they stay due, and a background task
 * retries them. `given` is their outcome.
 */
export async function rejectAndGiveBack(
  deps: Deps,
  uuid: string,
  reason: RejectionReason,
  { seen }: { seen?: FinalRejection | undefined } = {},
): Promise<FinalRejection & { given: Given }> {
  const rejection = await rejectFinally(deps, uuid, reason, { seen });
  for (const { intentId } of rejection.plan.refunds)
    await giveBack(deps, intentId).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
  return { ...rejection, given: await givenOf(deps, rejection.promised) };
}

/**
 * Whether staff have refunded the membership or upgrade of a join. If so, a final rejection would give the applicant an untrue
 * reason for the refund. A lost dispute or a refund in Stripe's dashboard does not count: it may have prevented the final
 * rejection until staff recorded what it was for ({@link whyKept}).
 */
function isGivenBack(orders: PaidJoins['orders'], join: string): boolean {
  return orders.some(
    ({ sessionUuid, lines, refunds }) =>
      sessionUuid === join &&
      refunds.some(
        (refund) =>
          refund.assignedBy === 'us' &&
          counts(refund) &&
          refund.lines?.some(({ line }) => lines[line] && isMembershipType(lines[line].type)),
      ),
  );
}

function whyKept(order: PaidOrder, uuid: string): NotRefundable {
  const lost = order.refunds.find((refund) => refund.isDispute && counts(refund));
  if (order.dispute === 'lost' && lost)
    return new NotRefundable(
      `${disputedSentence(order)} The membership would stay, so nothing was decided. Say what the dispute was for, which ends it, and reject it again.`,
      { do: 'assign refund', refund: lost.uuid },
    );
  if (order.dispute === 'open')
    return new NotRefundable(
      `${disputedSentence(order)} Nothing was decided: reject it when the dispute is over.`,
    );
  const unassigned = order.refunds.find(isUnassigned);
  if (unassigned)
    return new NotRefundable(
      `${displayPrice(unassigned.amountCents)} of payment ${order.intentId} went back outside Induct, and nobody said what for: the membership would stay, so nothing was decided. Say what it was for, and reject it again.`,
      { do: 'assign refund', refund: unassigned.uuid },
    );
  return new NotRefundable(
    `Of payment ${order.intentId} nothing can go back, since what is left of it for the membership is no more than the processing fee: the membership would stay. Nothing was decided. Giving all of it back ends it.`,
    giveMembershipBack(uuid, ['membership']),
  );
}

/**
 * Returns the uuids of joins with an upgrade by link whose only base is the membership of this join: their person holds no other
 * membership.
 */
async function upgradesByLink(database: Kysely<Tables>, uuid: string): Promise<string[]> {
  const { rows } = await sql<{ session_uuid: string }>`
    select upgrade.session_uuid from membership upgrade join join_session own on own.person_id = upgrade.person_id
    where own.uuid = ${uuid} and upgrade.session_uuid <> own.uuid and upgrade.type = 'membership_upgrade' and upgrade.is_held
      and not exists (select from membership other where other.person_id = upgrade.person_id and other.session_uuid <> own.uuid
        and other.type = 'membership' and other.is_held)`.execute(database);
  return rows.map(({ session_uuid }) => session_uuid);
}
