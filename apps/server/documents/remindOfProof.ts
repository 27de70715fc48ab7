import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/** Returns when each of these joins was last reminded of its proof by staff; those that never were are left out. */
export async function remindedOf(
  database: Kysely<Tables>,
  uuids: readonly string[],
): Promise<Map<string, Date>> {
  const { rows } = await sql<{ uuid: string; at: Date }>`
    select session_uuid as uuid, max(created_at) as at from letter
    where session_uuid = any(${uuids}::uuid[]) and kind = 'proof-overdue' and withdrawn_at is null group by session_uuid`.execute(
    database,
  );
  return new Map(rows.map(({ uuid, at }) => [uuid, at]));
}
