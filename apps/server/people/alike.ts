import { type RawBuilder, sql } from 'kysely';

/** SQL for whether it is proven who the joiner of a join is. `session` is the query's name for the `join_session` table. */
export function isProven(session: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  return sql<boolean>`(${of('origin')} in ('invite', 'link', 'checkout') or ${of('proven_at')} is not null)`;
}

/**
 * SQL for a subquery of the ids of a person and of everybody who is likely the same (packages/core/people.ts). `personId` is SQL for
 * the person's id. With `likeness`, everybody who is like that counts, instead of those who are like the person's row.
 */
export function alikeTo(
  personId: RawBuilder<unknown>,
  likeness: RawBuilder<unknown> = sql`(select likened.likeness from person likened where likened.id = ${personId})`,
): RawBuilder<unknown> {
  return sql`(select ${personId} union all select alike.id from person alike where alike.likeness = ${likeness})`;
}
