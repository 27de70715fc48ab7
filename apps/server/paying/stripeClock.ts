/** Stripe cuts timestamps to whole seconds, so a timestamp may be too early by up to this time (ms). */
const STRIPE_CLOCK_MS = 1_000;

/** Whether a timestamp from Stripe is certainly before a time of our clock, whatever fraction of a second was truncated. */
export function isBefore(atStripe: Date, moment: Date): boolean {
  return atStripe.getTime() + STRIPE_CLOCK_MS < moment.getTime();
}
