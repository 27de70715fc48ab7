import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { isMemberNow } from '../session/members.ts';

/**
 * Returns the join that owes the proof of eligibility for the join `uuid`. That is the join `uuid` itself or, for an upgrade by
 * link, the join that bought the upgrade's base. If the base was not bought here, the upgrade's own join owes the proof. A
 * membership that has ended counts as the base only if the contact is not a member now.
 */
export async function proofJoin(database: Kysely<Tables>, uuid: string): Promise<string> {
  const { rows } = await sql<{ uuid: string }>`
    select base.session_uuid as uuid
    from join_session session cross join lateral (
      select 1 as place, id, session_uuid, is_held from membership
      where session_uuid = session.uuid and type = 'membership' and standing <> 'void'
      union all
      select 2, id, session_uuid, is_held from join_session other join membership on session_uuid = other.uuid
      where other.person_id = session.person_id and type = 'membership' and standing <> 'void'
        and (is_held or not ${isMemberNow('session.person_id')})) as base
    where session.uuid = ${uuid} order by place, is_held desc, base.id desc limit 1`.execute(database);
  return rows[0]?.uuid ?? uuid;
}
