/** The precision of Stripe's times: whole seconds. */
const STRIPE_CLOCK_MS = 1_000;

/** Whether a time of Stripe's is certainly before a time of our clock. */
export function isBefore(atStripe: Date, moment: Date): boolean {
  return atStripe.getTime() + STRIPE_CLOCK_MS < moment.getTime();
}
