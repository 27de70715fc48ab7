import { sql } from 'kysely';
import type { Deps } from '../deps.ts';

/** Revokes every link that was mailed for a join, and its code. Returns whether there is such a join. */
export async function revokeLinks({ database, now }: Deps, uuid: string): Promise<boolean> {
  const { rows } = await sql`
    insert into pass (session_uuid, revoked_at) select uuid, ${now()} from join_session where uuid = ${uuid}
    on conflict (session_uuid) do update set revoked_at = excluded.revoked_at,
      code_hash = null, code_browser = null, code_expires_at = null
    returning session_uuid`.execute(database);
  return rows.length > 0;
}
