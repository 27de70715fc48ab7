import type { OrderLine } from './orderLine.ts';
import { isDonationType, type ProductType } from './product.ts';
import { centsBack, counts, type GivenBack, goneCents, leftCents, type RefundedLine } from './refunds.ts';

/**
 * The kinds under which an accountant books money. `account`: transactions of the society's Stripe account that fit no other kind.
 */
export const ledgerKinds = [
  'dues',
  'upgrade',
  'donation',
  'goods',
  'fee kept',
  'unassigned',
  'dispute',
  'dispute fee',
  'stripe fee',
  'account',
  'payout',
] as const;
export type LedgerKind = (typeof ledgerKinds)[number];

/** One line of the ledger. The signs are Stripe's: a fee that is charged is positive, and the net amount is gross less fee. */
export interface LedgerEntry {
  kind: LedgerKind;
  product: string;
  grossCents: number;
  feeCents: number;
}

/** One transaction of Stripe's balance. */
export interface Movement {
  /** Stripe's reporting category: charge, refund, dispute, payout and others. */
  category: string;
  description: string | null;
  grossCents: number;
  feeCents: number;
  /** Stripe's description of the fee. */
  feeDescription: string | null;
}

/** The order that the charge of a movement paid for. */
export interface LedgerOrder {
  lines: readonly OrderLine[];
  amountCents: number;
  /** The processing fee (cents) with which dashboard refunds are matched to lines (dashboardRefunds.ts). */
  processingFeeCents: number;
  /** Whether the payment bought nothing, so that all of it is refunded, in one or more refunds. */
  isReturned: boolean;
}

type Made = Pick<GivenBack, 'amountCents' | 'status' | 'lines'> & { reason: string };

/** The refund of a movement, with the payment's earlier refunds, the oldest first. */
export interface LedgerRefund extends Made {
  before: readonly Made[];
}

/**
 * Returns the cents of a membership's price that are kept as processing fee when this refund ends the membership. There are two
 * cases: staff refunded the membership because the member was not eligible, or a refund in the dashboard left exactly the fee. In
 * both, all of the price that is not refunded is kept, but no more than is left of the payment. In any other case the result is
 * 0.
 */
function feeKept(
  order: LedgerOrder,
  { before, reason, amountCents }: LedgerRefund,
  { line, cents }: Pick<RefundedLine, 'line' | 'cents'>,
): number {
  const paid = order.lines[line];
  if (paid?.type !== 'membership') return 0;
  const left = paid.priceCents - centsBack(before, line) - cents;
  const isFee = reason === 'ineligible' || (reason === 'dashboard' && left === order.processingFeeCents);
  const stays = leftCents({ amountCents: order.amountCents - amountCents, refunds: before });
  return isFee ? Math.max(0, Math.min(left, stays)) : 0;
}

/** Whether one of these refunds refunded a membership (order line number `line`) less its processing fee. */
function isLessFee(order: LedgerOrder, refunds: readonly Made[], line: number): boolean {
  return refunds
    .filter(counts)
    .some((refund, index, made) =>
      refund.lines?.some(
        (part) => part.line === line && feeKept(order, { ...refund, before: made.slice(0, index) }, part) > 0,
      ),
    );
}

/**
 * Splits a movement into ledger lines. To the cent, their gross amounts and fees sum to the gross amount and the fee of the
 * movement. Any part of the gross amount that is in no other line becomes a line `unassigned`.
 * - A charge: the lines of the order.
 * - A refund: the lines that it was for; all lines if the whole payment was refunded. Refunds of a payment that bought nothing
 *   take the order's lines one after the other.
 * - A membership refunded less its processing fee: all of the dues, and the fee as a negative amount of `fee kept`. A later
 *   refund of the rest is booked as `fee kept`.
 * - A failed refund: the same lines as the refund, with the opposite sign.
 * - Any other movement: one line, whose kind depends on the movement's category (dispute, payout, fee and so on).
 */
export function ledgerEntries(
  movement: Movement,
  order: LedgerOrder | null,
  refund: LedgerRefund | null,
): LedgerEntry[] {
  const entries = grossEntries(movement, order, refund);
  const rest = movement.grossCents - sumOf(entries);
  if (rest !== 0) entries.push(entry('unassigned', titleOf(movement), rest));
  if (movement.feeCents !== 0)
    entries.push({
      kind: movement.category.startsWith('dispute') ? 'dispute fee' : 'stripe fee',
      product: movement.feeDescription ?? 'Stripe fee',
      grossCents: 0,
      feeCents: movement.feeCents,
    });
  return entries;
}

function grossEntries(
  movement: Movement,
  order: LedgerOrder | null,
  refund: LedgerRefund | null,
): LedgerEntry[] {
  const { category, grossCents } = movement;
  switch (category) {
    case 'charge':
      return order ? lineEntries(order.lines) : [];
    case 'refund':
    case 'refund_failure': {
      const sign = Math.sign(grossCents);
      return refundEntries(Math.abs(grossCents), order, refund).map((each) => ({
        ...each,
        grossCents: sign * each.grossCents,
      }));
    }
    case 'dispute':
    case 'dispute_reversal':
      return [entry('dispute', titleOf(movement), grossCents)];
    case 'payout':
    case 'payout_reversal':
      return [entry('payout', titleOf(movement), grossCents)];
    case 'fee':
      return [entry('stripe fee', titleOf(movement), grossCents)];
    default:
      return [entry('account', titleOf(movement), grossCents)];
  }
}

/** Returns the ledger lines of a refund of `cents`, as positive amounts. */
function refundEntries(cents: number, order: LedgerOrder | null, refund: LedgerRefund | null): LedgerEntry[] {
  if (!order) return [];
  if (!refund?.lines) {
    if (cents === order.amountCents) return lineEntries(order.lines);
    return refund && order.isReturned ? nextEntries(cents, order, refund) : [];
  }
  return refund.lines.flatMap(({ line, name, cents: back }) => {
    const paid = order.lines[line];
    const kind = paid ? kindOf(paid.type) : 'unassigned';
    if (isLessFee(order, refund.before, line)) return [entry('fee kept', `Processing fee of ${name}`, back)];
    const fee = feeKept(order, refund, { line, cents: back });
    return [
      entry(kind, name, back + fee),
      ...(fee > 0 ? [entry('fee kept', `Processing fee of ${name}`, -fee)] : []),
    ];
  });
}

/**
 * Returns the order lines that a refund of `cents` covers if all refunds together take the lines one after the other. This refund
 * begins where the earlier ones ended, so its first and last line may be covered in part.
 */
function nextEntries(cents: number, { lines }: LedgerOrder, { before }: LedgerRefund): LedgerEntry[] {
  const from = goneCents(before);
  let at = 0;
  return lines.flatMap(({ type, name, priceCents }) => {
    const begin = Math.max(from, at);
    at += priceCents;
    const back = Math.min(from + cents, at) - begin;
    return back > 0 ? [entry(kindOf(type), name, back)] : [];
  });
}

function lineEntries(lines: readonly OrderLine[]): LedgerEntry[] {
  return lines.map(({ type, name, priceCents }) => entry(kindOf(type), name, priceCents));
}

function kindOf(type: ProductType): LedgerKind {
  if (isDonationType(type)) return 'donation';
  if (type === 'store') return 'goods';
  return type === 'membership' ? 'dues' : 'upgrade';
}

function entry(kind: LedgerKind, product: string, grossCents: number): LedgerEntry {
  return { kind, product, grossCents, feeCents: 0 };
}

function titleOf({ description, category }: Movement): string {
  return description ?? category;
}

function sumOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { grossCents }) => sum + grossCents, 0);
}

export interface LedgerSum {
  count: number;
  grossCents: number;
  feeCents: number;
}

export function sumLedger(rows: Iterable<Pick<LedgerEntry, 'grossCents' | 'feeCents'>>): LedgerSum {
  const sum = { count: 0, grossCents: 0, feeCents: 0 };
  for (const { grossCents, feeCents } of rows) {
    sum.count++;
    sum.grossCents += grossCents;
    sum.feeCents += feeCents;
  }
  return sum;
}
