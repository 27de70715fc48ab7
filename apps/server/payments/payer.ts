import { type RawBuilder, sql } from 'kysely';

/**
 * Who pays for the `session` of a query that has its contact's `profile` and `email` beside it: email and name in small
 * letters, null when one of them is not known. Siblings who share a parent's email are two by their names.
 */
export const payer: RawBuilder<string | null> = sql`lower(
    nullif(btrim(coalesce(session.details ->> 'personalEmail', profile ->> 'personalEmail', email)), '') || ' ' ||
    nullif(btrim(coalesce(session.details, profile) ->> 'firstName'), '') || ' ' ||
    nullif(btrim(coalesce(session.details, profile) ->> 'lastName'), ''))`;

/** What staff are told of a join that was paid by who has already paid for others. Nothing is given back by itself. */
export function perhapsTwice(uuid: string, others: readonly string[]): string {
  return `Join ${uuid} was paid by somebody of the same name and email as join ${others.join(' and join ')}. If it is one person, give one of them back: npm run operator -- refund ${uuid} --upgrade --items all`;
}
