/** Numbers from the specification. All rules and sentences use these constants. */

/** For this many minutes after payment, the upgrade may be charged to the same card. */
export const UPGRADE_WINDOW_MINUTES = 30;

/** The proof of eligibility is due this many days after payment (specification, section 9). */
export const PROOF_DUE_DAYS = 30;

export function proofDueAt(paidAt: Date): Date {
  return new Date(paidAt.getTime() + PROOF_DUE_DAYS * 86_400_000);
}

/** The minimum donation (cents). It happens to equal Stripe's minimum charge. */
export const LEAST_DONATION_CENTS = 50;

/** The countries in which a card must be billed to pay (specification, section 5). */
export const BILLING_COUNTRIES = ['US', 'CA'];

/** How long (ms) a toast is shown (specification, section 9). */
export const TOAST_MS = 5000;

/** How long (ms) confetti falls (specification, section 9). */
export const CONFETTI_MS = 3000;
