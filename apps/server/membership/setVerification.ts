import { sql } from 'kysely';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { baseMembership } from '../session/members.ts';
import { standingFor } from '../session/standing.ts';
import type { Deps } from './deps.ts';
import { readMember } from './member.ts';

/**
 * Sets whether others can verify a membership by its number. Takes effect at once. Throws like {@link
 * readMember}.
 */
export async function setVerification(
  deps: Deps,
  uuid: string,
  { isVerifiable, holding }: { isVerifiable: boolean; holding: Holding },
): Promise<{ isVerifiable: boolean }> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  if (!seesJoiner(holding, standing)) throw new Refusal(403, PROVE_FIRST);
  const { rows } = await sql`
    update membership set is_unlisted = ${!isVerifiable}
    where id = (select base.id from join_session session cross join lateral ${baseMembership} as base where session.uuid = ${uuid})
      and is_held
    returning id`.execute(deps.database);
  // No row was updated. `readMember` finds out why, and throws that as a refusal.
  if (rows.length === 0) await readMember(deps, uuid, { holding });
  return { isVerifiable };
}
