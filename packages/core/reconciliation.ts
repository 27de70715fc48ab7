import { assignCommand, isUnassigned } from './dashboardRefunds.ts';
import { displayPrice } from './money.ts';
import { isMembershipLine, type OrderLine } from './orderLine.ts';
import {
  counts,
  type Dispute,
  type GivenBack,
  giveBackCommand,
  isHeld,
  lostCents,
  type MembershipStanding,
  operatorRefund,
  standingAfter,
} from './refunds.ts';
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
    /** Whether the intent's metadata suffices to make its join again. */
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

/** A disagreement between the money at Stripe and the members in our database, with the operator command that repairs it. */
export interface Difference {
  kind: string;
  /** The id of a payment intent or of a join session. */
  subject: string;
  text: string;
  repair: string;
}

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

const operator = (command: string) => `npm run operator -- ${command}`;

/**
 * Returns the differences between Stripe's side of a payment and ours, such as money without a member, a member without money, or
 * an amount other than that of the order. While the intent is younger than `graceMinutes`, leaves out those that may be due to
 * work in progress.
 */
export function differencesOf(sides: Sides, graceMinutes: number): Difference[] {
  const found: Difference[] = [];
  const { intentId, stripe, payment, session, snapshot, memberships } = sides;
  const settle = operator(`settle ${intentId}`);
  const add = (kind: string, text: string, repair = settle) =>
    found.push({ kind, subject: intentId, text, repair });

  const holds = memberships.some((membership) => membership.isHeld);
  if (stripe?.status !== 'succeeded') {
    if (payment?.status === 'succeeded' || payment?.status === 'duplicate')
      add(
        'paid_here_only',
        `We hold it as paid${holds ? ', with a membership' : ''}; Stripe ${stripe ? `says ${stripe.status}` : 'knows no such payment'}.`,
      );
    else if (payment?.status === 'open' && (!stripe || stripe.status === 'canceled'))
      add(
        'open_here_only',
        `It is open here; Stripe ${stripe ? 'has cancelled it' : 'knows no such payment'}.`,
      );
    else if (stripe && stripe.status !== 'canceled' && stripe.ageMinutes >= graceMinutes) {
      if (!payment) add('unknown_intent', `Stripe has it as ${stripe.status}; we have no payment of it.`);
      else if (payment.status === 'canceled')
        add('open_there_only', `It is cancelled here; Stripe says ${stripe.status}.`);
      else if (stripe.ageMinutes >= OPEN_FOR_MINUTES)
        add('pending', `It has been ${stripe.status} for ${Math.floor(stripe.ageMinutes / 60)} hours.`);
    }
    return found;
  }

  const refund = operatorRefund(intentId);
  const isAllBack = stripe.refundedCents >= stripe.amountReceivedCents;
  const received = displayPrice(stripe.amountReceivedCents);
  const due = (payment?.refunds ?? []).filter(({ status }) => status === 'due');
  const compareMoney = (payment: NonNullable<Sides['payment']>) => {
    if (payment.amountCents !== stripe.amountReceivedCents)
      add('other_amount_here', `Stripe took ${received}; we hold ${displayPrice(payment.amountCents)}.`);
    if (payment.refundedCents !== stripe.refundedCents)
      add(
        'refunds',
        `Stripe has refunded ${displayPrice(stripe.refundedCents)}, we know of ${displayPrice(payment.refundedCents)}.`,
      );
    if (payment.dispute !== stripe.dispute)
      add(
        'dispute',
        `At Stripe its dispute is ${stripe.dispute ?? 'none'}, here ${payment.dispute ?? 'none'}.`,
      );
    else if (lostCents(payment) !== stripe.lostCents)
      add(
        'dispute',
        `At Stripe its dispute took ${displayPrice(stripe.lostCents)}, here ${displayPrice(lostCents(payment))}.`,
      );
    if (due.length > 0 && stripe.ageMinutes >= graceMinutes)
      add(
        'refund_due',
        [
          `A refund of ${displayPrice(sumOf(due))} was decided and is not made yet.`,
          ...new Set(due.flatMap(({ refusal }) => (refusal ? [`Stripe says: ${refusal}`] : []))),
        ].join(' '),
      );
    for (const { amountCents, status, refusal } of payment.refunds)
      if (status === 'pending' && refusal)
        add('refund_waits', `A refund of ${displayPrice(amountCents)} waits: ${refusal}`);
  };
  // A payment that bought nothing is compared here, before the checks of its order, because this database may lack the order.
  if (session && payment?.status === 'duplicate') {
    compareMoney(payment);
    if (memberships.length > 0)
      add('member_without_money', 'It is to go back, but a membership hangs on it.', refund);
    else if (!isAllBack && due.length === 0 && stripe.dispute === null)
      add('not_returned', `It bought nothing, and not all of its ${received} has gone back.`, refund);
    return found;
  }
  if (!session || !snapshot) {
    if (stripe.tellsOrder)
      add(
        'not_here',
        `Stripe took ${received} for ${session ? 'an order' : 'a join'} that is not in this database: was it restored from a backup?`,
      );
    else if (!isAllBack)
      add(
        'nothing_sold',
        `Stripe took ${received} for ${session ? 'an order that was never shown' : 'a join that does not exist'}.`,
        refund,
      );
    return found;
  }
  const shown = snapshot.lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  if (!isAllBack && (snapshot.amountCents !== stripe.amountReceivedCents || shown !== snapshot.amountCents)) {
    add('other_amount', `Stripe took ${received}; ${displayPrice(shown)} was on the screen.`, refund);
    return found;
  }
  if (!payment || payment.status === 'open' || payment.status === 'canceled') {
    if (!isAllBack && stripe.ageMinutes >= graceMinutes)
      add('unconfirmed', `Stripe took ${received}; here it is ${payment?.status ?? 'unknown'}.`);
    return found;
  }

  compareMoney(payment);
  const bought = snapshot.lines.find(isMembershipLine);
  const [membership] = memberships;
  if (!membership) add('money_without_member', `Stripe took ${received}, and nobody became a member by it.`);
  else if (membership.productId !== bought?.productId)
    add(
      'other_product',
      `${bought ? `Product ${bought.productId}` : 'No membership'} was paid for, product ${membership.productId} is held.`,
    );
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
        .filter((refund) => !counts(refund) && refund.saidBy !== 'staff')
        .flatMap(({ lines }) => lines?.filter((part) => part.line === line) ?? [])
        .at(-1)?.cents;
      const backCents = failedCents ?? bought.priceCents;
      add(
        'paid_anew',
        `The ${displayPrice(backCents)} of its ${bought.name} is with us again, and its contact has joined anew meanwhile.`,
        giveBackCommand(session.uuid, [bought.type], { isIneligible: backCents < bought.priceCents }),
      );
    } else if (!isPaidAnew && membership.standing !== expected)
      add('standing', `The membership is ${membership.standing}; by its money it is ${expected}.`);
  }
  for (const { uuid, amountCents } of payment.refunds.filter(isUnassigned))
    add(
      'refund_unassigned',
      `${displayPrice(amountCents)} went back outside Induct, and nobody said what for.`,
      assignCommand(uuid),
    );
  const isDone = sides.kind === 'join' ? session.state === 'paid' : session.upgrade === 'taken';
  if (!isDone)
    add('session', `It is paid; its join says ${sides.kind === 'join' ? session.state : session.upgrade}.`);
  return found;
}

function sumOf(refunds: readonly GivenBack[]): number {
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
