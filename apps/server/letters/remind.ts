import { type RawBuilder, sql } from 'kysely';
import { providerEmail } from '#core/providerEmail.ts';
import {
  isReminder,
  judgeReminder,
  type LeftJoin,
  MOST_REMINDERS_DAYS,
  reminderHours,
  reminderKinds,
} from '#core/reminders.ts';
import type { Deps } from '../deps.ts';
import { isJoinerMember } from '../session/members.ts';
import type { Society } from '../society/society.ts';
import { insertLetters } from './dueLetters.ts';
import { holds, type Letter } from './takeLetter.ts';

/**
 * Whether joiners of a programme get reminders. They get none if the society sends no reminders, or if the programme is for minors
 * and the society does not remind minors.
 */
function reminds({ letters, programmes }: Society, programme: string): boolean {
  const known = programmes[programme];
  return letters.reminders && known !== undefined && (letters.remindMinors || !known.minors);
}

/**
 * SQL for an `insert` that makes the reminders of a join due, as a CTE of the statement that saves its details. That statement
 * must have a CTE `saved` with the join's programme. Each kind of reminder is inserted only once, however often details are saved.
 */
export function insertReminders(
  deps: Pick<Deps, 'config' | 'society'>,
  sessionUuid: string,
): RawBuilder<unknown> {
  const programmes = Object.keys(deps.society.programmes).filter((key) => reminds(deps.society, key));
  return insertLetters(
    deps,
    reminderKinds.map((kind) => ({
      kind,
      sessionUuid,
      occasion: 'left',
      afterHours: reminderHours[kind].from,
    })),
    sql`exists (select from saved where programme = any(${programmes}::text[]))`,
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

/** Decides whether a letter is sent now or withdrawn. A returned date means that a reminder must be judged again at that time. */
export async function judgeLetter(
  deps: Pick<Deps, 'database' | 'society' | 'stopLinks'>,
  letter: Letter,
  now: Date,
): Promise<'send' | 'withdraw' | Date> {
  const { kind, emails, sessionUuid, programme } = letter;
  if (!holds(letter, now)) return 'withdraw';
  if (!isReminder(kind)) return 'send';
  const email = providerEmail(emails);
  if (email === null || programme === null) return 'withdraw';
  const join = await readLeftJoin(deps, sessionUuid!, email);
  return judgeReminder(kind, { ...join, isReminded: reminds(deps.society, programme) }, now);
}

async function readLeftJoin(
  { database, stopLinks }: Pick<Deps, 'database' | 'stopLinks'>,
  uuid: string,
  address: string,
): Promise<Omit<LeftJoin, 'isReminded'>> {
  const email = address.toLowerCase();
  const named = sql`plainto_tsquery('simple', ${email})`;
  const others = sql`
    select from join_session other where other.uuid <> session.uuid and other.details is not null
      and person_words(other.details) @@ ${named} and lower(other.details ->> 'personalEmail') = ${email}`;
  const { rows } = await sql<Omit<LeftJoin, 'isReminded'>>`
    select state, updated_at as "lastActivityAt", has_agreed_to_policies as "hasAgreedToPolicies",
      ${isJoinerMember('session')} or exists (${others} and other.state = 'paid')
        or exists (select from payment where lower(receipt_email) = ${email} and succeeded_at is not null)
        or exists (select from contact where is_member and person_words(profile) @@ ${named}
          and ${email} in (lower(profile ->> 'personalEmail'), lower(profile ->> 'email'), lower(contact.email))) as "isMember",
      exists (${others} and other.created_at > session.created_at) as "hasNewerJoin",
      exists (select from reminder_stop where email_hash = ${stopLinks.hash(email)}) as "isStopped",
      (select count(*)::int from letter where kind in (${sql.join(reminderKinds.map((kind) => sql.lit(kind)))})
        and lower(email) = ${email} and sent_at > now() - make_interval(days => ${MOST_REMINDERS_DAYS})) as "sentLately"
    from join_session session where uuid = ${uuid}`.execute(database);
  return rows[0]!;
}
