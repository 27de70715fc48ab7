import { displayPrice } from '#core/money.ts';
import type { RefundPlan } from '#core/refunds.ts';

/** Says line by line what goes back, or would. */
export function tellPlan({ refunds, notes }: Pick<RefundPlan, 'refunds' | 'notes'>, isTrial: boolean): void {
  for (const { intentId, lines } of refunds)
    for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
  for (const note of notes) console.log(note);
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  console.log(
    `${displayPrice(total)} ${isTrial ? 'would go back.' : total > 0 ? 'goes back.' : 'goes back: nothing is left to refund.'}`,
  );
}
