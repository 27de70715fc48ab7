/** Numbers that are specified, each here alone: the rules and the sentences that name one are made from it. */

/** For as long after paying an upgrade may be charged to the card that was used. */
export const UPGRADE_WINDOW_MINUTES = 30;

/** Proof of eligibility may be sent at the end of the join, or within so many days of paying (specification, section 9). */
export const PROOF_DUE_DAYS = 30;

/** The least that a joiner may donate, in cents. It is also the least that Stripe charges, but need not be. */
export const LEAST_DONATION_CENTS = 50;

/** For how long a toast is shown (ms; specification, section 9). */
export const TOAST_MS = 5000;

/** For how long confetti is thrown (ms; specification, section 9). */
export const CONFETTI_MS = 3000;
