import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { CODE_MINUTES, TOO_MANY_CODES } from '#core/pass.ts';
import { insertLetters } from '../../letters/dueLetters.ts';
import { countWithin } from '../../platform/http/limits.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { PASS_INVALID } from '../../session/passes.ts';
import type { Deps } from '../deps.ts';
import { opens } from './openPass.ts';
import { codeHash } from './provePass.ts';

/**
 * Makes a letter with a code due, to the email of the join. The code works only in the browser whose cookie secret has the hash
 * `codeBrowser`. It replaces the previous code, and the tries with codes are counted from 0 again.
 */
export async function sendCode(
  deps: Deps,
  { token, codeBrowser }: { token: string; codeBrowser: Buffer },
): Promise<void> {
  const pass = deps.passes.read(token);
  const { sessionUuid } = pass;
  const limit = deps.config.limits?.passCodesPerJoin;
  if (limit && !(await countWithin(deps.database, 'pass code', await countedFor(deps, sessionUuid), limit)))
    throw new Refusal(429, TOO_MANY_CODES);
  // Locks the join, so that it is not erased before the statement ends. The letter's row stores only the salt. When the letter is
  // sent, the server computes the code from the salt once more.
  const salt = randomUUID();
  const hash = codeHash(deps, pass, deps.passes.code(sessionUuid, salt));
  const { rows } = await sql`
    with opened as (
      select uuid from join_session session where ${opens(pass)} for key share
    ), kept as (
      insert into pass (session_uuid, code_hash, code_browser, code_expires_at)
      select uuid, ${hash}, ${codeBrowser}, now() + make_interval(mins => ${CODE_MINUTES}) from opened
      on conflict (session_uuid) do update set tries = 0, code_hash = excluded.code_hash,
        code_browser = excluded.code_browser, code_expires_at = excluded.code_expires_at
    ), due as (
      ${insertLetters(deps, [{ kind: 'code', sessionUuid, occasion: salt }], sql`exists (select from opened)`)}
    )
    select uuid from opened`.execute(deps.database);
  if (!rows[0]) throw new Refusal(403, PASS_INVALID);
}

/**
 * Returns the key under which codes are counted: the join or, for a join by a checkout link, the person. Anybody who has the link
 * can begin many such joins, and all their codes go to the same mailbox.
 */
async function countedFor({ database }: Deps, sessionUuid: string): Promise<string> {
  const { rows } = await sql<{ key: string }>`
    select case when origin = 'checkout' then 'person ' || person_id else uuid::text end as key
    from join_session where uuid = ${sessionUuid} and person_id is not null`.execute(database);
  return rows[0]?.key ?? sessionUuid;
}
