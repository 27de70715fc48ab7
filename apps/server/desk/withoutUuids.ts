import { nameJoins } from '../people/nameJoins.ts';
import type { Deps } from './deps.ts';

const NAMED = /(?:\bjoin )?\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi;

/**
 * Returns sentences with a name for each uuid in them, as in "join 2 of Ann Lee": a join's uuid is a credential, and says nothing to
 * staff.
 */
export async function withoutUuids(
  deps: Pick<Deps, 'database'>,
  sentences: readonly string[],
): Promise<string[]> {
  const uuids = sentences.flatMap((sentence) => (sentence.match(NAMED) ?? []).map(uuidOf));
  const joins = await nameJoins(deps, [...new Set(uuids)]);
  return sentences.map((sentence) =>
    sentence.replace(NAMED, (named, at: number) => {
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
