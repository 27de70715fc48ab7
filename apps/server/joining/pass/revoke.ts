import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../../platform/database/types.ts';
import type { Deps } from '../deps.ts';

/**
 * Revokes every link that was mailed for the joins until `at`, and their codes. `joins` is an SQL condition on `join_session`.
 * Returns the joins' uuids.
 */
export async function revokePasses(
  database: Kysely<Tables>,
  joins: RawBuilder<unknown>,
  at: Date,
): Promise<string[]> {
  const { rows } = await sql<{ uuid: string }>`
    insert into pass (session_uuid, revoked_at) select uuid, ${at} from join_session where ${joins}
    on conflict (session_uuid) do update set revoked_at = excluded.revoked_at,
      code_hash = null, code_browser = null, code_expires_at = null
    returning session_uuid as uuid`.execute(database);
  return rows.map(({ uuid }) => uuid);
}

/** Revokes every link that was mailed for a join, and its code. Returns whether there is such a join. */
export async function revokePass({ database, now }: Deps, uuid: string): Promise<boolean> {
  return (await revokePasses(database, sql`uuid = ${uuid}`, now())).length > 0;
}
