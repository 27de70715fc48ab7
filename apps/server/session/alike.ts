import { type RawBuilder, sql } from 'kysely';

/** SQL for whether it is proven who the joiner of a join is. `session` is the query's name for the `join_session` table. */
export function isProven(session: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  return sql<boolean>`(${of('origin')} in ('invite', 'link', 'checkout') or ${of('proven_at')} is not null)`;
}

/**
 * SQL for a subquery of the ids of a person and of everybody who is likely the same (packages/core/people.ts), without those whom
 * staff keep apart. `personId` is SQL for the person's id.
 */
export function alikeTo(personId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select ${personId} union all select alike.id from person alike
    where alike.likeness = (select likened.likeness from person likened where likened.id = ${personId})
    and not exists (select from kept_apart
      where one_id = least(alike.id, ${personId}) and other_id = greatest(alike.id, ${personId})))`;
}

/**
 * SQL for a subquery: the ids of persons (SQL for a list of ids) and of all persons who were merged with them, over any number of
 * merges.
 */
export function chainOf(persons: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(with recursive chain (id) as (
    select id::bigint from ${persons} as person (id) where id is not null
    union select next.id from chain, lateral (
      select former.id from person former where former.merged_into = chain.id
      union all select present.merged_into from person present where present.id = chain.id and merged_into is not null) as next
  ) select id from chain)`;
}

/**
 * SQL for a subquery: the ids of all who are sent to HubSpot together with a person, because they are likely the same or are
 * written into the same contact.
 */
export function sentTogetherWith(personId: RawBuilder<unknown>): RawBuilder<unknown> {
  const contact = sql`(select coalesce(case when told.deleted_at is null then told.contact_id end, told.found_contact_id)
    from person told where told.id = ${personId})`;
  return sql`(select id from ${alikeTo(personId)} as alike (id)
    union all select named.id from person named where named.contact_id = ${contact}
    union all select attached.id from person attached where attached.found_contact_id = ${contact})`;
}
