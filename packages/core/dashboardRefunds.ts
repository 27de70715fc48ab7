import { displayPrice } from './money.ts';
import {
  counts,
  type GivenBack,
  goneCents,
  isWanted,
  linesLeft,
  type PaidOrder,
  type RefundedLine,
  sharesOf,
  sumOf,
} from './refunds.ts';

/**
 * Finds, by their amounts, the order lines of refunds that were made elsewhere (in Stripe's dashboard). Returns these lines by
 * the refund's uuid; null for a refund whose lines cannot be found.
 * - A refund is for the lines whose amounts sum to its amount, if exactly one set of unrefunded lines has this sum. The
 *   membership may count with its price less the processing fee.
 * - Refunds that fit no lines one by one are tried together, by the sum of their amounts.
 * - Once all of the order is refunded, the refunds whose lines are still unknown get the remaining lines.
 */
export function matchRefunds(
  { lines, refunds }: Pick<PaidOrder, 'lines' | 'refunds'>,
  processingFeeCents: number,
): Map<string, RefundedLine[] | null> {
  const matched = new Map<string, RefundedLine[] | null>();
  const left = linesLeft(
    lines,
    refunds.filter(({ assignedBy }) => assignedBy !== null),
  );
  const whole = () => left.filter(({ line, cents }) => cents === lines[line]!.priceCents);
  const feeOf = ({ line }: RefundedLine) => (lines[line]!.type === 'membership' ? processingFeeCents : 0);
  const name = (unnamed: readonly GivenBack[], parts: readonly RefundedLine[]) => {
    for (const [index, share] of sharesOf(unnamed, parts).entries()) {
      matched.set(unnamed[index]!.uuid, share);
      for (const { line, cents } of share) left.find((one) => one.line === line)!.cents -= cents;
    }
  };
  const waiting: GivenBack[] = [];
  for (const refund of refunds.filter(({ assignedBy }) => assignedBy === null)) {
    matched.set(refund.uuid, null);
    if (!counts(refund)) continue;
    const alone = onlySet(whole(), feeOf, refund.amountCents);
    if (alone) {
      name([refund], alone);
      continue;
    }
    waiting.push(refund);
    const together = onlySet(whole(), feeOf, goneCents(waiting));
    if (together) name(waiting.splice(0), together);
  }
  const paidCents = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
  if (goneCents(refunds) >= paidCents) name(waiting, left);
  return matched;
}

/**
 * Returns the refunds of an order with their lines. Refunds made elsewhere get the lines that {@link matchRefunds} finds.
 * `feeCents` is the processing fee to match with.
 */
export function withLines(order: Pick<PaidOrder, 'lines' | 'refunds'>, feeCents: number): GivenBack[] {
  const matched = matchRefunds(order, feeReadBy(order, feeCents));
  return order.refunds.map((refund) =>
    refund.assignedBy === null ? { ...refund, lines: matched.get(refund.uuid) ?? null } : refund,
  );
}

/**
 * Returns the processing fee (cents) with which to match the refunds of an order that were made elsewhere. Usually this is
 * `feeCents`, the present fee. But if such refunds have already ended the membership and left a part of its price, that part is
 * the fee, since the society may have changed its fee after those refunds.
 */
export function feeReadBy(
  { lines, refunds }: Pick<PaidOrder, 'lines' | 'refunds'>,
  feeCents: number,
): number {
  const at = lines.findIndex(({ type }) => type === 'membership');
  const naming = refunds.filter((refund) => refund.lines?.some(({ line }) => line === at));
  if (naming.length === 0 || naming.some(({ assignedBy }) => assignedBy !== null)) return feeCents;
  const backCents = sumOf(naming.flatMap((refund) => refund.lines!.filter(({ line }) => line === at)));
  return Math.max(0, lines[at]!.priceCents - backCents) || feeCents;
}

/**
 * Returns the parts that sum to `targetCents`. Each part counts either with its whole amount or with its amount less its fee.
 * Returns undefined if no set of parts has this sum, or more than one.
 */
function onlySet(
  parts: readonly RefundedLine[],
  feeOf: (part: RefundedLine) => number,
  targetCents: number,
): RefundedLine[] | undefined {
  let sets = new Map<number, RefundedLine[] | 'several'>([[0, []]]);
  for (const part of parts) {
    const further = new Map(sets);
    const amounts = new Set([part.cents, part.cents - feeOf(part)]);
    for (const [sum, set] of sets)
      for (const cents of amounts) {
        const reached = sum + cents;
        if (cents <= 0 || reached > targetCents) continue;
        const isSecond = set === 'several' || further.has(reached);
        further.set(reached, isSecond ? 'several' : [...set, { ...part, cents }]);
      }
    sets = further;
  }
  const found = sets.get(targetCents);
  return found === 'several' ? undefined : found;
}

/** The lines that a refund was for, according to staff: none at all, or the chosen ones. `items` are product ids. */
export type Assignment = 'none' | { membership: boolean; upgrade: boolean; items: readonly number[] };

/** Returns the lines to which staff assign a refund made elsewhere, or a sentence that says why this is impossible. */
export function assignRefund(
  order: Pick<PaidOrder, 'lines' | 'refunds'>,
  { uuid, amountCents }: Pick<GivenBack, 'uuid' | 'amountCents'>,
  assignment: Assignment,
): RefundedLine[] | string {
  if (assignment === 'none') return [];
  const parts = assignableParts(order, uuid).filter(({ line, productId }) =>
    isWanted(assignment, order.lines[line]!.type, productId),
  );
  if (parts.length === 0) return 'Nothing of that is in this payment, or it has gone back already.';
  if (sumOf(parts) < amountCents)
    return `${displayPrice(amountCents)} went back; of that only ${displayPrice(sumOf(parts))} was paid and has not gone back.`;
  return sharesOf([{ amountCents }], parts)[0]!;
}

/**
 * Returns the possible assignments of a refund made elsewhere, each as lines with the part of their price (cents) that is not
 * refunded. These are every line that covers the refund alone, every two of the other lines that cover it together, or else all
 * lines. Empty if even all lines do not cover it.
 */
export function possibleAssignments(
  order: Pick<PaidOrder, 'lines' | 'refunds'>,
  { uuid, amountCents }: Pick<GivenBack, 'uuid' | 'amountCents'>,
): RefundedLine[][] {
  const parts = assignableParts(order, uuid);
  const suffice = (some: readonly RefundedLine[]) => sumOf(some) >= amountCents;
  const [alone, others] = [parts.filter((part) => suffice([part])), parts.filter((part) => !suffice([part]))];
  const pairs = others.flatMap((part, at) => others.slice(at + 1).map((other) => [part, other]));
  const found = [...alone.map((part) => [part]), ...pairs.filter(suffice)];
  return found.length === 0 && suffice(parts) ? [parts] : found;
}

/**
 * Returns the lines of an order that are not fully refunded, ignoring the refund `uuid` and the refunds whose lines were only
 * inferred.
 */
function assignableParts({ lines, refunds }: Pick<PaidOrder, 'lines' | 'refunds'>, uuid: string) {
  const others = refunds.filter((refund) => refund.assignedBy !== null && refund.uuid !== uuid);
  return linesLeft(lines, others).filter(({ cents }) => cents > 0);
}

/**
 * Whether a refund was made elsewhere and its lines are unknown, because its amount fits no lines and staff have not assigned it.
 */
export function isUnassigned(refund: GivenBack): boolean {
  return counts(refund) && refund.assignedBy === null && refund.lines === null;
}
