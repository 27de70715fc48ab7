import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LetterKind } from '#core/letterKinds.ts';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';

/** A letter that is to be sent. */
export interface DueLetter {
  kind: LetterKind;
  /** The join that it is about. */
  sessionUuid: string | null;
  /**
   * What of the join the letter is about, such as the id of a payment. There is one letter for each kind, join and occasion,
   * however often it is made due.
   */
  occasion: string;
  /** The address that it goes to. If absent, the join's own address at the time of sending. */
  email?: string;
  /** What the letter needs and no other table has. */
  data?: Record<string, unknown>;
  /** How many hours later the letter is due. If absent, it is due at once. */
  afterHours?: number;
}

/**
 * An `insert` that makes letters due: a statement, or a CTE of the statement that writes the event they tell of. Writes none if the
 * society sends its letters by other means (`MAIL=elsewhere`), or if `onlyIf` does not hold.
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

/** Letters of a sale that are true whenever they arrive, so that they may be sent late. */
const lateLetters: readonly LetterKind[] = ['confirmation', 'upgrade', 'certificate', 'portal'];

/**
 * Makes the letters of a sale due again that were withdrawn while its membership had ended, which is held again. Whether they still
 * hold is checked when they are sent, as for every letter.
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

/** Makes letters due, in the transaction that writes the event they tell of. */
export async function dueLetters(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  letters: readonly DueLetter[],
): Promise<void> {
  if (letters.length > 0) await insertLetters(deps, letters).execute(trx);
}
