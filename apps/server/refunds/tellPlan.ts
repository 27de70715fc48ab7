import { displayPrice } from '#core/money.ts';
import type { RefundPlan } from '#core/refunds.ts';
import type { Given } from './giveBack.ts';
import type { RefundPreview } from './previewRefund.ts';
import { tellPreview } from './tellPreview.ts';

/**
 * Prints each planned refund, and then the sum of the refunds that Stripe has made. Returns the exit status: 1 if Stripe has
 * refused a refund for good.
 */
export function tellPlan(
  plans: readonly (Pick<RefundPlan, 'refunds' | 'notes'> & {
    given: Given | null;
    preview: RefundPreview;
  })[],
  isTrial: boolean,
): number {
  const refunds = plans.flatMap((plan) => plan.refunds);
  for (const { intentId, lines } of refunds)
    for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
  for (const note of plans.flatMap(({ notes }) => notes)) console.log(note);
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const made = plans.reduce((sum, { given }) => sum + (given?.cents ?? 0), 0);
  if (isTrial) {
    for (const { preview } of plans) tellPreview(preview);
    console.log(`${displayPrice(total)} would go back.`);
  } else if (total === 0) console.log('$0.00 goes back: nothing of what was asked for is left to refund.');
  else console.log(`${displayPrice(made)} ${made === total ? '' : `of ${displayPrice(total)} `}goes back.`);
  return plans.some(({ given }) => given !== null && given.refused.length > 0) ? 1 : 0;
}
