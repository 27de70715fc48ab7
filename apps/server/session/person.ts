import { type RawBuilder, sql } from 'kysely';
import type { ContactField } from '#core/contact.ts';
import { providerEmail } from '#core/providerEmail.ts';
import type { StudentDetailsField } from '#core/studentDetails.ts';

/** Whose the `session` of a query is that has its `contact` beside it: what was given in the details, or what HubSpot told. */
const person = sql`coalesce(session.details, contact.profile)`;
type PersonField = Extract<StudentDetailsField & ContactField, string>;
/** A field of theirs that details and contacts have under one name; null when it is empty. */
export const personField = (name: PersonField) =>
  sql<string | null>`nullif(btrim(${person} ->> ${sql.lit(name)}), '')`;
export const firstName = personField('firstName');
export const lastName = personField('lastName');
/** First and last name; null when neither is known. */
export const shortName = sql<string | null>`nullif(concat_ws(' ', ${firstName}, ${lastName}), '')`;
export const fullName = sql<
  string | null
>`nullif(concat_ws(' ', ${firstName}, ${personField('middleName')}, ${lastName}), '')`;

/** What is known of their email, the best first: texts of people and of HubSpot. */
export const payerEmails: RawBuilder<(string | null)[]> = sql`array[
    session.details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email]`;

/**
 * Who pays: email and name in small letters, null when one of them is not known. Siblings who share a parent's email are two by
 * their names.
 */
export const payer: RawBuilder<string | null> = sql`lower(
    nullif(btrim(coalesce(session.details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email)), '')
    || ' ' || ${firstName} || ' ' || ${lastName})`;

/** Where Stripe's receipt goes: the best email that Stripe takes. */
export function receiptEmail(
  emails: readonly (string | null)[],
  billingEmail: string | null = null,
): string | null {
  return providerEmail([...emails, billingEmail]);
}
