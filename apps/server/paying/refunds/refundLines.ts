import { displayPrice } from '#core/money.ts';
import type { RefundPlan } from '#core/refunds.ts';
import type { RefundPreview } from './previewRefund.ts';

/** Returns what a plan gives back, line by line, and what it does not, with the reasons. */
export function planLines({ refunds, notes }: Pick<RefundPlan, 'refunds' | 'notes'>): string[] {
  const back = refunds.flatMap(({ intentId, lines }) =>
    lines.map(({ name, cents }) => `${displayPrice(cents)}  ${name}  (${intentId})`),
  );
  return [...back, ...notes];
}

/** Returns what a refund would do beside the money of its lines. `dayOf` writes a day. */
export function previewLines(
  { cards, kept, ended, sent, unsent, isTold }: RefundPreview,
  dayOf: (time: Date) => string,
): string[] {
  const lines = cards.map(({ intentId, card }) =>
    card
      ? `To the card: ${card.brand} ending ${card.last4}.`
      : `To the card with which ${intentId} was paid.`,
  );
  for (const { name, cents } of kept)
    lines.push(
      `Kept: ${displayPrice(cents)} of ${name}, the processing fee, because its payer was not eligible.`,
    );
  for (const { type, name } of ended)
    lines.push(`Ends: the ${type === 'membership' ? 'membership' : 'upgrade'} ${name}.`);
  for (const { name, shippedAt } of sent) lines.push(`Sent already, on ${dayOf(shippedAt)}: ${name}.`);
  for (const name of unsent) lines.push(`Not sent any more: ${name}.`);
  if (cards.length > 0)
    lines.push(
      isTold
        ? 'A letter tells the payer of the refund once Stripe has made it.'
        : 'No letter goes out from here (MAIL=elsewhere).',
    );
  return lines;
}

/** Returns the sum of what would go back, in a sentence. */
export function totalLine({ refunds }: Pick<RefundPlan, 'refunds'>): string {
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return `${displayPrice(total)} would go back.`;
}
