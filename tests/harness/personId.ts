import { type RawBuilder, sql } from 'kysely';

/** SQL for the id of the person who has this contact. */
export function personId(contactId: string): RawBuilder<number> {
  return sql<number>`(select id from person where contact_id = ${contactId})`;
}
