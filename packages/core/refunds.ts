import { displayPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import type { MembershipType } from './product.ts';
import { isMembershipType, type ProductType } from './product.ts';
import { giveBack, type Remedy } from './remedy.ts';

/** `due`: decided, but Stripe has not made the refund yet. The other statuses are Stripe's. */
export type RefundStatus = 'due' | 'pending' | 'succeeded' | 'failed' | 'canceled';

/**
 * The reason of a refund:
 * - `duplicate`: the payment bought nothing and is refunded in full automatically.
 * - `unconfirmed`: the payment could not be confirmed, and staff refund it in full.
 * - `requested`: staff decided on a refund at the payer's or member's request.
 * - `ineligible`: the member was not eligible, so the processing fee is kept.
 * - `dashboard`: the money was refunded outside Induct, or a lost dispute took it.
 */
export type RefundReason = 'duplicate' | 'unconfirmed' | StaffReason | 'dashboard';
/** The reasons from which staff choose. When staff choose a reason, they also choose the lines to refund. */
export const staffReasons = ['requested', 'ineligible'] as const;
export type StaffReason = (typeof staffReasons)[number];

/**
 * One refund. `lines` has the lines of the paid order (by index) that the refund was for; empty if it was for none, null if
 * unknown.
 */
export interface GivenBack {
  uuid: string;
  amountCents: number;
  status: RefundStatus;
  lines: RefundedLine[] | null;
  /** The reason that Stripe gave when it last refused a due refund, or why a pending refund is not sent yet. */
  refusal?: string | null;
  /** Whether this is not a refund but the amount that a lost dispute took. */
  isDispute?: boolean;
  /**
   * Who decided which lines the refund was for.
   * - `us`: Induct made the refund, automatically or by a command of staff.
   * - `staff`: the refund was made elsewhere, and staff named its lines later (`refund assign`).
   * - null: the refund was made elsewhere, and its lines are inferred from its amount (dashboardRefunds.ts).
   */
  assignedBy: 'us' | 'staff' | null;
}
export interface RefundedLine {
  line: number;
  productId: number;
  name: string;
  cents: number;
}

/** A succeeded payment with its order and its refunds so far. */
export interface PaidOrder {
  intentId: string;
  lines: readonly OrderLine[];
  amountCents: number;
  /** The refunds, in the order in which they were made. */
  refunds: readonly GivenBack[];
  dispute: Dispute | null;
  /** The processing fee (cents) that is kept when a member is not eligible. */
  processingFeeCents: number;
}

/** The things that staff ask to refund. `items` are the donations and store items: none, all, or those with these product ids. */
export interface RefundWish {
  membership: boolean;
  ineligible: boolean;
  upgrade: boolean;
  items: 'none' | 'all' | readonly number[];
}

export interface RefundPlan {
  /** The planned refunds, at most one for each payment. */
  refunds: { intentId: string; amountCents: number; lines: RefundedLine[] }[];
  /** The ids of payments that cannot be refunded as asked because they are disputed. */
  disputed: string[];
  /** Sentences that name the things that are not refunded, and the reasons. */
  notes: string[];
}

/** Whether a refund counts as refunded money. All refunds do, even due ones, except failed and cancelled refunds. */
export function counts({ status }: Pick<GivenBack, 'status'>): boolean {
  return status !== 'failed' && status !== 'canceled';
}

/**
 * Returns the sentence for staff that says why a disputed payment is not refunded. After a lost dispute Stripe refuses every
 * further refund of the payment.
 */
export function disputedSentence({ intentId, dispute }: Pick<PaidOrder, 'intentId' | 'dispute'>): string {
  return dispute === 'lost'
    ? `A dispute over payment ${intentId} was lost, and Stripe refunds nothing more of it: what is left goes back by other means, as by a cheque.`
    : `Payment ${intentId} is disputed: its bank has the money, and Stripe refunds nothing of it.`;
}

/** Returns the sum (cents) of refunds that are made or due. */
export function goneCents(refunds: readonly Pick<GivenBack, 'amountCents' | 'status'>[]): number {
  return refunds.filter(counts).reduce((sum, { amountCents }) => sum + amountCents, 0);
}

/**
 * Returns the cents of a payment that lost disputes took. If the amount of a dispute is unknown, all of
 * the payment that was not refunded counts as lost.
 */
export function lostCents({
  amountCents,
  refunds,
  dispute,
}: {
  amountCents: number;
  refunds: readonly Pick<GivenBack, 'amountCents' | 'status' | 'isDispute'>[];
  dispute: Dispute | null;
}): number {
  if (isLostWhole({ refunds, dispute })) return leftCents({ amountCents, refunds });
  return goneCents(refunds.filter(({ isDispute }) => isDispute));
}

/** Whether the payment has a lost dispute whose amount is not stored. Then all of the payment counts as lost. */
export function isLostWhole({
  refunds,
  dispute,
}: {
  refunds: readonly Pick<GivenBack, 'status' | 'isDispute'>[];
  dispute: Dispute | null;
}): boolean {
  return dispute === 'lost' && !refunds.some((refund) => refund.isDispute && counts(refund));
}

/** Returns the cents of a payment that can still be refunded. */
export function leftCents({
  amountCents,
  refunds,
}: {
  amountCents: number;
  refunds: readonly Pick<GivenBack, 'amountCents' | 'status'>[];
}): number {
  return Math.max(0, amountCents - goneCents(refunds));
}

/**
 * Plans the refunds of a join's payments.
 * - The membership is refunded in full, or less the programme's processing fee if the member is not eligible (specification,
 *   section 9). The upgrade, donations and store items are refunded only on request.
 * - A line's type decides whether it is the membership or the upgrade, even in the separate join of an upgrade by link.
 * - No cent of a line is refunded twice, no payment is refunded beyond its amount, and a disputed payment is not refunded at all.
 * - A membership or upgrade with an earlier refund is not refunded again, since that refund has ended it. Of a partly refunded
 *   donation or store item, the rest is refunded.
 */
export function planRefund(orders: readonly PaidOrder[], wish: RefundWish): RefundPlan {
  const plan: RefundPlan = { refunds: [], disputed: [], notes: [] };
  for (const order of orders) {
    // The processing fee is kept from the membership's price only. If less than the fee is left of that price, only this rest is
    // kept.
    const membershipCents = sumOf(
      linesLeft(order.lines, order.refunds).filter(({ line }) => order.lines[line]!.type === 'membership'),
    );
    const feeCents =
      wish.ineligible && wish.membership ? Math.min(order.processingFeeCents, membershipCents) : 0;
    let left = Math.max(0, leftCents(order) - feeCents);
    const already = namedLines(order);
    const lines: RefundedLine[] = [];
    for (const [line, { productId, type, name, priceCents }] of order.lines.entries()) {
      if (!isWanted(wish, type, productId)) continue;
      const rest =
        isMembershipType(type) && already.has(line) ? 0 : priceCents - centsBack(order.refunds, line);
      if (rest <= 0) {
        const isMade = order.refunds.some(
          (refund) => refund.status !== 'due' && centsBack([refund], line) > 0,
        );
        plan.notes.push(`${name} ${isMade ? 'has already been refunded' : 'is to go back already'}.`);
        continue;
      }
      const due = type === 'membership' ? rest - feeCents : rest;
      const cents = Math.min(due, left);
      if (cents < due)
        plan.notes.push(
          `${name}: ${displayPrice(due - cents)} of ${displayPrice(due)} cannot go back, since it already went back without saying what for.`,
        );
      if (cents === 0) continue;
      left -= cents;
      lines.push({ line, productId, name, cents });
    }
    const amountCents = sumOf(lines);
    if (amountCents === 0) continue;
    if (order.dispute === null) plan.refunds.push({ intentId: order.intentId, amountCents, lines });
    else {
      plan.disputed.push(order.intentId);
      plan.notes.push(disputedSentence(order));
    }
  }
  const upgrades = orders.flatMap((order) =>
    order.lines.flatMap((paid, line) => (paid.type === 'membership_upgrade' ? [{ order, paid, line }] : [])),
  );
  if (wish.upgrade && upgrades.length === 0) plan.notes.push('This join has no upgrade that was paid for.');
  const hasMembership = orders.some(({ lines }) => lines.some(({ type }) => type === 'membership'));
  if (wish.membership && !wish.upgrade)
    for (const { order, paid, line } of upgrades)
      if (order.dispute === null && !namedLines(order).has(line) && leftCents(order) > 0)
        plan.notes.push(
          hasMembership
            ? `The upgrade stays paid and held: ${paid.name}, ${displayPrice(paid.priceCents)}. It goes back only if it is asked for, too.`
            : `This join bought an upgrade and no membership: ${paid.name}, ${displayPrice(paid.priceCents)}. It goes back only if it is asked for.`,
        );
  return plan;
}

/** Returns the ids of wished items that are neither a donation nor a store item of these orders. */
export function absentItems(orders: readonly Pick<PaidOrder, 'lines'>[], { items }: RefundWish): number[] {
  if (typeof items === 'string') return [];
  const lines = orders.flatMap((order) => order.lines);
  return items.filter(
    (id) => !lines.some(({ type, productId }) => productId === id && !isMembershipType(type)),
  );
}

/** Returns the standing that each order's membership or upgrade would have after the plan. */
export function standingsAfter(
  orders: readonly PaidOrder[],
  { refunds }: Pick<RefundPlan, 'refunds'>,
): MembershipStanding[] {
  return orders.map((order) => {
    const planned = refunds
      .filter(({ intentId }) => intentId === order.intentId)
      .map(
        ({ amountCents, lines }): GivenBack => ({
          uuid: '',
          amountCents,
          lines,
          status: 'due',
          assignedBy: 'us',
        }),
      );
    return standingAfter({ ...order, refunds: [...order.refunds, ...planned] });
  });
}

/** What a planned refund changes in addition to the money. */
export interface Consequences {
  /** Parts of refunded lines that are kept: the processing fee (cents). */
  kept: { name: string; cents: number }[];
  /** The memberships and upgrades that end, each by the payment that bought it. */
  ended: { intentId: string; type: MembershipType; name: string }[];
}

/** Returns the consequences of a plan for the orders that it was made for. */
export function consequencesOf(
  orders: readonly PaidOrder[],
  plan: Pick<RefundPlan, 'refunds'>,
): Consequences {
  const standings = standingsAfter(orders, plan);
  const kept = plan.refunds.flatMap(({ intentId, lines }) => {
    const order = orders.find((each) => each.intentId === intentId)!;
    return lines.flatMap(({ line, name, cents }) => {
      const rest = order.lines[line]!.priceCents - centsBack(order.refunds, line) - cents;
      return order.lines[line]!.type === 'membership' && rest > 0 ? [{ name, cents: rest }] : [];
    });
  });
  const ended = orders.flatMap((order, index) => {
    const bought = order.lines.find(({ type }) => isMembershipType(type));
    const ends = isHeld(standingAfter(order)) && !isHeld(standings[index]!);
    return bought && ends
      ? [{ intentId: order.intentId, type: bought.type as MembershipType, name: bought.name }]
      : [];
  });
  return { kept, ended };
}

/** Returns the lines that refunds were for, if they are known. A line that has several refunds occurs once for each of them. */
function refundedLines(refunds: readonly Pick<GivenBack, 'status' | 'lines'>[]): RefundedLine[] {
  return refunds.filter(counts).flatMap(({ lines }) => lines ?? []);
}

/** Returns the cents of an order line that refunds with known lines have returned. */
export function centsBack(refunds: readonly Pick<GivenBack, 'status' | 'lines'>[], line: number): number {
  return sumOf(refundedLines(refunds).filter((part) => part.line === line));
}

function namedLines({ refunds }: Pick<PaidOrder, 'refunds'>): Set<number> {
  return new Set(refundedLines(refunds).map(({ line }) => line));
}

export function sumOf(parts: readonly { cents: number }[]): number {
  return parts.reduce((sum, { cents }) => sum + cents, 0);
}

/** Returns each order line with the part of its price (cents) that is not refunded. */
export function linesLeft(lines: readonly OrderLine[], refunds: readonly GivenBack[]): RefundedLine[] {
  return lines.map(({ productId, name, priceCents }, line) => ({
    line,
    productId,
    name,
    cents: Math.max(0, priceCents - centsBack(refunds, line)),
  }));
}

/**
 * Distributes the parts among the refunds: the first refund gets parts until its amount is reached, then the next one. A part can
 * be split between two refunds. Returns the parts of each refund.
 */
export function sharesOf(
  refunds: readonly Pick<GivenBack, 'amountCents'>[],
  parts: readonly RefundedLine[],
): RefundedLine[][] {
  const rest = parts.map((part) => ({ ...part }));
  return refunds.map(({ amountCents }) => {
    let needed = amountCents;
    return rest.flatMap((part) => {
      const cents = Math.min(needed, part.cents);
      needed -= cents;
      part.cents -= cents;
      return cents > 0 ? [{ ...part, cents }] : [];
    });
  });
}

/** Returns the lines of a refund of everything that is left of a payment. */
export function restOf(order: Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>): RefundedLine[] {
  return sharesOf([{ amountCents: leftCents(order) }], linesLeft(order.lines, order.refunds))[0]!;
}

/**
 * Returns what staff are to do about a refund that was decided and has failed at Stripe: usually making the same
 * refund again.
 * - The remedy names the lines of the failed refund, and keeps the processing fee again if the member was not eligible.
 * - If the order is unknown, it is the membership.
 * - If another refund has already ended a membership or upgrade, its line cannot be named again ({@link planRefund} leaves it
 *   out). If the failed refund was for such a line, the remedy is all that is left of the payment. But if more is left than the
 *   failed refund would have returned (for example $77 instead of $65), that is too much, and the result sends staff to Stripe's
 *   dashboard.
 */
export function decideAgain(
  uuid: string,
  order: Pick<PaidOrder, 'intentId' | 'lines' | 'amountCents' | 'refunds'>,
  { lines, reason }: { lines: readonly RefundedLine[]; reason: RefundReason },
  { isTrial = false } = {},
): Remedy {
  const parts = lines.flatMap(({ line, productId }) => {
    const type = order.lines[line]?.type;
    return type === undefined ? [] : [{ line, type, productId }];
  });
  if (parts.length === 0) return giveBack(uuid, ['membership'], { isTrial });
  const already = namedLines(order);
  if (parts.some(({ line, type }) => isMembershipType(type) && already.has(line)))
    return leftCents(order) > sumOf(lines)
      ? { do: "refund in Stripe's dashboard" }
      : { do: 'refund payment', intentId: order.intentId };
  const types = parts.map(({ type }) => type).filter(isMembershipType);
  return giveBack(uuid, types, {
    items: parts.filter(({ type }) => !isMembershipType(type)).map(({ productId }) => productId),
    isIneligible: reason === 'ineligible' && types.includes('membership'),
    isTrial,
  });
}

/** Whether staff ask to refund a line of this type and product. */
export function isWanted(
  wish: Omit<RefundWish, 'ineligible'>,
  type: ProductType,
  productId: number,
): boolean {
  if (type === 'membership') return wish.membership;
  if (type === 'membership_upgrade') return wish.upgrade;
  return typeof wish.items === 'string' ? wish.items === 'all' : wish.items.includes(productId);
}

/** The dispute of a payment. `open`: the bank holds the money. `lost`: the money is gone. */
export type Dispute = 'open' | 'lost';

/**
 * The standing of a membership. The first two are held; the others have ended:
 * - `active`: paid.
 * - `disputed`: the bank holds the money, or a dispute was lost and staff have not yet said which lines its amount was for.
 * - `refunded`: the money was refunded.
 * - `charged_back`: a dispute was lost.
 * - `void`: Stripe has no such payment.
 */
export const membershipStandings = ['active', 'disputed', 'refunded', 'charged_back', 'void'] as const;
export type MembershipStanding = (typeof membershipStandings)[number];

/** Whether a membership with this standing is held, so that its holder is a member. */
export function isHeld(standing: MembershipStanding): boolean {
  return standing === 'active' || standing === 'disputed';
}

/**
 * Returns the standing of a membership after the refunds and disputes of its payment. A refund of its line ends a membership, and
 * so do refunds that together equal the payment, whatever they were for. The amount of a lost dispute counts as a refund. The
 * standing comes from the first event that ends the membership, so a later dispute over the kept fee does not change it. If a
 * dispute over a part of the payment was lost and staff have yet to say for which lines, the membership is disputed.
 */
export function standingAfter({
  lines,
  refunds,
  dispute,
}: Pick<PaidOrder, 'lines' | 'refunds' | 'dispute'>): MembershipStanding {
  if (isLostWhole({ refunds, dispute })) return 'charged_back';
  const at = lines.findIndex(({ type }) => isMembershipType(type));
  if (at < 0) return 'void';
  const paidCents = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  const end = refunds.find(
    (refund, index) =>
      namedLines({ refunds: [refund] }).has(at) || goneCents(refunds.slice(0, index + 1)) >= paidCents,
  );
  if (end) return end.isDispute ? 'charged_back' : 'refunded';
  const isUnassigned = refunds.some((refund) => refund.isDispute && counts(refund) && refund.lines === null);
  return dispute === 'open' || isUnassigned ? 'disputed' : 'active';
}
