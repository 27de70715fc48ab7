import { type RawBuilder, sql } from 'kysely';
import { providerEmail } from '#core/providerEmail.ts';

/**
 * Who pays for the `session` of a query that has its contact's `profile` and `email` beside it: email and name in small
 * letters, null when one of them is not known. Siblings who share a parent's email are two by their names.
 */
export const payer: RawBuilder<string | null> = sql`lower(
    nullif(btrim(coalesce(session.details ->> 'personalEmail', profile ->> 'personalEmail', email)), '') || ' ' ||
    nullif(btrim(coalesce(session.details, profile) ->> 'firstName'), '') || ' ' ||
    nullif(btrim(coalesce(session.details, profile) ->> 'lastName'), ''))`;

/** What a query's `session` and its `contact` say of their email, the best first: texts of people and of the CRM. */
export const payerEmails: RawBuilder<(string | null)[]> = sql`array[
    session.details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email]`;

/** Where Stripe's receipt goes: the best email that Stripe takes. */
export function receiptEmail(
  emails: readonly (string | null)[],
  billingEmail: string | null = null,
): string | null {
  return providerEmail([...emails, billingEmail]);
}

/** What staff are told of a join that was paid by who has already paid for others. Nothing is given back by itself. */
export function perhapsTwice(uuid: string, others: readonly string[]): string {
  return `Join ${uuid} was paid by somebody of the same name and email as join ${others.join(' and join ')}. If it is one person, give one of them back: npm run operator -- refund ${uuid} --upgrade --items all`;
}
