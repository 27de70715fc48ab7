import { sql } from 'kysely';
import { newestJoin, personName } from '../session/person.ts';
import type { Deps } from './deps.ts';

/**
 * The person of a join, and the join's number among the person's joins, counted from the oldest. Joins of persons who were merged
 * into them count, too.
 */
export interface JoinOf {
  personId: number;
  name: string | null;
  number: number;
}

/** Returns the person and number of each of these joins, by uuid. Erased joins are left out. */
export async function nameJoins(
  { database }: Pick<Deps, 'database'>,
  uuids: readonly string[],
): Promise<Map<string, JoinOf>> {
  if (uuids.length === 0) return new Map();
  const { rows } = await sql<JoinOf & { uuid: string }>`
    select own.uuid, person.id as "personId", ${personName} as name, (
      select count(*)::int
      from (select person.id union all select merged.id from person merged where merged.merged_into = person.id) as theirs
      join join_session older on older.person_id = theirs.id
      where (older.created_at, older.uuid) <= (own.created_at, own.uuid)) as number
    from join_session own join person former on former.id = own.person_id
    join person on person.id = coalesce(former.merged_into, former.id) ${newestJoin}
    where own.uuid = any(${uuids}::uuid[])`.execute(database);
  return new Map(rows.map(({ uuid, ...join }) => [uuid, join]));
}

/** Returns the uuid of a person's join by its number, as {@link nameJoins} counts them; null if there is none. */
export async function joinNumbered(
  { database }: Pick<Deps, 'database'>,
  personId: number,
  number: number,
): Promise<string | null> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid
    from (select ${personId}::bigint as id union all select merged.id from person merged where merged.merged_into = ${personId}) as theirs
    join join_session own on own.person_id = theirs.id
    order by own.created_at, own.uuid offset ${number - 1} limit 1`.execute(database);
  return rows[0]?.uuid ?? null;
}
