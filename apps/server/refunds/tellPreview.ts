import { plain } from '#core/cleanText.ts';
import { displayPrice } from '#core/money.ts';
import type { RefundPreview } from './previewRefund.ts';

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
