import { type RawBuilder, sql } from 'kysely';
import type { ContactField } from '#core/contact.ts';
import { providerEmail } from '#core/providerEmail.ts';
import type { StudentDetailsField } from '#core/studentDetails.ts';

/** The personal data of a query's `session` and its `contact`: the student details or, without them, HubSpot's data. */
const person = sql`coalesce(session.details, contact.profile)`;
type PersonField = Extract<StudentDetailsField & ContactField, string>;
/** A field that details and contacts have under the same name; null when it is empty. */
export const personField = (name: PersonField) =>
  sql<string | null>`nullif(btrim(${person} ->> ${sql.lit(name)}), '')`;
export const firstName = personField('firstName');
export const lastName = personField('lastName');
/** First and last name; null when neither is known. */
export const shortName = sql<string | null>`nullif(concat_ws(' ', ${firstName}, ${lastName}), '')`;
export const fullName = sql<
  string | null
>`nullif(concat_ws(' ', ${firstName}, ${personField('middleName')}, ${lastName}), '')`;

/** All known emails of the person, the best first, as typed or as in HubSpot. */
export const payerEmails: RawBuilder<(string | null)[]> = sql`array[
    session.details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email]`;

/**
 * The payer: email and name in lower case; null when one of them is not known. The name distinguishes siblings who share a parent's
 * email.
 */
export const payer: RawBuilder<string | null> = sql`lower(
    nullif(btrim(coalesce(session.details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email)), '')
    || ' ' || ${firstName} || ' ' || ${lastName})`;

/** The address for Stripe's receipt: the first email that Stripe accepts. */
export function receiptEmail(
  emails: readonly (string | null)[],
  billingEmail: string | null = null,
): string | null {
  return providerEmail([...emails, billingEmail]);
}
