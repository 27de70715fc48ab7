import { sql } from 'kysely';
import type { Holding } from '#core/holding.ts';
import type { Deps } from '../deps.ts';
import { isHeldBy, seesJoiner } from '../session/holding.ts';
import { baseMembership } from '../session/members.ts';
import { readMember } from './member.ts';

/**
 * Sets whether others can verify a membership by its number, in one statement. Takes effect at once. Throws like {@link
 * readMember}.
 */
export async function setVerification(
  deps: Deps,
  uuid: string,
  { isVerifiable, holding }: { isVerifiable: boolean; holding: Holding },
): Promise<{ isVerifiable: boolean }> {
  const { rows } = await sql`
    update membership set is_unlisted = ${!isVerifiable}
    where id = (select base.id from join_session session cross join lateral ${baseMembership} as base where session.uuid = ${uuid} and ${isHeldBy(holding)} and ${seesJoiner(holding)})
      and is_held
    returning id`.execute(deps.database);
  // No row was updated. `readMember` finds out why, and throws that as a refusal.
  if (rows.length === 0) await readMember(deps, uuid, { holding });
  return { isVerifiable };
}
