/** Stripe's timestamps have whole seconds. */
const STRIPE_CLOCK_MS = 1_000;

/** Whether a timestamp from Stripe is certainly before a time of our clock, whatever fraction of a second was truncated. */
export function isBefore(atStripe: Date, moment: Date): boolean {
  return atStripe.getTime() + STRIPE_CLOCK_MS < moment.getTime();
}
