import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { LetterKind } from '#core/letterKinds.ts';
import type { Tables } from '../platform/database/types.ts';
import type { Deps } from './deps.ts';
import { retryRefused } from './dueLetters.ts';
import { judgeLetter } from './judgeLetter.ts';
import { readLetter } from './takeLetter.ts';

type LetterState = 'sent' | 'refused' | 'withdrawn' | 'due' | 'trying again' | 'later' | 'will not be sent';

export interface ListedLetter {
  id: string;
  kind: LetterKind;
  join: string | null;
  email: string | null;
  state: LetterState;
  /** When the letter was sent, withdrawn or refused; for any other letter, the time of its next try. */
  at: Date;
  attempts: number;
  refusal: string | null;
}

const state = sql<LetterState>`case when sent_at is not null then 'sent' when refusal is not null then 'refused'
  when withdrawn_at is not null then 'withdrawn' when due_at > now() then 'later' when attempts > 0 then 'trying again' else 'due' end`;
/** SQL for {@link ListedLetter.at}. For a refused letter, `next_try_at` is the time of the refusal. */
const at = sql<Date>`coalesce(sent_at, withdrawn_at, next_try_at)`;

/**
 * Returns at most `most` letters, newest first: the letters of these joins, all letters, or (`unsent`) those that were refused,
 * or are due and not sent yet.
 */
export async function listLetters(
  deps: Deps,
  which: { joins: readonly string[] } | 'all' | 'unsent',
  most: number,
): Promise<ListedLetter[]> {
  const condition =
    which === 'all'
      ? sql`true`
      : which === 'unsent'
        ? sql`sent_at is null and withdrawn_at is null and (refusal is not null or due_at <= now())`
        : sql`session_uuid = any(${which.joins}::uuid[])`;
  const { rows } = await sql<ListedLetter>`
    select id, kind, session_uuid as join, email, attempts, refusal, ${state} as state, ${at} as at
    from letter where ${condition} order by ${at} desc, id limit ${most}`.execute(deps.database);
  const listed: ListedLetter[] = [];
  for (const row of rows)
    listed.push((await willBeSent(deps, row)) ? row : { ...row, state: 'will not be sent' });
  return listed;
}

/**
 * Whether a letter that is not sent yet would be sent in the current state. True for letters that were sent, refused or
 * withdrawn.
 */
async function willBeSent(deps: Deps, { id, state }: ListedLetter): Promise<boolean> {
  if (state === 'sent' || state === 'refused' || state === 'withdrawn') return true;
  if (deps.config.mail === null) return false;
  const letter = await readLetter(deps, id);
  return letter === null || (await judgeLetter(deps, letter, deps.now())) !== 'withdraw';
}

/** How many letters of a kind were refused and not sent since. */
export interface RefusedLetters {
  kind: LetterKind;
  count: number;
}

export async function refusedLetters(database: Kysely<Tables>): Promise<RefusedLetters[]> {
  const { rows } = await sql<RefusedLetters>`
    select kind, count(*)::int as count from letter where refusal is not null and sent_at is null group by kind order by kind`.execute(
    database,
  );
  return rows;
}

/**
 * Makes one refused letter, or all of them, due again. Returns how many. Does not touch letters that were sent. With `seen`, the
 * result of {@link refusedLetters}, makes none due and returns null if the refused letters have changed since.
 */
export async function retryLetters(
  database: Kysely<Tables>,
  which: 'all' | string,
  seen: readonly RefusedLetters[] | null = null,
): Promise<number | null> {
  if (seen !== null)
    return database.transaction().execute(async (trx) => {
      await sql`select from letter where refusal is not null and sent_at is null order by id for update`.execute(
        trx,
      );
      return isDeepStrictEqual(await refusedLetters(trx), seen) ? retryLetters(trx, which) : null;
    });
  return retryRefused(database, which === 'all' ? sql`true` : sql`id = ${which}`);
}
