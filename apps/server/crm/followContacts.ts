import { sql } from 'kysely';
import { type FieldRules, MEMBER } from '#core/crmFields.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { Database } from '../platform/database/client.ts';
import { wordsWith } from '../session/words.ts';
import { requireSameAccount } from './account.ts';
import type { Deps } from './deps.ts';
import { moveContacts } from './followMerges.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { LARGEST_PAGE } from './hubspot/client.ts';
import { crmValue, isMember, mergedIds, readProperties, toProfile } from './hubspot/properties.ts';
import { lockPersons } from './joinPersons.ts';
import { queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

/** What is needed to read HubSpot's contacts into our mirror of them. */
export type Mirror = Pick<Deps, 'database' | 'hubspot' | 'society'>;

/**
 * Reads contacts from HubSpot into the mirror: stores those that exist, follows merges ({@link moveContacts}), and removes the
 * data of those that were deleted. Returns the existing contacts by the requested ids, with the additional properties `more`.
 */
export async function lookAtContacts(
  mirror: Mirror,
  ids: readonly string[],
  { more = [], timeoutMs }: { more?: readonly string[]; timeoutMs?: number } = {},
): Promise<Map<string, CrmContact>> {
  const { database, hubspot, society } = mirror;
  const { fields } = society.crm;
  const all = new Map<string, CrmContact>();
  for (let from = 0; from < ids.length; from += LARGEST_PAGE) {
    const asked = ids.slice(from, from + LARGEST_PAGE);
    const found = await hubspot.readContacts(asked, [...readProperties(fields), ...more], timeoutMs);
    await keepContacts(database, fields, found);
    await forgetContacts(
      mirror,
      asked.filter((id) => !found.has(id)),
    );
    for (const [id, contact] of found) all.set(id, contact);
  }
  return all;
}

/**
 * Writes contacts from HubSpot, by the requested ids, into the mirror, with their invite codes, and follows merges. HubSpot's
 * status `member` does not count if we sent it, or if we have not sent yet that the membership bought here has ended.
 */
export async function keepContacts(
  database: Database,
  rules: FieldRules,
  found: ReadonlyMap<string, CrmContact>,
): Promise<void> {
  if (found.size === 0) return;
  const contacts = [...new Set(found.values())];
  const rows = contacts.map(({ id, properties }) => {
    const code = crmValue(rules, properties, 'invitationCode') ?? '';
    const profile = toProfile(rules, properties);
    const email = crmValue(rules, properties, 'email');
    return {
      id,
      profile,
      email,
      likeness: likenessOf({ ...profile, personalEmail: profile.personalEmail || email }),
      words: searchWords({ ...profile, email: email ?? profile.email }),
      is_member: isMember(rules, properties),
      code: code !== '' && inviteCodeError(code) === null ? normaliseInviteCode(code) : null,
    };
  });
  await sql`
    with found as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as found (id text, profile jsonb, email text, likeness text, words text, is_member boolean, code text)
    ), kept as (
      insert into person (contact_id, profile, email, likeness, words, is_member, fetched_at)
      select found.id, found.profile, found.email, found.likeness, found.words, found.is_member and not exists (
        select from person own join crm_delivery on person_id = own.id
        where own.contact_id = found.id and (sent ->> 'membershipStatus' = ${MEMBER} or due_at is not null and exists (
          select from membership where membership.person_id = own.id and type = 'membership' and not is_held))
      ), now() from found left join person known on known.contact_id = found.id order by known.id
      on conflict (contact_id) do update set profile = excluded.profile, email = excluded.email, is_member = excluded.is_member,
        likeness = case when person.details is null then excluded.likeness else person.likeness end,
        words = case when not person.made_contact then ${wordsWith(sql`excluded.words`)}
          when strpos(person.words, excluded.words) > 0 then person.words else person.words || ' ' || excluded.words end,
        fetched_at = now(), deleted_at = null,
        merged_into = case when person.deleted_at is null then person.merged_into end
      returning coalesce(merged_into, id) as id, contact_id
    )
    insert into invitation (code, person_id)
    select distinct on (code) code, kept.id from kept join found on found.id = kept.contact_id where code is not null
    on conflict (code) do nothing`.execute(database);
  const asked = [...found.keys()].filter((id) => found.get(id)!.id !== id);
  const merges = [
    ...asked.map((old) => ({ old, present: found.get(old)!.id })),
    ...contacts.flatMap((contact) => mergedIds(contact).map((old) => ({ old, present: contact.id }))),
  ];
  if (merges.length === 0) return;
  // A link may name a contact that was merged before the mirror has ever read it.
  await sql`insert into person (contact_id) select unnest(${asked}::text[]) on conflict do nothing`.execute(
    database,
  );
  await database.transaction().execute((trx) => moveContacts(trx, merges));
}

/** SQL: whether a query's `person` has a contact that is known neither as deleted nor as merged. */
export const isThere = sql<boolean>`contact_id is not null and deleted_at is null and merged_into is null`;

/**
 * SQL: whether HubSpot once had the contact of a query's `person`. If not, only an import or a link has named the contact, so it
 * cannot have been deleted.
 */
export const wasAtHubspot = sql<boolean>`(fetched_at is not null or made_contact)`;

/**
 * Removes the personal data of contacts that HubSpot has deleted. Persons who hold a membership or upgrade get a new contact,
 * with their documents.
 */
async function forgetContacts(mirror: Mirror, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person where contact_id = any(${ids}) and deleted_at is null and ${wasAtHubspot}`.execute(
    mirror.database,
  );
  if (rows.length === 0) return;
  await requireSameAccount(mirror);
  const gone = sql`any(${rows.map(({ id }) => id)}::text[])`;
  const isSentThere = sql`(contact_id = ${gone} or found_contact_id = ${gone})`;
  await mirror.database.transaction().execute(async (trx) => {
    await lockPersons(trx, isSentThere);
    const { rows: holders } = await sql<{ id: number }>`
      select id from person where ${isSentThere}
        and exists (select from membership where membership.person_id = person.id and is_held) order by id`.execute(
      trx,
    );
    const holderIds = holders.map(({ id }) => id);
    await sql`
      update document set crm_note_id = null, crm_next_try_at = now(), crm_attempts = 0 from join_session
      where session_uuid = uuid and crm_note_id is not null and join_session.person_id = any(${holderIds}::bigint[])
        and exists (select from membership where membership.session_uuid = uuid and is_held)`.execute(trx);
    await sql`update crm_delivery set sent = '{}' from person where person.id = person_id and contact_id = ${gone}`.execute(
      trx,
    );
    await sql`update person set found_contact_id = null where found_contact_id = ${gone}`.execute(trx);
    await sql`
      update person set deleted_at = now(), profile = '{}', email = null, is_member = false,
        words = case when details is null then '' else words end, likeness = case when details is null then null else likeness end
      where contact_id = ${gone} and ${isThere}`.execute(trx);
    await sql`
      delete from person_note using person
      where person.id = person_id and contact_id = ${gone} and deleted_at is not null and details is null`.execute(
      trx,
    );
    await queuePersonsForHubspot(trx, sql`(select unnest(${holderIds}::bigint[]))`);
  });
}
