import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LetterKind } from '#core/letterKinds.ts';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';

export interface DueLetter {
  kind: LetterKind;
  /** Null for a letter that is not about a join. */
  sessionUuid: string | null;
  /**
   * The part of the join that the letter is about, such as a payment's id. There is one letter for each kind, join and occasion,
   * however often it is made due.
   */
  occasion: string;
  /** The address that the letter goes to. If absent, the join's own address at the time of sending. */
  email?: string;
  /** Data that the letter needs and no other table has. */
  data?: Record<string, unknown>;
  /** How many hours later the letter is due. If absent, it is due at once. */
  afterHours?: number;
}

/**
 * An `insert` that makes letters due: a statement, or a CTE of the statement that writes their event. Inserts none if the society
 * sends its letters by other means (`MAIL=elsewhere`), or if `onlyIf` is false.
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

/** Letters of a payment that stay true, so that they may be sent late. */
const lateLetters: readonly LetterKind[] = [
  'confirmation',
  'upgrade',
  'certificate',
  'portal',
  'second-payment',
];

/**
 * Makes those letters of a payment due again that were withdrawn as untrue and may now be true: its membership had ended and is
 * held again, or its money did not go back and now does. Whether a letter is true is checked when it is sent.
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

/** Makes letters due, in the transaction that writes their event. */
export async function dueLetters(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  letters: readonly DueLetter[],
): Promise<void> {
  if (letters.length > 0) await insertLetters(deps, letters).execute(trx);
}
