import { type RawBuilder, sql } from 'kysely';
import {
  CODE_FIRST,
  CODE_WRONG,
  isSamePerson,
  MOST_TRIES,
  NAME_CLOSED,
  NAME_WRONG,
  TRIES_USED_UP,
} from '#core/pass.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { PASS_INVALID, type Pass } from '../../session/passes.ts';
import type { Deps } from '../deps.ts';
import { opens } from './openPass.ts';

/**
 * Accepts a mailed code as proof, once, from the browser that asked for it. One statement checks the code and counts the try, so
 * that concurrent calls, even to several servers, get no additional tries. Returns the join's uuid. Throws a {@link Refusal}.
 */
export async function proveByCode(
  deps: Deps,
  { token, code, codeBrowser }: { token: string; code: string; codeBrowser: Buffer | null },
): Promise<string> {
  const pass = deps.passes.read(token);
  const isRight = sql`code_hash = ${codeHash(deps, pass, code.replaceAll(/\s/g, ''))}`;
  const { rows } = await sql<{ is_right: boolean; tries: number }>`
    with judged as (
      update pass set
        tries = case when ${isRight} then 0 else tries + 1 end,
        name_tries = case when ${isRight} then 0 else name_tries end,
        code_browser = case when ${isRight} then null else code_browser end,
        code_expires_at = case when ${isRight} then null else code_expires_at end,
        code_hash = case when ${isRight} then null else code_hash end
      where session_uuid = (select uuid from join_session session where ${opens(pass)} for no key update)
        and tries < ${MOST_TRIES} and code_browser = ${codeBrowser} and code_expires_at > now()
      returning session_uuid, code_hash is null as is_right, tries
    ), proven as (${keepProven(sql`(select session_uuid from judged where is_right)`)})
    select is_right, tries from judged`.execute(deps.database);
  const judged = rows[0];
  if (judged?.is_right) return pass.sessionUuid;
  if (!judged) throw await whyNotJudged(deps, pass);
  throw wrong('code', CODE_WRONG, judged.tries);
}

/**
 * SQL for an update that marks joins as proven. After that, a join is open only in browsers that paid for it or whose user has
 * proven to be the joiner (packages/core/holding.ts).
 */
function keepProven(uuids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update join_session set proven_at = now() where uuid in ${uuids} and proven_at is null`;
}

/** Returns the keyed hash of a join's code, which is stored instead of the code. */
export function codeHash(deps: Deps, { sessionUuid }: Pass, code: string): Buffer {
  return deps.passes.hash('code', `${sessionUuid} ${code}`);
}

async function whyNotJudged(deps: Deps, pass: Pass): Promise<Refusal> {
  const { rows } = await sql<{ tries: number }>`
    select coalesce((select tries from pass where session_uuid = session.uuid), 0) as tries
    from join_session session where ${opens(pass)}`.execute(deps.database);
  if (!rows[0]) return new Refusal(403, PASS_INVALID);
  const isUsedUp = rows[0].tries >= MOST_TRIES;
  return isUsedUp
    ? new Refusal(429, TRIES_USED_UP)
    : new Refusal(400, CODE_FIRST, { errors: { code: CODE_FIRST } });
}

/**
 * Accepts the last name and ZIP code in the join's details, as last corrected, as proof. A contact's data are no proof, since
 * anybody may have a link with a contact's id. Wrong tries are counted until the joiner proves who they are by a mailed code. A
 * request for a new code does not reset this count.
 */
export async function proveByName(
  deps: Deps,
  { token, lastName, zipcode }: { token: string; lastName: string; zipcode: string },
): Promise<string> {
  const pass = deps.passes.read(token);
  const { rows } = await sql<{
    last_name: string | null;
    zipcode: string | null;
    tries: number | null;
    name_tries: number | null;
  }>`
    with opened as (
      select uuid, coalesce(
          case when state = 'paid' then (select person.details from person where person.id = person_id) end, details) as details
      from join_session session where ${opens(pass)} for key share
    ), counted as (
      insert into pass (session_uuid, tries, name_tries) select uuid, 1, 1 from opened
      on conflict (session_uuid) do update set tries = pass.tries + 1, name_tries = pass.name_tries + 1
        where pass.tries < ${MOST_TRIES} and pass.name_tries < ${MOST_TRIES}
      returning tries, name_tries
    )
    select details ->> 'lastName' as last_name, details ->> 'zipcode' as zipcode, tries, name_tries
    from opened left join counted on true`.execute(deps.database);
  const row = rows[0];
  if (!row) throw new Refusal(403, PASS_INVALID);
  if (row.tries === null) throw new Refusal(429, NAME_CLOSED);
  const known = { lastName: row.last_name ?? '', zipcode: row.zipcode ?? '' };
  if (!isSamePerson({ lastName, zipcode }, known))
    throw wrong('lastName', NAME_WRONG, Math.max(row.tries, row.name_tries ?? 0));
  // Records the proof. The answer was right, so the try is subtracted from the counts of tries.
  await sql`
    with proven as (${keepProven(sql`(${pass.sessionUuid}::uuid)`)})
    update pass set tries = greatest(tries - 1, 0), name_tries = greatest(name_tries - 1, 0)
    where session_uuid = (select uuid from join_session where uuid = ${pass.sessionUuid} for no key update)`.execute(
    deps.database,
  );
  return pass.sessionUuid;
}

function wrong(field: 'code' | 'lastName', sentence: string, tries: number): Refusal {
  return tries >= MOST_TRIES
    ? new Refusal(429, TRIES_USED_UP)
    : new Refusal(400, sentence, { errors: { [field]: sentence } });
}
