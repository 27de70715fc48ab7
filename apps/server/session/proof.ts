import { sql } from 'kysely';

/**
 * SQL for whether the file of the query's `document` was removed before staff decided on it, so that nobody can decide any more.
 * The membership may be held nevertheless: it had ended when the file was removed, and its refund failed later.
 */
export const isUnseen = sql<boolean>`(review = 'open' and removed_at is not null)`;

/** SQL for whether the query's `document` counts as a proof at present: it is accepted, or waits for a decision. */
export const isProof = sql<boolean>`(review <> 'rejected' and not ${isUnseen})`;
