import { type Kysely, sql } from 'kysely';
import { type FoundJoin, joinsToLink } from '#core/pass.ts';
import { INVALID_EMAIL, isEmail } from '#core/studentDetails.ts';
import { dueLetters } from '../../letters/dueLetters.ts';
import { repeat } from '../../platform/background.ts';
import type { Tables } from '../../platform/database/types.ts';
import { countWithin, TOO_MANY } from '../../platform/http/limits.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { isProven } from '../../session/alike.ts';
import { mailboxKey } from '../../session/mailboxKey.ts';
import { hasNotEnded } from '../../session/members.ts';
import { firstName, lastName } from '../../session/person.ts';
import { hasEmail, hasPart } from '../../session/words.ts';
import type { Deps } from '../deps.ts';

const INTERVAL_MS = 2_000;
const BATCH = 20;
/**
 * A request older than this many minutes is deleted and gets no letter. By then the person has asked once more, or the request
 * was restored from a backup.
 */
const LASTS_MINUTES = 60;

/**
 * Records a request for the links of an email's joins. The joins are looked up later, in the background, so that the answer and
 * its timing do not reveal whether the email has joins. A request above the email's limit gets the same answer but is not
 * recorded.
 */
export async function requestLinks(
  deps: Deps,
  { email: typed, address }: { email: string; address: string },
): Promise<void> {
  const email = typed.toLowerCase();
  if (!isEmail(email)) throw new Refusal(400, INVALID_EMAIL, { errors: { email: INVALID_EMAIL } });
  const { database, config, passes } = deps;
  if (config.limits) {
    const { passLinksPerAddress, passLinksPerEmail } = config.limits;
    if (!(await countWithin(database, 'pass links', deps.hashAddress(address), passLinksPerAddress)))
      throw new Refusal(429, TOO_MANY, { retryAfter: passLinksPerAddress.minutes * 60 });
    const key = mailboxKey(passes, email);
    if (!(await countWithin(database, 'pass links by email', key, passLinksPerEmail))) return;
  }
  await database.insertInto('pass_request').values({ email }).execute();
}

export function startSendingLinks(deps: Deps): () => Promise<void> {
  return repeat('send links', INTERVAL_MS, deps.log, async () => (await sendDueLinks(deps)) === BATCH);
}

/**
 * Takes and deletes a batch of recorded requests. For those that are not older than {@link LASTS_MINUTES}, makes a letter due for
 * each join that {@link joinsToLink} returns. Returns the number of requests.
 */
export function sendDueLinks(deps: Deps): Promise<number> {
  return deps.database.transaction().execute(async (trx) => {
    const { rows: requests } = await sql<{ id: string; email: string; isRecent: boolean }>`
      delete from pass_request where id in (
        select id from pass_request order by created_at limit ${BATCH} for update skip locked)
      returning id, email, created_at > now() - make_interval(mins => ${LASTS_MINUTES}) as "isRecent"`.execute(
      trx,
    );
    for (const { id, email, isRecent } of requests) {
      if (!isRecent) continue;
      const joins = joinsToLink(await joinsOf(trx, email));
      await dueLetters(
        trx,
        deps,
        joins.map(({ sessionUuid, email }) => ({ kind: 'link', occasion: id, sessionUuid, email })),
      );
    }
    return requests.length;
  });
}

/**
 * Returns the joins of an email that a link can open. A join's email is that of its details (once it is paid, of its person's
 * details) or, without details, that of its receipt. A contact's email counts only for a join by a checkout link that is paid,
 * since anybody can begin a join of a contact.
 */
async function joinsOf(
  trx: Kysely<Tables>,
  email: string,
): Promise<(FoundJoin & { sessionUuid: string; email: string })[]> {
  const { rows } = await sql<FoundJoin & { sessionUuid: string; email: string }>`
    select session.uuid as "sessionUuid", found.email, ${firstName} as "firstName", ${lastName} as "lastName",
      ${isProven('session')} as "isProven", session.state = 'paid' as "isPaid", extract(epoch from session.created_at)::float as "createdAt"
    from (
      select uuid, details ->> 'personalEmail' as email from join_session
      where details is not null and lower(details ->> 'personalEmail') = ${email} and state <> 'paid'
      union
      select uuid, person.details ->> 'personalEmail' from person join join_session on person_id = person.id
      where ${hasPart(email)} and lower(person.details ->> 'personalEmail') = ${email} and state = 'paid'
      union
      select session_uuid, receipt_email from payment
      where lower(receipt_email) = ${email} and status = 'succeeded' and not by_pay_link
        and exists (select from join_session join person on person.id = person_id
          where uuid = session_uuid and join_session.details is null and person.details is null)
      union
      select own.uuid, known.email
      from person join join_session own on own.person_id = person.id
        cross join lateral (values (person.profile ->> 'personalEmail'), (person.email)) as known (email)
      where ${hasEmail(email)} and lower(known.email) = ${email}
        and own.origin = 'checkout' and own.state = 'paid' and own.details is null and person.details is null
    ) as found
    join join_session session using (uuid) left join person on person.id = session.person_id
    where ${hasNotEnded}`.execute(trx);
  return rows;
}
