import { displayPrice } from '#core/money.ts';
import type { RefundPlan } from '#core/refunds.ts';
import type { RefundPreview } from './previewRefund.ts';
import type { RefundRequest } from './readRequests.ts';

/** Returns a line for each refund of a plan, and sentences about what is not refunded and why. */
export function planLines({ refunds, notes }: Pick<RefundPlan, 'refunds' | 'notes'>): string[] {
  const back = refunds.flatMap(({ intentId, lines }) =>
    lines.map(({ name, cents }) => `${displayPrice(cents)}  ${name}  (${intentId})`),
  );
  return [...back, ...notes];
}

/** Returns sentences about the cards that a refund goes to, and about its other effects. `dayOf` formats a date. */
export function previewLines(preview: RefundPreview, dayOf: (time: Date) => string): string[] {
  const cards = preview.cards.map(({ intentId, card }) =>
    card
      ? `To the card: ${card.brand} ending ${card.last4}.`
      : `To the card with which ${intentId} was paid.`,
  );
  return [...cards, ...consequenceLines(preview, dayOf)];
}

/** Returns a sentence with the total of the refunds. */
export function totalLine({ refunds }: Pick<RefundPlan, 'refunds'>): string {
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return `${displayPrice(total)} would go back.`;
}

/** Returns sentences about the effects of a refund, apart from the money of its lines. `dayOf` formats a date. */
export function consequenceLines(
  { cards, kept, ended, sent, unsent, asked, isTold }: RefundPreview,
  dayOf: (time: Date) => string,
): string[] {
  const letter = isTold
    ? 'A letter tells the payer of the refund once Stripe has made it.'
    : 'No letter goes out from here (MAIL=elsewhere).';
  return [
    ...kept.map(
      ({ name, cents }) =>
        `Kept: ${displayPrice(cents)} of ${name}, the processing fee, because its payer was not eligible.`,
    ),
    ...ended.map(
      ({ type, name }) => `The ${type === 'membership' ? 'membership' : 'upgrade'} ends: ${name}.`,
    ),
    ...sent.map(({ name, shippedAt }) => `Sent already, on ${dayOf(shippedAt)}: ${name}.`),
    ...unsent.map((name) => `Not sent any more: ${name}.`),
    ...asked.flatMap((request) => requestLine(request, dayOf) ?? []),
    ...(cards.length > 0 ? [letter] : []),
  ];
}

/** Returns the sentence about a member's refund request: its amount, or who declined it. Null if it was answered otherwise. */
function requestLine(
  { askedAt, amountCents, isOpen, declinedBy }: RefundRequest,
  dayOf: (time: Date) => string,
): string | null {
  const amount = displayPrice(amountCents);
  if (declinedBy !== null) return `${declinedBy} has declined the member's request for ${amount}.`;
  return isOpen ? `The member asked for ${amount} on ${dayOf(askedAt)}.` : null;
}

/** Returns sentences about declining a request: the amount that we keep, and what the member reads. */
export function declineLines(
  { askedAt, amountCents }: RefundRequest,
  sentence: string,
  dayOf: (time: Date) => string,
): string[] {
  return [
    `${displayPrice(amountCents)} was asked for on ${dayOf(askedAt)}, and stays with us.`,
    `The member is told: “${sentence}”`,
  ];
}
