import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LetterKind } from '#core/letterKinds.ts';
import type { Tables } from '../platform/database/types.ts';
import type { Deps } from './deps.ts';

export interface DueLetter {
  kind: LetterKind;
  /** The join that the letter is about; null if it is about none. */
  sessionUuid: string | null;
  /**
   * Distinguishes letters of the same kind within a join, for example by a payment's id. Each kind, join and occasion has at most
   * one letter, however often it is made due.
   */
  occasion: string;
  /** The recipient's address. If absent, the letter goes to the address that the join has when the letter is sent. */
  email?: string;
  /** Data that the letter needs and that no other table stores. */
  data?: Record<string, unknown>;
  /** The letter is due after this many hours. If absent, it is due immediately. */
  afterHours?: number;
}

/**
 * SQL for an `insert` that makes letters due. It is either a separate statement or a CTE of the statement that writes the event
 * that the letters report. Inserts nothing if `onlyIf` is false, or if the society sends its letters by other means
 * (`MAIL=elsewhere`).
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

/** Kinds of letters about a payment that may be sent late, because their statements stay true. */
const lateLetters: readonly LetterKind[] = [
  'confirmation',
  'upgrade',
  'certificate',
  'portal',
  'second-payment',
  'payer-receipt',
];

/**
 * Makes the withdrawn letters about a payment due again, if they may be sent late ({@link lateLetters}). They were withdrawn
 * because they were not true. They may be true now, because the membership is held again or the money is refunded after all; that
 * is checked when they are sent. A letter that staff have sent again stays withdrawn: only the newest copy counts.
 */
export async function dueAgain(trx: Kysely<Tables>, sessionUuid: string, intentId: string): Promise<void> {
  await trx
    .updateTable('letter')
    .set({ withdrawn_at: null, attempts: 0, due_at: sql`greatest(due_at, now())`, next_try_at: sql`now()` })
    .where('session_uuid', '=', sessionUuid)
    .where('kind', 'in', lateLetters)
    .where(sql`split_part(occasion, ' ', 1)`, '=', intentId)
    .where('withdrawn_at', 'is not', null)
    .where(
      sql<boolean>`not exists (select from letter as copy where copy.session_uuid = letter.session_uuid and copy.kind = letter.kind
        and split_part(copy.occasion, ' ', 1) = ${intentId} and copy.created_at > letter.created_at)`,
    )
    .execute();
}

/**
 * Withdraws a join's letters of these kinds that were not sent, including refused letters. To be called when what
 * they report is no longer so.
 */
export async function withdrawLetters(
  trx: Kysely<Tables>,
  sessionUuid: string,
  kinds: readonly LetterKind[],
): Promise<void> {
  await trx
    .updateTable('letter')
    .set({ withdrawn_at: sql`now()`, refusal: null })
    .where('session_uuid', '=', sessionUuid)
    .where('kind', 'in', kinds)
    .where('sent_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .execute();
}

/**
 * Makes refused letters due now, so that their five days of retries begin again. A letter with a code keeps its time: it must be
 * withdrawn if the code has expired. `which` is an SQL condition on `letter`. Returns how many.
 */
export async function retryRefused(database: Kysely<Tables>, which: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql`
    update letter set refusal = null, attempts = 0, next_try_at = now(),
      due_at = case when kind = 'code' then due_at else now() end
    where refusal is not null and sent_at is null and ${which} returning id`.execute(database);
  return rows.length;
}

/** Makes letters due. To be called in the transaction that writes the event that the letters report. */
export async function dueLetters(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  letters: readonly DueLetter[],
): Promise<void> {
  if (letters.length > 0) await insertLetters(deps, letters).execute(trx);
}

/**
 * Makes the letter due that informs the joiner about a payment that bought nothing and is refunded in full. If the letter was
 * withdrawn before, it becomes due again. If it was sent before, it is not sent a second time. Makes no letter due for a payment
 * by a pay link: its payer was informed on their page, and gets a letter when Stripe has made the refund.
 */
export async function dueSecondPayment(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  sessionUuid: string,
  intentId: string,
): Promise<void> {
  const isOfJoiner = sql<boolean>`not exists (select from payment where intent_id = ${intentId} and by_pay_link)`;
  await insertLetters(
    deps,
    [{ kind: 'second-payment', sessionUuid, occasion: intentId }],
    isOfJoiner,
  ).execute(trx);
  await dueAgain(trx, sessionUuid, intentId);
}
