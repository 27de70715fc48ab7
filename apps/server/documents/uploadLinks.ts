import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import type { Holding } from '#core/holding.ts';
import { uploadLinkPath } from '#core/navigation.ts';
import { UPLOAD_LINK_MINUTES, UPLOAD_LINK_OVER } from '#documents/document.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import type { Deps } from './deps.ts';
import { joinForUpload, refuseDecided, uploadTranscript } from './uploadTranscript.ts';

const TOKEN_BYTES = 16;

export interface UploadLink {
  /** The path of the page on which the link's holder uploads, such as a phone's browser. */
  path: string;
  expiresAt: string;
}

/**
 * Creates a link with which another device, such as a phone, can upload transcripts for a paid join. Only the token's hash is
 * stored, so a copy of the database contains no valid link.
 */
export async function createUploadLink(deps: Deps, uuid: string, holding: Holding): Promise<UploadLink> {
  await joinForUpload(deps, uuid, holding);
  const limit = deps.config.limits?.uploadLinksPerSession;
  if (limit && !(await countWithin(deps.database, 'upload link', uuid, limit)))
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { rows } = await sql<{ expires_at: Date }>`
    with forgotten as (delete from upload_link where expires_at < now())
    insert into upload_link (token_hash, session_uuid, expires_at)
    select ${hashOf(token)}, uuid, now() + make_interval(mins => ${UPLOAD_LINK_MINUTES}) from join_session
    where uuid = ${uuid} and ${stateAllows('uploadTranscript')}
    returning expires_at`.execute(deps.database);
  if (!rows[0]) throw await refusalFor(deps, 'uploadTranscript', uuid);
  return { path: uploadLinkPath(token), expiresAt: rows[0].expires_at.toISOString() };
}

/** Returns when an upload link expires. An expired link and an unknown link are refused with the same sentence. */
export async function getUploadLink(deps: Deps, token: string): Promise<{ expiresAt: string }> {
  const { session_uuid, expires_at } = await linkOf(deps, token);
  await refuseDecided(deps, session_uuid);
  return { expiresAt: expires_at.toISOString() };
}

/** Stores a transcript from anybody who has the link. The returned `size` is in bytes. */
export async function uploadByLink(
  deps: Deps,
  token: string,
  request: FastifyRequest,
): Promise<{ name: string; size: number }> {
  const { session_uuid } = await linkOf(deps, token);
  const limit = deps.config.limits?.uploadsPerLink;
  if (limit && !(await countWithin(deps.database, 'upload by link', hashOf(token).toString('hex'), limit)))
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  return uploadTranscript(deps, session_uuid, request, null);
}

async function linkOf(
  { database }: Deps,
  token: string,
): Promise<{ session_uuid: string; expires_at: Date }> {
  const link = await database
    .selectFrom('upload_link')
    .select(['session_uuid', 'expires_at'])
    .where('token_hash', '=', hashOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (!link) throw new Refusal(404, UPLOAD_LINK_OVER);
  return link;
}

/**
 * Returns the hash under which a link's token is stored. Plain SHA-256 is safe, because the token is random and too long to be
 * guessed.
 */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
