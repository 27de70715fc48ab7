import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { REMIND_AGAIN_DAYS } from '#core/staff.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { dueProofs } from './review.ts';

/**
 * For some joins: which ones get a reminder of an overdue proof, and why the others get none. All values are uuids of joins, in
 * the order of the list of overdue proofs.
 */
export interface Reminded {
  reminded: string[];
  /** Joins that had a reminder too recently. */
  lately: string[];
  /** Joins whose proof is not overdue: the joiner has sent a transcript meanwhile, or the membership has ended. */
  notDue: string[];
}

const NO_MAIL = 'No letter goes out from here (MAIL=elsewhere), so nobody can be reminded.';
const CHANGED = 'Who is to be reminded has changed since it was shown, so nobody was. Please look again.';

/**
 * Makes a reminder due for each of these joins whose proof is overdue and that had no reminder in the last {@link
 * REMIND_AGAIN_DAYS} days. With `isTrial`, makes none. With `seen`, the result of a trial, makes none unless the result is still
 * the same. Throws {@link Failed} if it is not, or if this installation sends no letters.
 */
export async function remindOfProof(
  deps: Deps,
  uuids: readonly string[],
  { isTrial = false, seen }: { isTrial?: boolean; seen?: Reminded | undefined } = {},
): Promise<Reminded> {
  if (deps.config.mail === null) throw new Failed(NO_MAIL);
  return transaction(deps, async (trx) => {
    // If staff press the button twice, the second call waits here, and then sees the letters of the first.
    await sql`select from join_session where uuid = any(${uuids}::uuid[]) order by uuid for update`.execute(
      trx,
    );
    const now = deps.now();
    const due = (await dueProofs({ ...deps, database: trx }, { joins: uuids })).map(({ uuid }) => uuid);
    const before = await remindedOf(trx, due);
    const isLate = (uuid: string) =>
      (before.get(uuid)?.getTime() ?? 0) > now.getTime() - REMIND_AGAIN_DAYS * 86_400_000;
    const who: Reminded = {
      reminded: due.filter((uuid) => !isLate(uuid)),
      lately: due.filter(isLate),
      notDue: uuids.filter((uuid) => !due.includes(uuid)),
    };
    if (seen && !isDeepStrictEqual(seen, who)) throw new Failed(CHANGED);
    if (!isTrial)
      await dueLetters(
        trx,
        deps,
        who.reminded.map((sessionUuid) => ({
          kind: 'proof-overdue',
          sessionUuid,
          occasion: now.toISOString(),
        })),
      );
    return who;
  });
}

/** Returns when staff last sent each of these joins a reminder of its proof. Joins without such a reminder are left out. */
export async function remindedOf(
  database: Kysely<Tables>,
  uuids: readonly string[],
): Promise<Map<string, Date>> {
  const { rows } = await sql<{ uuid: string; at: Date }>`
    select session_uuid as uuid, max(created_at) as at from letter
    where session_uuid = any(${uuids}::uuid[]) and kind = 'proof-overdue' and withdrawn_at is null group by session_uuid`.execute(
    database,
  );
  return new Map(rows.map(({ uuid, at }) => [uuid, at]));
}
