import { type RawBuilder, sql } from 'kysely';

/**
 * SQL: the contact that an invitation, a link or staff named for the join session. Null if nobody named a contact, or if the
 * named contact was deleted in HubSpot.
 */
const namedContact = sql`case when not exists (
  select from contact gone where gone.id = join_session.contact_id and gone.deleted_at is not null) then join_session.contact_id end`;

/** SQL: the reason with which a join is refused because HubSpot never had its contact. `contactId` is an SQL expression. */
export function unknownContact(contactId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`'HubSpot does not know contact ' || ${contactId} || '.'`;
}

/**
 * SQL: whether the contact that was named for a query's `join_session` is missing in HubSpot. Either the contact was deleted, or
 * HubSpot never had the contact and the join was refused for that reason.
 */
export const namesNobody: RawBuilder<boolean> = sql`exists (
  select from contact named where named.id = join_session.contact_id and (named.deleted_at is not null
    or named.fetched_at is null and coalesce(join_session.crm_refusal = ${unknownContact(sql`named.id`)}, false)))`;

/**
 * SQL: into which kind of contact HubSpot is to write a query's `join_session`:
 * - `named`: the contact that an invitation, a link or staff named, or that this join created.
 * - `shared`: a contact that has the same email and may be another person.
 * - `new`: HubSpot has no contact for the join, either not yet or not any more.
 */
export const whose = sql`case when ${namedContact} is not null or owns_hubspot_contact then 'named'
  when hubspot_contact_id is not null then 'shared' else 'new' end`;

/** SQL: the id of the contact into which a join session is written in HubSpot; null if there is none. */
export const crmId = sql<string | null>`coalesce(${namedContact}, hubspot_contact_id)`;
