import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { baseMembership } from '../session/members.ts';

/**
 * The join that owes the proof of eligibility: this one, or for an upgrade by link, which owes none of its own, the one that
 * bought its base. The upgrade's own where its base was not bought here.
 */
export async function proofJoin(database: Kysely<Tables>, uuid: string): Promise<string> {
  const { rows } = await sql<{ uuid: string }>`
    select coalesce(base.session_uuid, session.uuid) as uuid
    from join_session session left join lateral ${baseMembership} as base on true
    where session.uuid = ${uuid}`.execute(database);
  return rows[0]?.uuid ?? uuid;
}
