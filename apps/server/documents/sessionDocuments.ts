import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import { hasEnded, isReturned } from '../session/members.ts';
import { isUnseen } from '../session/proof.ts';
import { standingFor } from '../session/standing.ts';
import type { Deps } from './deps.ts';
import { proofJoin } from './proofJoin.ts';
import { isOver } from './review.ts';

/**
 * Returns the following about a join, for a browser that holds it:
 * - Its documents that are neither rejected nor removed; for an upgrade by link, also those of its base's join.
 * - The rejection by staff, if there is one, and whether the membership has ended.
 * A browser that may not see the joiner's data gets only whether the membership has ended.
 */
export async function sessionDocuments(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<Data<'getDocuments'>> {
  const standing = await standingFor(deps, 'uploadTranscript', uuid, holding);
  const proof = await proofJoin(deps.database, uuid);
  const isShown = seesJoiner(holding, standing);
  const rows = await deps.database
    .selectFrom('document')
    .select(['name', 'size_bytes'])
    .where('session_uuid', 'in', [uuid, proof])
    .where('review', '<>', 'rejected')
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .execute();
  return {
    documents: isShown ? rows.map(({ name, size_bytes }) => ({ name, size: Number(size_bytes) })) : [],
    rejection: isShown ? await rejectionOf(deps, uuid) : null,
    hasEnded: await isOver(deps.database, proof),
  };
}

/**
 * Returns the rejection by staff of the transcripts of a join, or of its base's join: the final rejection if there is one.
 * Otherwise returns the last rejection if all transcripts were rejected and the membership has not ended, because its sentence
 * asks for another transcript. Returns null in all other cases.
 */
export async function rejectionOf(
  { database }: Pick<Deps, 'database'>,
  uuid: string,
): Promise<{ message: string; isFinal: boolean } | null> {
  const last = await database
    .selectFrom('document')
    .select([
      'reason',
      'is_final',
      isReturned('document.session_uuid').as('isReturned'),
      hasEnded('document.session_uuid').as('hasEnded'),
    ])
    .where('session_uuid', '=', await proofJoin(database, uuid))
    .where(sql<boolean>`not ${isUnseen}`)
    .orderBy('is_final', 'desc')
    .orderBy(sql`review = 'rejected'`)
    .orderBy('reviewed_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last?.reason) return null;
  if (last.is_final) return { message: finalRejection(last), isFinal: true };
  return last.hasEnded ? null : { message: rejectionReasons[last.reason], isFinal: false };
}
