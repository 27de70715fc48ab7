import { type Kysely, sql } from 'kysely';
import { type Holdings, isMember } from '#core/people.ts';
import type { Tables } from '../platform/database/types.ts';
import { holdings } from '../session/members.ts';

/**
 * Returns the join that owes the proof of eligibility for the join `uuid`. That is the join `uuid` itself or, for an upgrade by
 * link, the join that bought the upgrade's base. If the base was not bought here, the upgrade's own join owes the proof. A
 * membership that has ended counts as the base only if the person is not a member now.
 */
export async function proofJoin(database: Kysely<Tables>, uuid: string): Promise<string> {
  const { rows } = await sql<{ uuid: string; is_own: boolean; is_held: boolean; holdings: Holdings | null }>`
    select base.session_uuid as uuid, base.session_uuid = session.uuid as is_own, base.is_held, ${holdings('session.person_id')} as holdings
    from join_session session join membership base
      on base.type = 'membership' and base.standing <> 'void'
        and (base.session_uuid = session.uuid or base.person_id = session.person_id)
    where session.uuid = ${uuid} order by is_own desc, is_held desc, base.id desc`.execute(database);
  const base = rows.find((one) => one.is_own || one.is_held || !isMember(one.holdings, 'staff'));
  return base?.uuid ?? uuid;
}
