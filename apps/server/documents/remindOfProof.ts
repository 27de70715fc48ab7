import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { REMIND_AGAIN_DAYS } from '#core/staff.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { dueProofs } from './review.ts';

/** Who of some joins is reminded of an overdue proof, and why others are not. All are uuids, in the order of the lists of overdue proofs. */
export interface Reminded {
  reminded: string[];
  /** They were reminded so lately that it would be a nuisance. */
  lately: string[];
  /** Their proof is not overdue: they have sent a transcript meanwhile, or their membership has ended. */
  notDue: string[];
}

const NO_MAIL = 'No letter goes out from here (MAIL=elsewhere), so nobody can be reminded.';
const CHANGED = 'Who is to be reminded has changed since it was shown, so nobody was. Please look again.';

/**
 * Makes a letter due to each of these joins whose proof is overdue and who got none in {@link REMIND_AGAIN_DAYS}. With `isTrial`, makes
 * none; with `seen`, the result of a trial, none unless it would still go to the same. Throws {@link Failed} in either case that none
 * may go.
 */
export async function remindOfProof(
  deps: Deps,
  uuids: readonly string[],
  { isTrial = false, seen }: { isTrial?: boolean; seen?: Reminded | undefined } = {},
): Promise<Reminded> {
  if (deps.config.mail === null) throw new Failed(NO_MAIL);
  return transaction(deps, async (trx) => {
    // Of two presses at once, the second waits here, and sees the letters of the first.
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

/** Returns when each of these joins was last reminded of its proof by staff; those that never were are left out. */
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
