import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Holding } from '#core/holding.ts';
import { TRANSCRIPT_NOT_NEEDED } from '#documents/document.ts';
import { queueForHubspot } from '../crm/queuePersonsForHubspot.ts';
import { transaction } from '../platform/database/transaction.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { refusalFor, standingFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import type { Deps } from './deps.ts';
import { insertDocument } from './insertDocument.ts';
import { proofJoin } from './proofJoin.ts';
import { receiveUpload } from './receiveUpload.ts';
import { isOver } from './review.ts';
import { rejectionOf } from './sessionDocuments.ts';
import type { StoredDocument } from './storeFile.ts';

/**
 * Stores a transcript that a joiner uploads; for the rules see {@link takeTranscript}. Resolves when file and row are stored
 * durably. The returned `size` is in bytes.
 */
export async function uploadTranscript(
  deps: Deps,
  uuid: string,
  request: FastifyRequest,
  holding: Holding | null,
): Promise<{ name: string; size: number }> {
  const { file } = await takeTranscript(
    deps,
    uuid,
    async () => (await receiveUpload(deps, request, { name: () => uuid })).file,
    holding,
  );
  return { name: file.name, size: file.sizeBytes };
}

/**
 * Takes a transcript for a paid join; for an upgrade by link, for its base's join. Calls `store`, which stores the file, only if
 * the join may get a transcript. Resolves when both the file and its row are stored durably. Returns the join to which the
 * transcript belongs. `holding` is how the sender's browser holds the join; null for staff and for senders who use an upload
 * link. Throws a {@link Refusal}.
 */
export async function takeTranscript(
  deps: Deps,
  uuid: string,
  store: () => Promise<StoredDocument>,
  holding: Holding | null = null,
): Promise<{ join: string; file: StoredDocument }> {
  const join = await joinForUpload(deps, uuid, holding);
  const limit = deps.config.limits?.uploadsPerSession;
  if (limit && !(await countWithin(deps.database, 'upload', uuid, limit)))
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  const file = await store();
  const isKept = await transaction(deps, async (trx) => {
    // Locks the join against a concurrent erasure. If the erasure was first, the join is gone, and no row is inserted. If the
    // erasure comes later, it also removes this document.
    const { rows } = await sql`
      select from join_session where uuid = ${join} and erased_at is null and ${stateAllows('uploadTranscript')}
      for no key update`.execute(trx);
    // Staff may have rejected the proof finally during the upload. A final rejection takes the same lock on the join: either it
    // is committed already and is seen here, or it comes later and sees this document.
    if (rows.length === 0 || (await rejectionOf({ database: trx }, join))?.isFinal) return false;
    await insertDocument(trx, file, { kind: 'transcript', session_uuid: join, person_id: null });
    await queueForHubspot(trx, join);
    return true;
  });
  if (!isKept) {
    await deps.storage.remove(file.key);
    await joinForUpload(deps, uuid, holding);
    throw await refusalFor(deps, 'uploadTranscript', uuid);
  }
  return { join, file };
}

/** Used in place of `holding` for uploads by staff or by an upload link: they are allowed like uploads by the proven joiner. */
const SENT_BY_LINK: Holding = { began: false, proven: true, paid: false };

/**
 * Returns the join that owes the proof for `uuid` (proofJoin.ts). Throws if a browser (`holding`) may not continue the join
 * `uuid`, or if that join is not paid, because anybody can begin a join with somebody else's code. Throws also like {@link
 * refuseDecided}.
 */
export async function joinForUpload(deps: Deps, uuid: string, holding: Holding | null): Promise<string> {
  await standingFor(deps, 'uploadTranscript', uuid, holding ?? SENT_BY_LINK);
  const join = await proofJoin(deps.database, uuid);
  await refuseDecided(deps, join);
  return join;
}

/**
 * Throws a {@link Refusal} if staff have rejected the proof finally or the membership has ended, since nobody would look at
 * another transcript. The sentence is for the applicant.
 */
export async function refuseDecided(deps: Deps, join: string): Promise<void> {
  const rejection = await rejectionOf(deps, join);
  if (rejection?.isFinal) throw new Refusal(409, rejection.message);
  if (await isOver(deps.database, join)) throw new Refusal(409, TRANSCRIPT_NOT_NEEDED);
}
