import { type RawBuilder, sql } from 'kysely';

/** The contact that the invitation or link of a join session named; null if HubSpot no longer has it. */
const namedContact = sql`case when not exists (
  select from contact gone where gone.id = join_session.contact_id and gone.deleted_at is not null) then join_session.contact_id end`;

/** SQL for the reason why a join is refused whose contact HubSpot never had. `contactId` is an SQL expression. */
export function unknownContact(contactId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`'HubSpot does not know contact ' || ${contactId} || '.'`;
}

/**
 * Whether a query's `join_session` names a contact that HubSpot does not have: it was deleted, or HubSpot never had it and refused
 * the join for that.
 */
export const namesNobody: RawBuilder<boolean> = sql`exists (
  select from contact named where named.id = join_session.contact_id and (named.deleted_at is not null
    or named.fetched_at is null and coalesce(join_session.crm_refusal = ${unknownContact(sql`named.id`)}, false)))`;

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
