import { isUnassigned } from './dashboardRefunds.ts';
import { isMembershipLine, type OrderLine } from './orderLine.ts';
import {
  counts,
  type Dispute,
  type GivenBack,
  isHeld,
  lostCents,
  type MembershipStanding,
  standingAfter,
} from './refunds.ts';
import { giveBack, type Remedy } from './remedy.ts';
import { UPGRADE_WINDOW_MINUTES } from './specified.ts';

/**
 * One payment according to Stripe, and according to our rows of the payment and its session, snapshot and memberships. Amounts are
 * in cents.
 */
export interface Sides {
  intentId: string;
  /** Stripe's side; null if Stripe has no such intent. */
  stripe: {
    status: string;
    amountReceivedCents: number;
    refundedCents: number;
    dispute: Dispute | null;
    /** The cents that lost disputes took. */
    lostCents: number;
    /** Minutes since the intent was charged or, if uncharged, created. */
    ageMinutes: number;
    /** Whether the intent's metadata suffices to rebuild its join. */
    tellsOrder: boolean;
  } | null;
  /** Our row of the payment; null when there is none. */
  payment: {
    status: 'open' | 'succeeded' | 'canceled' | 'duplicate';
    amountCents: number;
    refundedCents: number;
    dispute: Dispute | null;
    refunds: readonly GivenBack[];
  } | null;
  kind: 'join' | 'upgrade';
  /** The payment's join session; null if it does not exist. */
  session: { uuid: string; state: string; upgrade: string } | null;
  /** The order that was paid; null if it was not stored. */
  snapshot: { amountCents: number; lines: readonly OrderLine[] } | null;
  /** The memberships that this payment bought. */
  memberships: readonly {
    productId: number;
    standing: MembershipStanding;
    isHeld: boolean;
    /** Whether the membership's contact holds another membership of the same type. */
    isReplaced: boolean;
  }[];
}

/** The params of a difference, by kind. Amounts are in cents. `atStripe` is Stripe's status; null if Stripe has none. */
interface Kinds {
  /** Our database has the payment as paid but Stripe does not. `isHeld`: whether its membership is held. */
  paid_here_only: { atStripe: string | null; isHeld: boolean };
  open_here_only: { atStripe: string | null };
  unknown_intent: { atStripe: string };
  open_there_only: { atStripe: string };
  pending: { atStripe: string; hours: number };
  other_amount_here: { receivedCents: number; heldCents: number };
  refunds: { atStripeCents: number; hereCents: number };
  dispute: { atStripe: Dispute | null; here: Dispute | null };
  /** The amounts of the lost disputes differ. */
  dispute_amount: { atStripeCents: number; hereCents: number };
  /** Refunds that were decided and not made yet, and Stripe's reasons for refusing them. */
  refund_due: { cents: number; refusals: string[] };
  refund_waits: { cents: number; refusal: string };
  /** The payment bought nothing and is to be refunded, but a membership belongs to it. */
  member_without_money: object;
  /** The payment bought nothing and is not fully refunded. */
  not_returned: { receivedCents: number };
  /** The order or join of the payment is missing in our database, and can be rebuilt from Stripe's metadata. */
  not_here: { receivedCents: number; lacks: 'order' | 'join' };
  /** The order or join of the payment is missing in our database, and cannot be rebuilt from Stripe's metadata. */
  nothing_sold: { receivedCents: number; lacks: 'order' | 'join' };
  /** The amount received is not the amount on the screen. */
  other_amount: { receivedCents: number; shownCents: number };
  unconfirmed: { receivedCents: number; here: string | null };
  money_without_member: { receivedCents: number };
  /** The product that was paid for (null: none), and the product that is held. */
  other_product: { paidFor: number | null; held: number };
  /** The money of a membership has returned to us after its refund or dispute, but its contact has joined again meanwhile. */
  paid_anew: { backCents: number; name: string };
  standing: { here: MembershipStanding; expected: MembershipStanding };
  /** Money was refunded outside Induct, and nobody has said for which lines. */
  refund_unassigned: { cents: number };
  /** The state of the join, or of its upgrade, in our database, although it is paid at Stripe. */
  session: { here: string };
  paid_by_nothing: object;
  upgraded_by_nothing: object;
  paying_for_long: object;
  paid_twice: object;
  upgrade_alone: object;
  held_twice: object;
  likely_same: { other: string };
  /** The membership is held, but HubSpot lists its contact as a former member. */
  former_and_held: object;
  /** The joiner of this join is not proven, although the join has the same person as join `other`. */
  unproven_beside: { other: string };
  rejected_held: object;
}

/**
 * A disagreement between the money at Stripe and the members in our database. `subject` is the id of a payment intent or of a join
 * session; `remedy` repairs it.
 */
export type Difference = {
  [Kind in keyof Kinds]: { kind: Kind; subject: string; params: Kinds[Kind]; remedy: Remedy };
}[keyof Kinds];

/**
 * How long (minutes) an intent may stay open before background work cancels it. For a join this is a day; for an upgrade, twice
 * the time for which the upgrade is offered.
 */
export const ABANDONED_MINUTES = { join: 24 * 60, upgrade: 2 * UPGRADE_WINDOW_MINUTES };
/**
 * How long (minutes) an intent may be open before this counts as a difference: two hours longer than the longest of {@link
 * ABANDONED_MINUTES}, by when it should have been cancelled.
 */
const OPEN_FOR_MINUTES = Math.max(...Object.values(ABANDONED_MINUTES)) + 120;

/**
 * Returns the differences between Stripe's side of a payment and ours, such as money without a member, a member without money, or
 * an amount other than that of the order. While the intent is younger than `graceMinutes`, leaves out those that may be due to
 * work in progress.
 */
export function differencesOf(sides: Sides, graceMinutes: number): Difference[] {
  const found: Difference[] = [];
  const { intentId, stripe, payment, session, snapshot, memberships } = sides;
  const settle: Remedy = { do: 'settle', subject: intentId };
  const add = <Kind extends keyof Kinds>(kind: Kind, params: Kinds[Kind], remedy: Remedy = settle) =>
    found.push({ kind, subject: intentId, params, remedy } as Difference);

  const holds = memberships.some((membership) => membership.isHeld);
  if (stripe?.status !== 'succeeded') {
    if (payment?.status === 'succeeded' || payment?.status === 'duplicate')
      add('paid_here_only', { atStripe: stripe?.status ?? null, isHeld: holds });
    else if (payment?.status === 'open' && (!stripe || stripe.status === 'canceled'))
      add('open_here_only', { atStripe: stripe?.status ?? null });
    else if (stripe && stripe.status !== 'canceled' && stripe.ageMinutes >= graceMinutes) {
      const atStripe = stripe.status;
      if (!payment) add('unknown_intent', { atStripe });
      else if (payment.status === 'canceled') add('open_there_only', { atStripe });
      else if (stripe.ageMinutes >= OPEN_FOR_MINUTES)
        add('pending', { atStripe, hours: Math.floor(stripe.ageMinutes / 60) });
    }
    return found;
  }

  const refund: Remedy = { do: 'refund payment', intentId };
  const isAllBack = stripe.refundedCents >= stripe.amountReceivedCents;
  const receivedCents = stripe.amountReceivedCents;
  const due = (payment?.refunds ?? []).filter(({ status }) => status === 'due');
  const compareMoney = (payment: NonNullable<Sides['payment']>) => {
    if (payment.amountCents !== stripe.amountReceivedCents)
      add('other_amount_here', { receivedCents, heldCents: payment.amountCents });
    if (payment.refundedCents !== stripe.refundedCents)
      add('refunds', { atStripeCents: stripe.refundedCents, hereCents: payment.refundedCents });
    if (payment.dispute !== stripe.dispute)
      add('dispute', { atStripe: stripe.dispute, here: payment.dispute });
    else if (lostCents(payment) !== stripe.lostCents)
      add('dispute_amount', { atStripeCents: stripe.lostCents, hereCents: lostCents(payment) });
    if (due.length > 0 && stripe.ageMinutes >= graceMinutes)
      add('refund_due', {
        cents: sumOf(due),
        refusals: [...new Set(due.flatMap(({ refusal }) => refusal || []))],
      });
    for (const { amountCents, status, refusal } of payment.refunds)
      if (status === 'pending' && refusal) add('refund_waits', { cents: amountCents, refusal });
  };
  // A payment that bought nothing is compared here, before the checks of its order, because this database may lack the order.
  if (session && payment?.status === 'duplicate') {
    compareMoney(payment);
    if (memberships.length > 0) add('member_without_money', {}, refund);
    else if (!isAllBack && due.length === 0 && stripe.dispute === null)
      add('not_returned', { receivedCents }, refund);
    return found;
  }
  if (!session || !snapshot) {
    const lacks = session ? 'order' : 'join';
    if (stripe.tellsOrder) add('not_here', { receivedCents, lacks });
    else if (!isAllBack) add('nothing_sold', { receivedCents, lacks }, refund);
    return found;
  }
  const shown = snapshot.lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  if (!isAllBack && (snapshot.amountCents !== stripe.amountReceivedCents || shown !== snapshot.amountCents)) {
    add('other_amount', { receivedCents, shownCents: shown }, refund);
    return found;
  }
  if (!payment || payment.status === 'open' || payment.status === 'canceled') {
    if (!isAllBack && stripe.ageMinutes >= graceMinutes)
      add('unconfirmed', { receivedCents, here: payment?.status ?? null });
    return found;
  }

  compareMoney(payment);
  const bought = snapshot.lines.find(isMembershipLine);
  const [membership] = memberships;
  if (!membership) add('money_without_member', { receivedCents });
  else if (membership.productId !== bought?.productId)
    add('other_product', { paidFor: bought?.productId ?? null, held: membership.productId });
  else {
    const expected = standingAfter({
      lines: snapshot.lines,
      refunds: payment.refunds,
      dispute: payment.dispute,
    });
    // According to the payment's refunds and disputes, this membership should be held: its refund has failed, or its dispute was
    // not lost after all. But meanwhile its contact has bought another membership. This difference is reported only if the
    // payment has no dispute: Stripe refunds no payment with an open or lost dispute, so no command could repair it.
    const isPaidAnew = isHeld(expected) && !membership.isHeld && membership.isReplaced;
    if (isPaidAnew && payment.dispute === null) {
      const line = snapshot.lines.indexOf(bought);
      // Looks for the last failed refund of this membership, to suggest a refund of the same amount: the whole price, or the
      // price less the processing fee. Refunds that staff assigned are left out, because they can be of any other amount.
      const failedCents = payment.refunds
        .filter((refund) => !counts(refund) && refund.assignedBy !== 'staff')
        .flatMap(({ lines }) => lines?.filter((part) => part.line === line) ?? [])
        .at(-1)?.cents;
      const backCents = failedCents ?? bought.priceCents;
      add(
        'paid_anew',
        { backCents, name: bought.name },
        giveBack(session.uuid, [bought.type], { isIneligible: backCents < bought.priceCents }),
      );
    } else if (!isPaidAnew && membership.standing !== expected)
      add('standing', { here: membership.standing, expected });
  }
  for (const { uuid, amountCents } of payment.refunds.filter(isUnassigned))
    add('refund_unassigned', { cents: amountCents }, { do: 'assign refund', refund: uuid });
  const isDone = sides.kind === 'join' ? session.state === 'paid' : session.upgrade === 'taken';
  if (!isDone) add('session', { here: sides.kind === 'join' ? session.state : session.upgrade });
  return found;
}

function sumOf(refunds: readonly GivenBack[]): number {
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
