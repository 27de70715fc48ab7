import { sql } from 'kysely';

/** The contact that the invitation or link of a join session named, unless HubSpot has it no more. */
const namedContact = sql`case when not exists (
  select from contact gone where gone.id = join_session.contact_id and gone.deleted_at is not null) then join_session.contact_id end`;

/**
 * How a join session is written to HubSpot, of a query's `join_session`:
 * - `named`: the invitation or link named the contact, or this join created it;
 * - `shared`: into somebody's with the same email;
 * - `new`: it has no contact there yet, or has it no more.
 */
export const whose = sql`case when ${namedContact} is not null or owns_hubspot_contact then 'named'
  when hubspot_contact_id is not null then 'shared' else 'new' end`;

/** Its contact's id in HubSpot; null when it is new. */
export const crmId = sql<string | null>`coalesce(${namedContact}, hubspot_contact_id)`;
