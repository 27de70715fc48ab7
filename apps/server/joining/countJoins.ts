import { sql } from 'kysely';
import type { Deps } from './deps.ts';

/** Returns how many joins have begun, and how many were paid, since a time. */
export async function countJoins(
  { database }: Pick<Deps, 'database'>,
  since: Date,
): Promise<{ begun: number; paid: number }> {
  const { rows } = await sql<{ begun: number; paid: number }>`
    select (select count(*)::int from join_session where created_at >= ${since}) as begun,
      (select count(*)::int from join_session where paid_at >= ${since}) as paid`.execute(database);
  return rows[0]!;
}
