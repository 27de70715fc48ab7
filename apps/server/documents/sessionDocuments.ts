import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { statesAllowing } from '#core/joinSession.ts';
import { finalRejection, rejectionReasons } from '#documents/document.ts';
import type { Deps } from '../deps.ts';
import { isHeldBy, isOpenTo } from '../session/holding.ts';
import { hasEnded, isReturned } from '../session/members.ts';
import { isUnseen } from '../session/proof.ts';
import { refusalFor } from '../session/standing.ts';
import { proofJoin } from './proofJoin.ts';
import { isOver } from './review.ts';

/**
 * Returns about a join:
 * - Its documents that are neither rejected nor removed; for an upgrade by link, also those of its base's join. Only a browser
 *   that holds the join gets their file names.
 * - The rejection by staff, if there is one, and whether the membership has ended. They are for everybody who knows the uuid,
 *   until somebody has proven to be the joiner; after that only for browsers that hold the join.
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
    .select(['name', 'size_bytes', isHeldBy(holding).as('is_its_browser'), isOpenTo(holding).as('is_open')])
    .where('uuid', '=', uuid)
    .where('state', 'in', statesAllowing('uploadTranscript'))
    .orderBy('document.created_at')
    .execute();
  if (rows.length === 0) throw await refusalFor(deps, 'uploadTranscript', uuid);
  const documents = rows.flatMap(({ name, size_bytes }) =>
    name === null ? [] : [{ name, size: Number(size_bytes) }],
  );
  const { is_its_browser, is_open } = rows[0]!;
  return {
    documents: is_its_browser ? documents : [],
    rejection: is_open ? await rejectionOf(deps, uuid) : null,
    hasEnded: is_open && (await isOver(deps.database, proof)),
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
