import { displayPrice } from '#core/money.ts';
import type { RefundPlan } from '#core/refunds.ts';
import type { RefundPreview } from './previewRefund.ts';
import type { RefundRequest } from './readRequests.ts';

/** Returns what a plan gives back, line by line, and what it does not, with the reasons. */
export function planLines({ refunds, notes }: Pick<RefundPlan, 'refunds' | 'notes'>): string[] {
  const back = refunds.flatMap(({ intentId, lines }) =>
    lines.map(({ name, cents }) => `${displayPrice(cents)}  ${name}  (${intentId})`),
  );
  return [...back, ...notes];
}

/** Returns what a refund would do beside the money of its lines, and to which cards it goes. `dayOf` writes a day. */
export function previewLines(preview: RefundPreview, dayOf: (time: Date) => string): string[] {
  const cards = preview.cards.map(({ intentId, card }) =>
    card
      ? `To the card: ${card.brand} ending ${card.last4}.`
      : `To the card with which ${intentId} was paid.`,
  );
  return [...cards, ...consequenceLines(preview, dayOf)];
}

/** Returns the sum of what would go back, in a sentence. */
export function totalLine({ refunds }: Pick<RefundPlan, 'refunds'>): string {
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return `${displayPrice(total)} would go back.`;
}

/** Returns what a refund would do beside the money of its lines. `dayOf` writes a day. */
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

/** Says what a member has asked for back, or who declined it; null if it was answered otherwise. */
function requestLine(
  { askedAt, amountCents, isOpen, declinedBy }: RefundRequest,
  dayOf: (time: Date) => string,
): string | null {
  const amount = displayPrice(amountCents);
  if (declinedBy !== null) return `${declinedBy} has declined the member's request for ${amount}.`;
  return isOpen ? `The member asked for ${amount} on ${dayOf(askedAt)}.` : null;
}

/** Returns what declining a request does: what stays with us, and what the member is told. */
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
