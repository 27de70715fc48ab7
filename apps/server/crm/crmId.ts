import { type RawBuilder, sql } from 'kysely';

/** SQL: an expression about the person of a query's `join_session`, named `person` in it. */
function ofPerson<T>(expression: RawBuilder<unknown>): RawBuilder<T> {
  return sql<T>`(select ${expression} from person where person.id = join_session.person_id)`;
}

/** SQL: the contact that is the query's `person`; null if there is none, or if it was deleted in HubSpot. */
const ownContact = sql`case when person.deleted_at is null then person.contact_id end`;

/** SQL: the reason with which a person is refused because HubSpot never had its contact. `contactId` is an SQL expression. */
export function unknownContact(contactId: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`'HubSpot does not know contact ' || ${contactId} || '.'`;
}

/**
 * SQL: whether the contact that is a query's `person` is missing in HubSpot: it was deleted, or HubSpot never had it and the person was
 * refused for that.
 */
export const namesNobody: RawBuilder<boolean> = sql`(person.contact_id is not null and (person.deleted_at is not null
  or person.fetched_at is null and not person.made_contact
    and exists (select from crm_delivery where person_id = person.id and refusal = ${unknownContact(sql`person.contact_id`)})))`;

/** SQL: the id of the contact into which a join session is written in HubSpot; null if there is none. */
export const crmId: RawBuilder<string | null> = ofPerson(
  sql`coalesce(${ownContact}, person.found_contact_id)`,
);
