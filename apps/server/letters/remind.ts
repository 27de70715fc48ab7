import { type RawBuilder, sql } from 'kysely';
import { reminderHours, reminderKinds } from '#core/reminders.ts';
import type { Society } from '../society/society.ts';
import type { Deps } from './deps.ts';
import { insertLetters } from './dueLetters.ts';

/**
 * Whether joiners of a programme get reminders. They get none if the society sends none, or if the programme is for minors and
 * the society does not remind minors.
 */
export function reminds({ letters, programmes }: Society, programme: string): boolean {
  const known = programmes[programme];
  return letters.reminders && known !== undefined && (letters.remindMinors || !known.minors);
}

/**
 * SQL for an `insert` that makes the reminders of a join due, as a CTE of the statement that saves its details, which must have a CTE
 * `saved`. Each kind of reminder is inserted only once, however often details are saved.
 */
export function insertReminders(
  deps: Pick<Deps, 'config' | 'society'>,
  { uuid, programme }: { uuid: string; programme: string },
): RawBuilder<unknown> {
  if (!reminds(deps.society, programme)) return sql`select`;
  return insertLetters(
    deps,
    reminderKinds.map((kind) => ({
      kind,
      sessionUuid: uuid,
      occasion: 'left',
      afterHours: reminderHours[kind].from,
    })),
    sql`exists (select from saved)`,
  );
}

/**
 * SQL for a statement, or a CTE, that stops reminders to an email or, with `areStopped` false, allows them again. `hash` is the
 * email's keyed hash.
 */
export function stopReminders(
  hash: Buffer,
  areStopped: boolean,
  onlyIf: RawBuilder<boolean> = sql<boolean>`true`,
): RawBuilder<unknown> {
  return areStopped
    ? sql`insert into reminder_stop (email_hash) select ${hash}::bytea where ${onlyIf} on conflict do nothing`
    : sql`delete from reminder_stop where email_hash = ${hash} and ${onlyIf}`;
}

/** Stops reminders to an email, or allows them again. */
export async function setReminders(deps: Deps, email: string, areStopped: boolean): Promise<void> {
  await stopReminders(deps.stopLinks.hash(email), areStopped).execute(deps.database);
}

/**
 * Returns the addresses (in lower case) to which reminders about a person's joins could go, and whether reminders to them are
 * stopped.
 */
export async function remindersOf(
  { database, stopLinks }: Pick<Deps, 'database' | 'stopLinks'>,
  persons: readonly number[],
): Promise<{ email: string; isStopped: boolean }[]> {
  const { rows } = await sql<{ email: string }>`
    select distinct lower(email) as email from (
      select details ->> 'personalEmail' as email from join_session where person_id = any(${persons}::bigint[])
      union all select details ->> 'personalEmail' from person where id = any(${persons}::bigint[])) as known
    where email <> '' order by 1`.execute(database);
  const hashes = rows.map(({ email }) => stopLinks.hash(email));
  const { rows: stopped } = await sql<{ hash: Buffer }>`
    select email_hash as hash from reminder_stop where email_hash = any(${hashes}::bytea[])`.execute(
    database,
  );
  return rows.map(({ email }, index) => ({
    email,
    isStopped: stopped.some(({ hash }) => hash.equals(hashes[index]!)),
  }));
}
