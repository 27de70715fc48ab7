import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import pLimit from 'p-limit';
import type { InvitationFacts } from '#core/invitation.ts';
import { isMinted, isSlip } from '#core/mintedCode.ts';
import type { Limit } from '../platform/config/limits.ts';
import type { Database } from '../platform/database/client.ts';
import { countingWithin, limitedCount, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';

/**
 * The names of the three counts of attempts with codes that open nothing: codes that look minted, slips, and all other codes.
 * - They are separate so that other people's wrong codes do not block a caller with a minted code at the same address, as in a
 *   school, or behind a proxy that TRUST_PROXY does not name.
 * - The limit of codes that look minted is ten times that of other codes, since a guess among 2^40 is hopeless.
 */
const WRONG_CODE = 'wrong_code';
const WRONG_MINTED = 'wrong_minted_code';
const SLIP = 'slip_code';
/** The names of the counts that contain guesses. A slip does not count as a guess. */
export const GUESSES = [WRONG_CODE, WRONG_MINTED];
const MINTED_TIMES = 10;
/** The name under which each attempt's code is recorded, so that the same code from the same address is counted only once. */
const TRIED = 'tried_code';

/** An attempt: a normalised code, and the hash of the address from which it came. */
export interface CodeAttempt {
  code: string;
  addressHash: string;
}

export interface CountedAttempt {
  /**
   * Whether the attempt may be answered. Independent of whether the code is right: otherwise the limit would reveal a right
   * guess.
   */
  is_within: boolean;
  /** The start of the time window in which the attempt was counted; null when it was not counted. */
  counted_at: string | null;
  /** Whether the address has already tried other wrong codes within the limit's time window. */
  is_suspect: boolean;
}

/**
 * Counts an attempt with a code that opens nothing, before it is answered. An attempt with a right code is not counted, since a
 * whole school may share one address. Also not counted are:
 * - an attempt with a code that was already counted for this address;
 * - an attempt above the limit, so that the block ends by itself.
 */
export function countAttempt(deps: Deps, attempt: CodeAttempt): Promise<CountedAttempt> {
  const limit = limitOf(deps, attempt);
  if (!limit) return Promise.resolve({ is_within: true, counted_at: null, is_suspect: false });
  const { name, key, tried } = rowsOf(attempt);
  const isAgain = sql<boolean>`exists (
    select from limit_count where name = ${TRIED} and key = ${tried}
      and window_start > now() - make_interval(mins => ${limit.minutes}))`;
  const counting = sql<CountedAttempt>`
    with ${countingWithin(name, key, limit, isAgain)}, noted as (
      insert into limit_count (name, key, window_start, count)
      select ${TRIED}, ${tried}, window_start, 1 from counted on conflict do nothing
    )
    select is_within, (select window_start::text from counted) as counted_at, earlier > is_free::int as is_suspect
    from counts, within`;
  return inTurn(async () => (await counting.execute(deps.database)).rows[0]!);
}

/**
 * Runs at most one of the statements that count attempts at a time. Each of them waits for the disk, so a burst of guesses would
 * otherwise occupy every connection of the pool and delay joins.
 */
const inTurn = pLimit(1);

/** SQL for the {@link InvitationFacts} of the query's `invitation`; null if there is none. */
export const invitationFacts: RawBuilder<InvitationFacts | null> = sql`case when code is not null then json_build_object(
    'isWithdrawn', is_withdrawn, 'hasExpired', coalesce(expires_at <= now(), false), 'programme', invitation.programme) end`;

/**
 * SQL for whether the address is below its limit for codes of this form. Counts nothing. The statement that uses it must itself
 * check that the code is right.
 */
export function mayAttempt(deps: Deps, attempt: CodeAttempt): RawBuilder<boolean> {
  const limit = limitOf(deps, attempt);
  if (!limit) return sql<boolean>`true`;
  const { name, key } = rowsOf(attempt);
  return sql<boolean>`${limitedCount(name, key, limit)} < ${limit.count}`;
}

/** Undoes the count of an attempt whose code was unknown here but is known to HubSpot. */
export async function forgiveAttempt(
  database: Database,
  attempt: CodeAttempt,
  { counted_at }: CountedAttempt,
): Promise<void> {
  if (counted_at === null) return;
  const { name, key, tried } = rowsOf(attempt);
  await sql`
    with forgotten as (delete from limit_count where name = ${TRIED} and key = ${tried})
    update limit_count set count = count - 1
    where name = ${name} and key = ${key} and window_start = ${counted_at}::timestamptz and count > 0`.execute(
    database,
  );
}

export function tooManyAttempts(deps: Deps): Refusal {
  const minutes = deps.config.limits?.wrongCodesPerAddress.minutes ?? 1;
  return new Refusal(429, TOO_MANY, { retryAfter: minutes * 60 });
}

function rowsOf({ code, addressHash }: CodeAttempt): { name: string; key: string; tried: string } {
  const tried = createHash('sha256').update(`${addressHash}\n${code}`).digest('base64url').slice(0, 22);
  const name = isMinted(code) ? WRONG_MINTED : isSlip(code) ? SLIP : WRONG_CODE;
  return { name, key: addressHash, tried };
}

function limitOf(deps: Deps, { code }: CodeAttempt): Limit | undefined {
  const limit = deps.config.limits?.wrongCodesPerAddress;
  return limit && isMinted(code) ? { ...limit, count: limit.count * MINTED_TIMES } : limit;
}
