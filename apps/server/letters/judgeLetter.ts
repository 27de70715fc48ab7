import { sql } from 'kysely';
import { providerEmail } from '#core/providerEmail.ts';
import {
  isReminder,
  judgeReminder,
  type LeftJoin,
  MOST_REMINDERS_DAYS,
  reminderKinds,
} from '#core/reminders.ts';
import type { Limit } from '../platform/config/limits.ts';
import { limitedCount } from '../platform/http/limits.ts';
import { isProven } from '../session/alike.ts';
import { mailboxKey } from '../session/mailboxKey.ts';
import { joinerHoldings } from '../session/members.ts';
import { hasPart } from '../session/words.ts';
import type { Deps } from './deps.ts';
import { reminds } from './remind.ts';
import { holds, type Letter } from './takeLetter.ts';

/**
 * Decides whether a letter is sent now or withdrawn. A date is returned only for a reminder, which must be judged again at that
 * time.
 */
export async function judgeLetter(
  deps: Pick<Deps, 'config' | 'database' | 'passes' | 'society' | 'stopLinks'>,
  letter: Letter,
  now: Date,
): Promise<'send' | 'withdraw' | Date> {
  const verdict = await judgeByKind(deps, letter, now);
  const counted = countedFor(deps, letter);
  if (verdict !== 'send' || !counted) return verdict;
  const { rows } = await sql<{ count: number }>`select ${limitedCount(...counted)} as count`.execute(
    deps.database,
  );
  return rows[0]!.count < counted[2].count ? 'send' : 'withdraw';
}

/**
 * Returns the name, key and limit with which a letter is counted when it has been sent; null if it is not counted. Anybody can
 * begin a join with any email, so letters about joins that are neither paid nor proven are counted by mailbox. A letter with a
 * code is not counted here, but when the code is requested (`sendCode` in pass).
 */
export function countedFor(
  { config, passes }: Pick<Deps, 'config' | 'passes'>,
  { kind, emails, state, isProven }: Letter,
): [name: string, key: string, limit: Limit] | null {
  const limit = config.limits?.lettersPerMailbox;
  const email = providerEmail(emails);
  if (!limit || email === null || state === null || state === 'paid' || isProven || kind === 'code')
    return null;
  return ['letters', mailboxKey(passes, email), limit];
}

async function judgeByKind(
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
  const { rows } = await sql<Omit<LeftJoin, 'isReminded'>>`
    select state, updated_at as "lastActivityAt", has_agreed_to_policies as "hasAgreedToPolicies",
      ${isProven('session')} as "isProven", ${joinerHoldings('session')} as joiner,
      exists (select from person where is_member and ${hasPart(email)}
        and ${email} in (lower(profile ->> 'personalEmail'), lower(profile ->> 'email'), lower(person.email))) as "isEmailOfMember",
      (select coalesce(json_agg(other), '[]') from (
        select ${isProven('other')} as "isProven", state = 'paid' as "isPaid", other.created_at > session.created_at as "isNewer"
        from join_session other where other.uuid <> session.uuid and other.details is not null
          and lower(other.details ->> 'personalEmail') = ${email}
        union select ${isProven('payer')}, true, false from payment join join_session payer on payer.uuid = session_uuid
        where lower(receipt_email) = ${email} and succeeded_at is not null and not by_pay_link) as other) as others,
      exists (select from reminder_stop where email_hash = ${stopLinks.hash(email)}) as "isStopped",
      (select count(*)::int from letter where kind in (${sql.join(reminderKinds.map((kind) => sql.lit(kind)))})
        and lower(email) = ${email} and sent_at > now() - make_interval(days => ${MOST_REMINDERS_DAYS})) as "sentLately"
    from join_session session where uuid = ${uuid}`.execute(database);
  return rows[0]!;
}
