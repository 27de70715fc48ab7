import { sql } from 'kysely';

/**
 * SQL for whether the file of the query's `document` was removed before staff decided on the document, so that nobody can decide
 * any more. Retention removes such a file after the membership has ended. If the membership's refund fails later, the membership
 * is held again, but the file is gone.
 */
export const isUnseen = sql<boolean>`(review = 'open' and removed_at is not null)`;

/** SQL for whether the query's `document` is a proof for now: it is accepted, or waits for a decision. */
export const isProof = sql<boolean>`(review <> 'rejected' and not ${isUnseen})`;
