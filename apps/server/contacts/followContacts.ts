import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FieldRules, joinFields } from '#core/crmFields.ts';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { MERGED_IDS, readProperties } from '../providers/hubspot/properties.ts';
import { joinHolds } from '../session/members.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import { type HeldTwice, tellOfHeldTwice } from './heldTwice.ts';
import { dueFromNow, hubspotIsToHear } from './tellHubspot.ts';

/** The kind of the notice about two contacts that were merged while both held a membership of the same type. */
const MERGED_TWICE = 'merged_contacts';
/** HubSpot's largest batch. */
const BATCH = 100;

/**
 * Reads contacts from HubSpot into the mirror: stores the contacts that exist, follows merged contacts ({@link followMerges}),
 * and removes the data of deleted contacts.
 */
export async function lookAtContacts(
  database: Database,
  hubspot: HubspotClient,
  rules: FieldRules,
  ids: readonly string[],
): Promise<void> {
  for (let from = 0; from < ids.length; from += BATCH) {
    const asked = ids.slice(from, from + BATCH);
    await takeIn(database, hubspot, rules, asked, await hubspot.readContacts(asked, readProperties(rules)));
  }
}

/** Writes into the mirror what HubSpot answered (`found`) for the ids `asked`. See {@link lookAtContacts}. */
export async function takeIn(
  database: Database,
  hubspot: HubspotClient,
  rules: FieldRules,
  asked: readonly string[],
  found: ReadonlyMap<string, CrmContact>,
): Promise<void> {
  await keepContacts(database, rules, [...new Set(found.values())]);
  const moved = asked.flatMap((id) => {
    const present = found.get(id)?.id ?? id;
    return present === id ? [] : [{ id, present }];
  });
  // Records in the mirror that these contacts were merged. The mirror may lack a row for a merged contact: a link may have the id
  // of a contact that was merged before the mirror has ever read it.
  if (moved.length > 0)
    await sql`
      insert into contact (id, merged_into)
      select id, present from json_to_recordset(${JSON.stringify(moved)}::json) as moved (id text, present text)
      on conflict (id) do update set merged_into = excluded.merged_into`.execute(database);
  await forgetContacts(
    database,
    hubspot,
    asked.filter((id) => !found.has(id)),
  );
}

/** SQL: whether a query's `contact` is known neither as deleted nor as merged. */
export const isThere = sql<boolean>`deleted_at is null and merged_into is null`;

/**
 * SQL: whether HubSpot once had a query's `contact`: the mirror has read the contact, or a join created it. A missing contact
 * that HubSpot never had (only an import or a link brought its id) does not count as deleted.
 */
export const wasAtHubspot = sql<boolean>`(fetched_at is not null
  or exists (select from join_session where hubspot_contact_id = contact.id and owns_hubspot_contact))`;

/**
 * Removes the personal data of contacts that HubSpot has deleted. Joins that were written into such a contact and hold a membership
 * or upgrade become due to be sent, so that each member gets a new contact, with the member's documents.
 */
async function forgetContacts(
  database: Database,
  hubspot: HubspotClient,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from contact where id = any(${ids}) and ${isThere} and ${wasAtHubspot}`.execute(database);
  if (rows.length === 0) return;
  await requireSameAccount(database, hubspot);
  const gone = sql`any(${rows.map(({ id }) => id)}::text[])`;
  const isTheirs = sql<boolean>`(contact_id = ${gone} or hubspot_contact_id = ${gone})`;
  await database.transaction().execute(async (trx) => {
    // Locks the joins before the contacts, and in the order of their uuids. Payments lock in the same order, so deadlocks cannot
    // occur.
    await sql`select from join_session where ${isTheirs} order by uuid for no key update`.execute(trx);
    await sql`
      with due as (
        update join_session set ${hubspotIsToHear},
          owns_hubspot_contact = case when hubspot_contact_id = ${gone} then null else owns_hubspot_contact end,
          hubspot_contact_id = case when hubspot_contact_id = ${gone} then null else hubspot_contact_id end
        where ${isTheirs} and exists (select from membership where session_uuid = uuid and is_held)
        returning uuid
      )
      update document set crm_note_id = null, crm_next_try_at = now() from due
      where session_uuid = due.uuid and crm_note_id is not null`.execute(trx);
    await sql`
      update contact set deleted_at = now(), profile = '{}', email = null, is_member = false, fill_at = null
      where id = ${gone} and ${isThere}`.execute(trx);
  });
}

/** Moves what belongs to merged contacts to the contacts that remain: see {@link moveContacts}. */
export async function followMerges(database: Database, contacts: readonly CrmContact[]): Promise<void> {
  const merges = contacts.flatMap(({ id, properties }) =>
    (properties[MERGED_IDS] ?? '')
      .split(';')
      .filter((old) => /^\d{1,20}$/.test(old) && old !== id)
      .map((old) => ({ old, present: id })),
  );
  if (merges.length === 0) return;
  await database.transaction().execute((trx) => moveContacts(trx, merges));
}

/**
 * SQL: a part of `update join_session set …` for joins of a merged contact. `isProven` is an SQL expression for whether the
 * contact is the join's proven contact.
 * - A paid join becomes due to be sent if `isProven` is true or the join holds a membership.
 * - If `isProven` is true and the join holds a membership, {@link joinFields} are sent even if they are unchanged.
 * - If the membership has ended, an unchanged status is not sent, so the remaining contact keeps its status.
 */
function isToHear(isProven: RawBuilder<unknown>): RawBuilder<unknown> {
  const isHeld = joinHolds('join_session.uuid', 'membership');
  const isTold = sql`paid_at is not null and (${isProven} or ${isHeld})`;
  return sql`profile_revision = profile_revision + case when ${isTold} then 1 else 0 end,
    crm_next_try_at = case when ${isTold} then ${dueFromNow} else crm_next_try_at end,
    crm_known = case when paid_at is not null and ${isProven} and ${isHeld} then crm_known - ${joinFields}::text[] else crm_known end`;
}

/**
 * Moves invitations, joins, memberships and documents of merged contacts (`old`) to the contacts that remain (`present`), so that
 * one person does not buy twice. If the remaining contact already holds a membership of the same type, the merged contact's
 * membership is not moved, and staff get a notice to refund one of the two. A join that is being paid is not moved; a later call
 * moves it.
 */
export async function moveContacts(
  trx: Kysely<Tables>,
  merges: readonly { old: string; present: string }[],
): Promise<void> {
  if (merges.length === 0) return;
  const merged = sql`json_to_recordset(${JSON.stringify(merges)}::json) as merged (old text, present text)`;
  // Adds the remaining contacts to the mirror if it lacks them: a join may have created such a contact just now.
  await sql`insert into contact (id) select present from ${merged} on conflict do nothing`.execute(trx);
  // Locks the join sessions before their memberships, by uuid. All transactions lock in this order, to avoid deadlocks.
  await sql`
    select from join_session
    where contact_id in (select old from ${merged}) or hubspot_contact_id in (select old from ${merged})
    order by uuid for no key update`.execute(trx);
  await sql`
    update join_session set contact_id = merged.present, crm_refusal = null, ${isToHear(sql`true`)} from ${merged}
    where contact_id = merged.old and paying_since is null`.execute(trx);
  await sql`
    update join_session set hubspot_contact_id = merged.present, ${isToHear(sql`owns_hubspot_contact`)} from ${merged}
    where hubspot_contact_id = merged.old`.execute(trx);
  await sql`
    with moving as (
      select membership.session_uuid, membership.type, merged.present, is_held,
        row_number() over (partition by merged.present, membership.type, is_held order by membership.created_at) as turn
      from membership join ${merged} on membership.contact_id = merged.old
    )
    update membership set contact_id = moving.present from moving
    where membership.session_uuid = moving.session_uuid and membership.type = moving.type and (not moving.is_held or moving.turn = 1 and not exists (
      select from membership held where held.contact_id = moving.present and held.type = moving.type and held.is_held))`.execute(
    trx,
  );
  const { rows: left } = await sql<HeldTwice & { old: string; present: string }>`
    select left_over.session_uuid as uuid, old, present, array_agg(distinct left_over.type::text) as types,
      array_agg(distinct held.session_uuid::text) as others
    from ${merged} join membership left_over on left_over.contact_id = merged.old and left_over.is_held
      join membership held on held.contact_id = merged.present and held.is_held and held.type = left_over.type
    group by left_over.session_uuid, old, present`.execute(trx);
  for (const join of left)
    await tellOfHeldTwice(
      trx,
      MERGED_TWICE,
      join,
      `Contact ${join.old} was merged into ${join.present} in HubSpot, and both hold`,
      ' bought here,',
    );
  await sql`update invitation set contact_id = merged.present from ${merged} where contact_id = merged.old`.execute(
    trx,
  );
  await sql`update document set contact_id = merged.present from ${merged} where contact_id = merged.old`.execute(
    trx,
  );
  await sql`
    update contact set merged_into = merged.present, profile = '{}', email = null, is_member = false, fill_at = null, deleted_at = null
    from ${merged} where (contact.id = merged.old or merged_into = merged.old) and merged_into is distinct from merged.present`.execute(
    trx,
  );
}
