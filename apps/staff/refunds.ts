import { plain } from '#core/cleanText.ts';
import { possibleAssignments } from '#core/dashboardRefunds.ts';
import { displayPrice } from '#core/money.ts';
import { isMembershipLine } from '#core/orderLine.ts';
import type { RefundPlan, RefundWish } from '#core/refunds.ts';
import { erasedJoins } from '../server/books/erasedJoins.ts';
import { refundPaid } from '../server/books/refundPaid.ts';
import { refundablePart, refundPayment } from '../server/books/refundPayment.ts';
import type { Deps } from '../server/deps.ts';
import { isIntentId } from '../server/paying/namedOrder.ts';
import { readAssignable, sayWhatFor } from '../server/paying/refunds/assignRefund.ts';
import type { RefundPreview } from '../server/paying/refunds/previewRefund.ts';
import type { JoinRefund } from '../server/paying/refunds/refundJoin.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { Failed } from '../server/platform/failed.ts';
import { Refusal } from '../server/platform/http/refusal.ts';
import { NotAtStripe } from '../server/providers/stripe/failures.ts';
import { agrees, type Command, misused, notId, readArgs } from './command.ts';
import { failureSentence } from './sentences/failures.ts';
import { notToldOfErased } from './sentences/notices.ts';
import { assignCommand, commandOf } from './sentences/remedies.ts';

const refundOptions = {
  ineligible: { type: 'boolean', default: false },
  upgrade: { type: 'boolean', default: false },
  items: { type: 'string' },
  membership: { type: 'boolean', default: true },
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const refundCommand: Command = {
  options: refundOptions,
  usage:
    'refund JOIN [--ineligible] [--upgrade] [--items all|ID,ID] [--no-membership] [--dry-run | --yes] | refund PAYMENT_INTENT [--dry-run | --yes]',
  summary:
    'Give money back. Of a join: its membership, less the processing fee if its payer is --ineligible; the upgrade, donations and store items only if asked for. Of a payment: all that is left. What would go back and what ends is shown first, and done when you agree (--yes: without asking; --dry-run: only shown). Asked twice, given once.',
  async run(args, { deps }) {
    const read = readArgs(args, refundOptions);
    if (read?.positionals.length !== 1) return misused(refundCommand);
    const [subject] = read.positionals as [string];
    const { 'dry-run': isTrial, yes, items, ineligible, upgrade, membership } = read.values;
    if (yes && isTrial) return misused(refundCommand);
    const wanted = readItems(items);
    if (wanted === null) return misused(refundCommand);
    if (!isIntentId(subject) && !isUuid(subject)) return misused(refundCommand, notId('join', subject));
    await tellErased(deps, subject);
    try {
      if (isIntentId(subject)) {
        if (ineligible || upgrade || items !== undefined || !membership) return misused(refundCommand);
        let seenCents: number | undefined;
        if (!yes) {
          const { cents, preview } = await refundablePart(deps, subject);
          if (cents > 0) tellPreview(preview);
          console.log(
            cents > 0
              ? `${displayPrice(cents)} of ${subject} would go back.`
              : `All of ${subject} has already gone back.`,
          );
          if (isTrial || cents === 0) return 0;
          if (!(await agrees('Give it back?', { yes, done: 'refunded' }))) return 1;
          seenCents = cents;
        }
        const { cents, notes, refused } = await refundPayment(deps, subject, seenCents);
        for (const note of [...notes, ...refused]) console.log(note);
        if (cents > 0) console.log(`${displayPrice(cents)} of ${subject} goes back.`);
        else if (notes.length + refused.length === 0) console.log(`All of ${subject} has already gone back.`);
        return refused.length > 0 ? 1 : 0;
      }
      const wish: RefundWish = { membership, ineligible, upgrade, items: wanted };
      if (yes) return tellPlan(await refundPaid(deps, subject, wish), false);
      const seen = await refundPaid(deps, subject, wish, { isTrial: true });
      const status = tellPlan(seen, true);
      if (isTrial || seen.refunds.length === 0) return status;
      if (!(await agrees('Give it back?', { yes, done: 'refunded' }))) return 1;
      return tellPlan(await refundPaid(deps, subject, wish, { seen }), false);
    } catch (error) {
      if (error instanceof Refusal && !(error instanceof NotAtStripe)) {
        // A Refusal comes only after the refunds were decided: failures of Stripe before that are thrown as NotRefundable.
        console.error(
          'Stripe does not answer. What was decided and is not made yet stays due, and is tried again: npm run operator -- reconcile lists it.',
        );
        return 1;
      }
      if (!(error instanceof Failed || error instanceof NotAtStripe)) throw error;
      console.error(error instanceof Failed ? failureSentence(error) : error.message);
      return 1;
    }
  },
};

/** Says of each erased join that is meant that HubSpot cannot be told of it any more. */
async function tellErased({ database }: Deps, subject: string): Promise<void> {
  for (const uuid of await erasedJoins(database, subject)) console.log(notToldOfErased(uuid));
}

const refundAssignOptions = {
  membership: { type: 'boolean', default: false },
  upgrade: { type: 'boolean', default: false },
  items: { type: 'string' },
  none: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const refundAssignCommand: Command = {
  options: refundAssignOptions,
  usage: 'refund assign REFUND [[--membership] [--upgrade] [--items ID,ID] | --none] [--yes]',
  summary:
    "Say what a refund made in Stripe's dashboard, or a lost dispute, was for, by its id here or at Stripe (re_…, du_…): of the membership or the upgrade ends it; --none was for nothing that was bought, and everybody keeps what they have. It asks before (--yes: it does not). Without an option it lists what it may have been for, with the commands.",
  async run(args, { deps }) {
    const read = readArgs(args, refundAssignOptions);
    const [refund = '', ...more] = read?.positionals ?? [];
    if (!read || more.length > 0 || !(isUuid(refund) || /^(re|pyr|du|dp)_[A-Za-z0-9_]+$/.test(refund)))
      return misused(refundAssignCommand);
    const { membership, upgrade, items, none } = read.values;
    const ids = items === undefined ? [] : readItems(items);
    const isSomething = membership || upgrade || items !== undefined;
    if (ids === null || typeof ids === 'string' || (none && isSomething)) return misused(refundAssignCommand);
    await tellErased(deps, refund);
    try {
      if (!none && !isSomething) return tellAssignable(await readAssignable(deps, refund));
      const assignment = none ? 'none' : { membership, upgrade, items: ids };
      const trial = read.values.yes ? null : await sayWhatFor(deps, refund, assignment, { isTrial: true });
      if (trial !== null) {
        const { order } = await readAssignable(deps, refund);
        console.log(`${displayPrice(trial.amountCents)} of ${trial.intentId} went back outside Induct.`);
        for (const { line, name } of trial.lines)
          if (isMembershipLine(order.lines[line]!)) console.log(`Ends: ${plain(name)}.`);
        if (!(await agrees('Say that it was for this?', { yes: false, done: 'changed' }))) return 1;
      }
      const seen = trial === null ? {} : { seen: trial };
      const { amountCents, intentId, lines } = await sayWhatFor(deps, refund, assignment, seen);
      for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
      if (lines.length === 0)
        console.log(`${displayPrice(amountCents)} of ${intentId} was for nothing that was bought.`);
      return 0;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      console.error(failureSentence(error));
      return 1;
    }
  },
};

/** Prints what a refund made outside Induct may have been for, with the commands that say so. Returns the exit status. */
function tellAssignable({
  uuid,
  amountCents,
  isDispute,
  order,
}: Awaited<ReturnType<typeof readAssignable>>): number {
  console.log(
    `${displayPrice(amountCents)} of ${order.intentId} was ${isDispute ? 'lost by a dispute' : 'refunded outside Induct'}. It may have been for:`,
  );
  for (const parts of possibleAssignments(order, { uuid, amountCents })) {
    const lines = parts.map(({ line }) => order.lines[line]!);
    const names = lines.map(({ name, priceCents }, at) => {
      const backCents = priceCents - parts[at]!.cents;
      return `${plain(name)}  ${displayPrice(priceCents)}${backCents > 0 ? `, ${displayPrice(backCents)} refunded` : ''}`;
    });
    console.log(`  ${names.join(' and ')}\n    ${assignCommand(uuid, lines)}`);
  }
  console.log(
    `  nothing that was bought: everybody keeps what they have\n    ${assignCommand(uuid, 'none')}`,
  );
  return 0;
}

function readItems(text: string | undefined): RefundWish['items'] | null {
  if (text === undefined) return 'none';
  if (text === 'all') return 'all';
  const ids = text.split(',').map((id) => id.trim());
  return ids.every((id) => /^[1-9]\d{0,8}$/.test(id)) ? ids.map(Number) : null;
}

/**
 * Prints each planned refund, and then the sum of the refunds that Stripe has made. Returns the exit status: 1 if Stripe has
 * refused a refund for good.
 */
export function tellPlan(
  plan: Pick<RefundPlan, 'refunds' | 'notes'> & Pick<JoinRefund, 'given' | 'preview'> & { kept?: string[] },
  isTrial: boolean,
): number {
  const { refunds, notes, kept = [], given, preview } = plan;
  for (const { intentId, lines } of refunds)
    for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
  for (const note of notes) console.log(note);
  for (const intentId of kept)
    console.log(
      `Payment ${intentId} bought nothing and is still with us: ${commandOf({ do: 'refund payment', intentId })}`,
    );
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const made = given?.cents ?? 0;
  if (isTrial) {
    tellPreview(preview);
    console.log(`${displayPrice(total)} would go back.`);
  } else if (total === 0) console.log('$0.00 goes back: nothing of what was asked for is left to refund.');
  else console.log(`${displayPrice(made)} ${made === total ? '' : `of ${displayPrice(total)} `}goes back.`);
  return given !== null && given.refused.length > 0 ? 1 : 0;
}

/** Prints what a refund would do beside the money of its lines. */
export function tellPreview({ cards, kept, ended, sent, unsent, isTold }: RefundPreview): void {
  for (const { intentId, card } of cards)
    console.log(
      card
        ? `To the card: ${card.brand} ending ${card.last4}.`
        : `To the card with which ${intentId} was paid.`,
    );
  for (const { name, cents } of kept)
    console.log(
      `Kept: ${displayPrice(cents)} of ${plain(name)}, the processing fee, because its payer was not eligible.`,
    );
  for (const { type, name } of ended)
    console.log(`Ends: the ${type === 'membership' ? 'membership' : 'upgrade'} ${plain(name)}.`);
  for (const { name, shippedAt } of sent)
    console.log(`Sent already, on ${shippedAt.toISOString().slice(0, 10)}: ${plain(name)}.`);
  for (const name of unsent) console.log(`Not sent any more: ${plain(name)}.`);
  if (cards.length > 0)
    console.log(
      isTold
        ? 'A letter tells the payer of the refund once Stripe has made it.'
        : 'No letter goes out from here (MAIL=elsewhere).',
    );
}
