import { displayPrice } from './money.ts';
import { isDonationType, isMembershipType, type ProductType } from './product.ts';

/** A line of an order as it was paid: what a snapshot keeps. */
export interface PaidLine {
  productId: number;
  type: ProductType;
  name: string;
  priceCents: number;
}

/** due: decided, and Stripe is yet to be asked; the others are Stripe's words. */
export type RefundStatus = 'due' | 'pending' | 'succeeded' | 'failed' | 'canceled';

/** One refund. `lines` says what it was for, by the line's place in the paid order; null when nobody said. */
export interface GivenBack {
  amountCents: number;
  status: RefundStatus;
  lines: RefundedLine[] | null;
}
export interface RefundedLine {
  line: number;
  productId: number;
  name: string;
  cents: number;
}

/** A payment that succeeded, with what of it went back so far. */
export interface PaidOrder {
  intentId: string;
  kind: 'join' | 'upgrade';
  lines: readonly PaidLine[];
  amountCents: number;
  refunds: readonly GivenBack[];
}

/** What staff ask for. `items` are donations and store items: none, all, or those of these product ids. */
export interface RefundWish {
  membership: boolean;
  ineligible: boolean;
  upgrade: boolean;
  items: 'none' | 'all' | readonly number[];
}

export interface RefundPlan {
  /** At most one for each payment. */
  refunds: { intentId: string; amountCents: number; lines: RefundedLine[] }[];
  /** Sentences on what is not given back, and why. */
  notes: string[];
}

/** Failed and cancelled refunds gave nothing back; one that is due is promised. */
export function counts({ status }: GivenBack): boolean {
  return status !== 'failed' && status !== 'canceled';
}

/** Cents that can still go back. */
export function leftCents({ amountCents, refunds }: Pick<PaidOrder, 'amountCents' | 'refunds'>): number {
  const gone = refunds.filter(counts).reduce((sum, refund) => sum + refund.amountCents, 0);
  return Math.max(0, amountCents - gone);
}

/**
 * What goes back, across both payments of a join. The membership goes back in full, or less the programme's
 * processing fee when its payer is not eligible (specification, section 9); the upgrade, donations and store items only
 * when asked for. Each line once, and never more than was paid.
 */
export function planRefund(
  orders: readonly PaidOrder[],
  wish: RefundWish,
  processingFeeCents: number,
): RefundPlan {
  const plan: RefundPlan = { refunds: [], notes: [] };
  const found = new Set<number>();
  for (const order of orders) {
    let left = leftCents(order);
    const already = new Set(
      order.refunds.filter(counts).flatMap(({ lines }) => (lines ?? []).map(({ line }) => line)),
    );
    const lines: RefundedLine[] = [];
    for (const [line, { productId, type, name, priceCents }] of order.lines.entries()) {
      if (!isWanted(wish, order.kind, type, productId)) continue;
      found.add(productId);
      if (already.has(line)) {
        plan.notes.push(`${name} has already been refunded.`);
        continue;
      }
      const fee = wish.ineligible && order.kind === 'join' && isMembershipType(type) ? processingFeeCents : 0;
      const due = Math.max(0, priceCents - fee);
      const cents = Math.min(due, left);
      if (cents < due)
        plan.notes.push(
          `${name}: ${displayPrice(due - cents)} of ${displayPrice(due)} cannot go back, since it already went back without saying what for.`,
        );
      if (cents === 0) continue;
      left -= cents;
      lines.push({ line, productId, name, cents });
    }
    const amountCents = lines.reduce((sum, { cents }) => sum + cents, 0);
    if (amountCents > 0) plan.refunds.push({ intentId: order.intentId, amountCents, lines });
  }
  if (typeof wish.items !== 'string')
    for (const id of wish.items)
      if (!found.has(id)) plan.notes.push(`Product ${id} is not a donation or store item of this join.`);
  if (wish.upgrade && !orders.some(({ kind }) => kind === 'upgrade'))
    plan.notes.push('This join has no upgrade that was paid for.');
  return plan;
}

function isWanted(wish: RefundWish, kind: PaidOrder['kind'], type: ProductType, productId: number): boolean {
  if (kind === 'upgrade') return wish.upgrade;
  if (isMembershipType(type)) return wish.membership;
  if (isDonationType(type) || type === 'store')
    return wish.items === 'all' || (wish.items !== 'none' && wish.items.includes(productId));
  return false;
}

/** Of a payment: its money is with the bank while a dispute is open, and gone when it was lost. */
export type Dispute = 'open' | 'lost';

/**
 * active: held and paid for. disputed: the bank has taken the money back for now, still held. refunded, charged_back
 * (a dispute was lost), void (Stripe knows no such payment): ended.
 */
export const membershipStandings = ['active', 'disputed', 'refunded', 'charged_back', 'void'] as const;
export type MembershipStanding = (typeof membershipStandings)[number];

/** Whether somebody with it is a member. */
export function isHeld(standing: MembershipStanding): boolean {
  return standing === 'active' || standing === 'disputed';
}

/**
 * How a membership stands by what became of its payment. A refund that names its lines ends the membership it names.
 * One made in Stripe's dashboard names nothing: it ends the membership when together they give back at least its price
 * less the processing fee.
 */
export function standingAfter(
  order: Pick<PaidOrder, 'lines' | 'refunds' | 'kind'> & { dispute: Dispute | null },
  processingFeeCents: number,
): MembershipStanding {
  if (order.dispute === 'lost') return 'charged_back';
  const at = order.lines.findIndex(({ type }) => isMembershipType(type));
  const membership = order.lines[at];
  if (!membership) return 'void';
  const given = order.refunds.filter(counts);
  if (given.some(({ lines }) => lines?.some(({ line }) => line === at))) return 'refunded';
  const unnamed = given.filter(({ lines }) => lines === null).reduce((sum, one) => sum + one.amountCents, 0);
  const fee = order.kind === 'join' ? processingFeeCents : 0;
  if (unnamed > 0 && unnamed >= membership.priceCents - fee) return 'refunded';
  return order.dispute === 'open' ? 'disputed' : 'active';
}
