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
 * Matches refunds made elsewhere (in Stripe's dashboard) to lines by their amounts. Returns the lines by the refund's uuid; null
 * where they cannot be told. A refund was for the unrefunded lines whose sum it equals, if there is exactly one such set; the
 * membership may count less the processing fee. Refunds that match no set alone are tried together. Once everything is refunded,
 * they were for the remaining lines.
 */
export function matchRefunds(
  { lines, refunds }: Pick<PaidOrder, 'lines' | 'refunds'>,
  processingFeeCents: number,
): Map<string, RefundedLine[] | null> {
  const matched = new Map<string, RefundedLine[] | null>();
  const left = linesLeft(
    lines,
    refunds.filter(({ saidBy }) => saidBy !== null),
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
  for (const refund of refunds.filter(({ saidBy }) => saidBy === null)) {
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
 * Returns the refunds of an order with the lines of each; for those made elsewhere as {@link matchRefunds} finds them. `feeCents`
 * is today's processing fee.
 */
export function withLines(order: Pick<PaidOrder, 'lines' | 'refunds'>, feeCents: number): GivenBack[] {
  const matched = matchRefunds(order, feeReadBy(order, feeCents));
  return order.refunds.map((refund) =>
    refund.saidBy === null ? { ...refund, lines: matched.get(refund.uuid) ?? null } : refund,
  );
}

/**
 * Returns the processing fee with which to match a join's refunds made elsewhere. If such refunds have already ended the
 * membership and left a rest, it is that rest, since the society may have changed its fee meanwhile. Otherwise it is `feeCents`.
 */
export function feeReadBy(
  { lines, refunds }: Pick<PaidOrder, 'lines' | 'refunds'>,
  feeCents: number,
): number {
  const at = lines.findIndex(({ type }) => type === 'membership');
  const naming = refunds.filter((refund) => refund.lines?.some(({ line }) => line === at));
  if (naming.length === 0 || naming.some(({ saidBy }) => saidBy !== null)) return feeCents;
  const backCents = sumOf(naming.flatMap((refund) => refund.lines!.filter(({ line }) => line === at)));
  return Math.max(0, lines[at]!.priceCents - backCents) || feeCents;
}

/**
 * Returns the only set of parts with this sum, each part whole or less its fee; undefined when there is no such set or more than
 * one.
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

/** What staff say a refund was for: no line, or the lines named. `items` are product ids. */
export type Assignment = 'none' | { membership: boolean; upgrade: boolean; items: readonly number[] };

/** Returns the lines of a refund made elsewhere, as staff assigned it; or a sentence that says why that is impossible. */
export function assignRefund(
  order: Pick<PaidOrder, 'lines' | 'refunds'>,
  { uuid, amountCents }: Pick<GivenBack, 'uuid' | 'amountCents'>,
  assignment: Assignment,
): RefundedLine[] | string {
  if (assignment === 'none') return [];
  const others = order.refunds.filter((refund) => refund.saidBy !== null && refund.uuid !== uuid);
  const parts = linesLeft(order.lines, others).filter(({ line, cents, productId }) => {
    const { type } = order.lines[line]!;
    return cents > 0 && isWanted(assignment, type, productId);
  });
  if (parts.length === 0) return 'Nothing of that is in this payment, or it has gone back already.';
  if (sumOf(parts) < amountCents)
    return `${displayPrice(amountCents)} went back; of that only ${displayPrice(sumOf(parts))} was paid and has not gone back.`;
  return sharesOf([{ amountCents }], parts)[0]!;
}

/** Returns the command by which staff assign a refund, with its options. */
export function assignCommand(uuid: string): string {
  return `npm run operator -- refund assign ${uuid} --membership, --upgrade, --items ID,ID or --none`;
}

/** Whether a refund was made elsewhere and neither its amount nor staff say what it was for. */
export function isUnassigned(refund: GivenBack): boolean {
  return counts(refund) && refund.saidBy === null && refund.lines === null;
}
