import { sql } from 'kysely';
import type { Place, Places } from '#core/deskOffers.ts';
import type { Remedy } from '#core/remedy.ts';
import { nameJoins } from '../people/nameJoins.ts';
import type { Deps } from './deps.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns where the desk shows the joins, payments and refunds that remedies name. */
export async function readPlaces(
  deps: Pick<Deps, 'database'>,
  remedies: readonly (Remedy | null)[],
): Promise<Places> {
  const named = remedies.flatMap((remedy) => (remedy === null ? [] : namesIn(remedy)));
  if (named.length === 0) return { join: () => null, payment: () => null, refund: () => null };
  const uuids = named.filter((name) => UUID.test(name));
  const { rows } = await sql<{ name: string; uuid: string }>`
    select intent_id as name, session_uuid as uuid from payment where intent_id = any(${named})
    union all select refund.uuid::text, session_uuid from refund join payment using (intent_id)
      where refund.uuid = any(${uuids}::uuid[])`.execute(deps.database);
  const joins = await nameJoins(deps, [...uuids, ...rows.map(({ uuid }) => uuid)]);
  const join = (uuid: string): Place | null => joins.get(uuid) ?? null;
  const of = (name: string): Place | null => {
    const row = rows.find((each) => each.name === name);
    return row ? join(row.uuid) : null;
  };
  return { join, payment: of, refund: of };
}

/** The uuids and ids in a remedy. */
function namesIn(remedy: Remedy): string[] {
  return Object.entries(remedy).flatMap(([key, value]) =>
    key !== 'do' && typeof value === 'string' ? [value] : [],
  );
}
