import { sql } from 'kysely';

/**
 * SQL for whether the file of the query's `document` was removed before staff decided on it, so that nobody can decide any more.
 * The file is removed early if the membership has ended, which may be held again since, because its refund failed.
 */
export const isUnseen = sql<boolean>`(review = 'open' and removed_at is not null)`;

/** SQL for whether the query's `document` counts as a proof at present: it is accepted, or waits for a decision. */
export const isProof = sql<boolean>`(review <> 'rejected' and not ${isUnseen})`;
