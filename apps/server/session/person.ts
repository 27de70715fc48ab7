import { type RawBuilder, sql } from 'kysely';
import type { ContactField } from '#core/contact.ts';
import type { KnownEmails } from '#core/recipients.ts';
import type { StudentDetailsField } from '#core/studentDetails.ts';

/**
 * SQL for the personal data of the query's `session` and its `person`: for a paid join, the person's details as last proven or
 * corrected; for another join, the details typed in it; without these, HubSpot's data.
 */
const known = sql`coalesce(case when session.state = 'paid' then person.details end, session.details, person.profile)`;
type PersonField = Extract<StudentDetailsField & ContactField, string>;
/** SQL for a field that student details and contacts have under the same name; null if it is blank. */
export const personField = (name: PersonField) =>
  sql<string | null>`nullif(btrim(${known} ->> ${sql.lit(name)}), '')`;
export const firstName = personField('firstName');
export const lastName = personField('lastName');
/** SQL for the first and last name; null when neither is known. */
export const shortName = sql<string | null>`nullif(concat_ws(' ', ${firstName}, ${lastName}), '')`;
export const fullName = sql<
  string | null
>`nullif(concat_ws(' ', ${firstName}, ${personField('middleName')}, ${lastName}), '')`;

/** SQL that adds the newest join of the query's `person`, if any, to the query as `session`. */
export const newestJoin = sql`left join lateral (
  select * from join_session newest where newest.person_id = person.id order by newest.created_at desc limit 1) session on true`;
/** SQL for the known data of the query's `person`, whose newest join is `session`. */
export const knownOfPerson = sql`coalesce(person.details, session.details, person.profile)`;
/** SQL for the first and last name of the query's `person`, whose newest join is `session`; null when neither is known. */
export const personName = sql<
  string | null
>`nullif(concat_ws(' ', nullif(btrim(${knownOfPerson} ->> 'firstName'), ''), nullif(btrim(${knownOfPerson} ->> 'lastName'), '')), '')`;
/** SQL for the email of the query's `person`, whose newest join is `session`; null when none is known. */
export const personEmail = sql<
  string | null
>`coalesce(nullif(${knownOfPerson} ->> 'personalEmail', ''), person.email)`;

/** SQL for the {@link KnownEmails} of the query's `session` and its `person`. */
export const knownEmails: RawBuilder<KnownEmails> = sql`json_build_object('isPaid', session.state = 'paid',
    'ofPerson', person.details ->> 'personalEmail', 'typed', session.details ->> 'personalEmail',
    'personal', person.profile ->> 'personalEmail', 'contact', person.email,
    'receipts', array(select receipt_email from payment paid where paid.session_uuid = session.uuid and not by_pay_link order by paid.created_at))`;
