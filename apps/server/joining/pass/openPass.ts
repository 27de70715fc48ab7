import { type RawBuilder, sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type Holding, isHeldIn, type JoinAccess } from '#core/holding.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { hasNotEnded } from '../../session/members.ts';
import { PASS_INVALID, type Pass } from '../../session/passes.ts';
import { accessOf, readStanding } from '../../session/standing.ts';
import type { Deps } from '../deps.ts';

/**
 * SQL for whether a pass opens the query's `session`. All of these must be true: the pass is for this join; the join has not
 * ended ({@link hasNotEnded}); the join's links were not revoked since the pass was made, by staff or with a new email.
 */
export function opens({ sessionUuid, madeAt }: Pass): RawBuilder<boolean> {
  return sql<boolean>`(session.uuid = ${sessionUuid} and ${hasNotEnded}
    and not exists (select from pass as kept where kept.session_uuid = session.uuid and kept.revoked_at >= ${madeAt}))`;
}

/**
 * Opens the link of a pass. A browser that holds the join gets the page where the join continues. Any other browser gets only the
 * ways to prove that its user is the joiner, and nothing about the join. Writes nothing, because mail scanners also open links.
 */
export async function openPass(
  deps: Deps,
  {
    token,
    codeBrowser,
    holdingOf,
  }: { token: string; codeBrowser: Buffer | null; holdingOf: (uuid: string) => Holding },
): Promise<Data<'openPass'>> {
  const pass = deps.passes.read(token);
  const { rows } = await sql<JoinAccess & { has_details: boolean; is_code_sent: boolean }>`
    select ${accessOf('session')}, details is not null as has_details,
      exists (select from pass where session_uuid = session.uuid and code_browser = ${codeBrowser} and code_expires_at > now()) as is_code_sent
    from join_session session where ${opens(pass)}`.execute(deps.database);
  const row = rows[0];
  if (!row) throw new Refusal(403, PASS_INVALID);
  return {
    join: isHeldIn(holdingOf(pass.sessionUuid), row) ? await whereItGoesOn(deps, pass.sessionUuid) : null,
    hasDetails: row.has_details,
    isCodeSent: row.is_code_sent,
  };
}

export async function whereItGoesOn(
  deps: Deps,
  uuid: string,
): Promise<{ uuid: string; goOn: string; programme: string }> {
  const standing = await readStanding(deps, uuid);
  if (!standing) throw new Refusal(403, PASS_INVALID);
  return { uuid, goOn: standing.goOn, programme: standing.programme };
}
