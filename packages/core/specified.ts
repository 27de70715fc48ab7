/** Numbers of the specification. Rules and sentences that need one use these constants. */

/** In minutes after paying. Until then an upgrade may be charged to the card that was used. */
export const UPGRADE_WINDOW_MINUTES = 30;

/** Proof of eligibility may be sent at the end of the join, or within this many days of paying (specification, section 9). */
export const PROOF_DUE_DAYS = 30;

/** The least that a joiner may donate, in cents. It happens to equal Stripe's smallest charge. */
export const LEAST_DONATION_CENTS = 50;

/** How long a toast is shown (ms; specification, section 9). */
export const TOAST_MS = 5000;

/** How long confetti is thrown (ms; specification, section 9). */
export const CONFETTI_MS = 3000;
