import { sql } from 'kysely';
import { nameJoins } from '../people/nameJoins.ts';
import type { Deps } from './deps.ts';

const NAMED = /(?:\bjoin )?\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi;

/**
 * Returns the sentences with each join's uuid replaced by a name, such as "join 2 of Ann Lee". A join's uuid is a credential, and
 * means nothing to staff. Other uuids, such as a document's, stay.
 */
export async function withoutUuids(
  deps: Pick<Deps, 'database'>,
  sentences: readonly string[],
): Promise<string[]> {
  const uuids = [...new Set(sentences.flatMap((sentence) => (sentence.match(NAMED) ?? []).map(uuidOf)))];
  if (uuids.length === 0) return [...sentences];
  const joins = await nameJoins(deps, uuids);
  const { rows } = await sql<{ uuid: string }>`
    select uuid from join_session where uuid = any(${uuids}::uuid[])`.execute(deps.database);
  const known = new Set(rows.map(({ uuid }) => uuid));
  return sentences.map((sentence) =>
    sentence.replace(NAMED, (named, at: number) => {
      if (named.length === 36 && !known.has(named.toLowerCase())) return named;
      const join = joins.get(uuidOf(named));
      const name = join
        ? `join ${join.number} of ${join.name ?? `person ${join.personId}`}`
        : 'an erased join';
      return at === 0 ? `${name.charAt(0).toUpperCase()}${name.slice(1)}` : name;
    }),
  );
}

function uuidOf(named: string): string {
  return named.slice(-36).toLowerCase();
}
