/** Stripe gives whole seconds. */
const STRIPE_CLOCK_MS = 1_000;

/** Whether what Stripe dates so was surely before a moment of ours. */
export function isBefore(atStripe: Date, moment: Date): boolean {
  return atStripe.getTime() + STRIPE_CLOCK_MS < moment.getTime();
}
