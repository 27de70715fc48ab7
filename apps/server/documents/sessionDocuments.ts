import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { statesAllowing } from '#core/joinSession.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import type { Deps } from '../deps.ts';
import { isOpenTo, seesJoiner } from '../session/holding.ts';
import { hasEnded, isReturned } from '../session/members.ts';
import { isUnseen } from '../session/proof.ts';
import { refusalFor } from '../session/standing.ts';
import { proofJoin } from './proofJoin.ts';
import { isOver } from './review.ts';

/**
 * Returns about a join, for a browser that holds it:
 * - Its documents that are neither rejected nor removed; for an upgrade by link, also those of its base's join.
 * - The rejection by staff, if there is one, and whether the membership has ended.
 * A browser that is not shown who the joiner is gets only whether it has ended.
 */
export async function sessionDocuments(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<Data<'getDocuments'>> {
  const proof = await proofJoin(deps.database, uuid);
  const rows = await deps.database
    .selectFrom('join_session')
    .leftJoin('document', (join) =>
      join
        .on('session_uuid', 'in', [uuid, proof])
        .on('review', '<>', 'rejected')
        .on('removed_at', 'is', null),
    )
    .select(['name', 'size_bytes', seesJoiner(holding).as('sees_joiner')])
    .where('uuid', '=', uuid)
    .where('state', 'in', statesAllowing('uploadTranscript'))
    .where(isOpenTo(holding))
    .orderBy('document.created_at')
    .execute();
  if (rows.length === 0) throw await refusalFor(deps, 'uploadTranscript', uuid, { holding });
  const isShown = rows[0]!.sees_joiner;
  const documents = rows.flatMap(({ name, size_bytes }) =>
    name === null || !isShown ? [] : [{ name, size: Number(size_bytes) }],
  );
  return {
    documents,
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
