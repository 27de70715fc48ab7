import { sql } from 'kysely';

/** The contact that the invitation or link of a join session named; null if HubSpot no longer has it. */
const namedContact = sql`case when not exists (
  select from contact gone where gone.id = join_session.contact_id and gone.deleted_at is not null) then join_session.contact_id end`;

/**
 * Which contact a join session is written into in HubSpot, for a query's `join_session`:
 * - `named`: the invitation or link named the contact, or this join created it.
 * - `shared`: somebody's contact that has the same email.
 * - `new`: the join has no contact there yet, or no longer has one.
 */
export const whose = sql`case when ${namedContact} is not null or owns_hubspot_contact then 'named'
  when hubspot_contact_id is not null then 'shared' else 'new' end`;

/** HubSpot's id of the contact that a join session is written into. Null if HubSpot does not have that contact yet. */
export const crmId = sql<string | null>`coalesce(${namedContact}, hubspot_contact_id)`;
