import { type RawBuilder, sql } from 'kysely';

/** SQL: the id of the contact into which the query's `join_session` is written in HubSpot; null if there is none. */
export const crmId: RawBuilder<string | null> = sql<string | null>`(
  select coalesce(case when person.deleted_at is null then person.contact_id end, person.found_contact_id)
  from person where person.id = join_session.person_id)`;
