import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LetterKind } from '#core/letterKinds.ts';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';

/** A letter that is to be sent. */
export interface DueLetter {
  kind: LetterKind;
  /** The join that it is about. */
  sessionUuid: string | null;
  /** What of the join it is about, as the id of a payment: of one kind, join and occasion there is one letter, however often it is made due. */
  occasion: string;
  /** Whom it goes to. Absent: to the join's own address, as it is known when the letter is sent. */
  email?: string;
  /** What the letter needs and no other table keeps. */
  data?: Record<string, unknown>;
  /** How much later it is due (hours). Absent: at once. */
  afterHours?: number;
}

/**
 * An `insert` that makes letters due: a statement, or a CTE of the statement that writes what they tell. Writes none where the
 * society sends its letters by other means (`MAIL=elsewhere`), or where a condition of that statement does not hold.
 */
export function insertLetters(
  { config }: Pick<Deps, 'config'>,
  letters: readonly DueLetter[],
  onlyIf: RawBuilder<boolean> = sql`true`,
): RawBuilder<unknown> {
  const rows = config.mail === null ? [] : letters;
  return sql`
    insert into letter (kind, session_uuid, occasion, email, data, due_at, next_try_at)
    select kind, "sessionUuid", occasion, email, coalesce(data, '{}'), due.at, due.at
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as made (kind text, "sessionUuid" uuid, occasion text, email text, data jsonb, "afterHours" float),
      lateral (select now() + make_interval(secs => 3600 * coalesce("afterHours", 0)) as at) as due
    where ${onlyIf}
    on conflict (kind, session_uuid, occasion) do nothing`;
}

/** Of a sale, and as true whenever they arrive. */
const lateLetters: readonly LetterKind[] = ['confirmation', 'upgrade', 'certificate', 'portal'];

/**
 * Makes the letters of a sale due once more that were withdrawn while what it sold had ended: it is held again. Whether they hold is asked
 * as of every letter when it is sent.
 */
export async function dueAgain(trx: Kysely<Tables>, sessionUuid: string, intentId: string): Promise<void> {
  await trx
    .updateTable('letter')
    .set({ withdrawn_at: null, next_try_at: sql`now()` })
    .where('session_uuid', '=', sessionUuid)
    .where('kind', 'in', lateLetters)
    .where('occasion', '=', intentId)
    .where('withdrawn_at', 'is not', null)
    .execute();
}

/** Makes letters due, in the transaction of what they tell. */
export async function dueLetters(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  letters: readonly DueLetter[],
): Promise<void> {
  if (letters.length > 0) await insertLetters(deps, letters).execute(trx);
}
