import { type Kysely, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import type { Database } from '../platform/database/client.ts';
import type { Tables } from '../platform/database/types.ts';
import { followMoved } from '../session/followMoved.ts';
import { personOf } from '../session/members.ts';
import { wordsWith } from '../session/words.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import { isOfContact } from './crmId.ts';
import { type HeldTwice, tellOfHeldTwice } from './heldTwice.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { MERGED_IDS, readProperties } from './hubspot/properties.ts';
import { hubspotIsToHear } from './hubspotIsToHear.ts';

/** HubSpot's largest batch. */
const BATCH = 100;

/** Our mirror of HubSpot's contacts, and HubSpot. */
export type Mirror = Pick<Deps, 'database' | 'hubspot' | 'society'>;

/**
 * Reads contacts from HubSpot into the mirror: stores the contacts that exist, follows merged contacts ({@link followMerges}),
 * and removes the data of deleted contacts.
 */
export async function lookAtContacts(mirror: Mirror, ids: readonly string[]): Promise<void> {
  const properties = readProperties(mirror.society.crm.fields);
  for (let from = 0; from < ids.length; from += BATCH) {
    const asked = ids.slice(from, from + BATCH);
    await takeIn(mirror, asked, await mirror.hubspot.readContacts(asked, properties));
  }
}

/** Writes into the mirror what HubSpot answered (`found`) for the ids `asked`. See {@link lookAtContacts}. */
export async function takeIn(
  mirror: Mirror,
  asked: readonly string[],
  found: ReadonlyMap<string, CrmContact>,
): Promise<void> {
  const { database, society } = mirror;
  await keepContacts(database, society.crm.fields, [...new Set(found.values())]);
  const moved = asked.flatMap((id) => {
    const present = found.get(id)?.id ?? id;
    return present === id ? [] : [{ id, present }];
  });
  // Records in the mirror that these contacts were merged. The mirror may lack a row for a merged contact: a link may have the id
  // of a contact that was merged before the mirror has ever read it.
  if (moved.length > 0)
    await sql`
      insert into person (contact_id, merged_into)
      select moved.id, ${personOf('present')} from json_to_recordset(${JSON.stringify(moved)}::json) as moved (id text, present text)
      on conflict (contact_id) do update set merged_into = excluded.merged_into`.execute(database);
  // Nobody is merged into a row that is merged itself.
  if (moved.length > 0)
    await sql`
      update person set merged_into = former.merged_into from person former
      where former.contact_id = any(${moved.map(({ id }) => id)}::text[]) and person.merged_into = former.id
        and former.merged_into is not null`.execute(database);
  await forgetContacts(
    mirror,
    asked.filter((id) => !found.has(id)),
  );
}

/** SQL: whether a query's `person` has a contact that is known neither as deleted nor as merged. */
export const isThere = sql<boolean>`contact_id is not null and deleted_at is null and merged_into is null`;

/**
 * SQL: whether HubSpot once had the contact of a query's `person`: the mirror has read the contact, or a join created it. A missing
 * contact that HubSpot never had (only an import or a link brought its id) does not count as deleted.
 */
export const wasAtHubspot = sql<boolean>`(fetched_at is not null or made_contact)`;

/**
 * Removes the personal data of contacts that HubSpot has deleted. Joins that were written into such a contact and hold a membership
 * or upgrade become due to be sent, so that each member gets a new contact, with the member's documents.
 */
async function forgetContacts(mirror: Mirror, ids: readonly string[]): Promise<void> {
  const { database } = mirror;
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person where contact_id = any(${ids}) and deleted_at is null and ${wasAtHubspot}`.execute(
    database,
  );
  if (rows.length === 0) return;
  await requireSameAccount(mirror);
  const gone = sql`any(${rows.map(({ id }) => id)}::text[])`;
  const isTheirs = isOfContact(gone);
  await database.transaction().execute(async (trx) => {
    // Locks the joins before the persons, and in the order of their uuids. Payments lock in the same order, so deadlocks cannot
    // occur.
    await sql`select from join_session where ${isTheirs} order by uuid for no key update`.execute(trx);
    const { rows: holders } = await sql<{ id: number }>`
      select id from person where (contact_id = ${gone} or found_contact_id = ${gone})
        and exists (select from membership where membership.person_id = person.id and is_held) order by id`.execute(
      trx,
    );
    await sql`
      update document set crm_note_id = null, crm_next_try_at = now(), crm_attempts = 0 from join_session
      where session_uuid = uuid and crm_note_id is not null and ${isTheirs}
        and exists (select from membership where membership.session_uuid = uuid and is_held)`.execute(trx);
    await sql`update crm_delivery set sent = '{}' from person where person.id = person_id and contact_id = ${gone}`.execute(
      trx,
    );
    await sql`update person set found_contact_id = null where found_contact_id = ${gone}`.execute(trx);
    await sql`
      update person set deleted_at = now(), profile = '{}', email = null, is_member = false, fill_at = null,
        words = case when details is null then '' else words end, likeness = case when details is null then null else likeness end
      where contact_id = ${gone} and ${isThere}`.execute(trx);
    await hubspotIsToHear(trx, sql`(select unnest(${holders.map(({ id }) => id)}::bigint[]))`);
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
 * Joins the persons of merged contacts (`old`) with the persons of the contacts that remain (`present`), so that one person does
 * not buy twice: moves their invitations, joins, memberships and documents. If both hold a membership of the same type, staff get a
 * notice to refund one of the two. A join that is being paid is not moved; a later call moves it.
 */
export async function moveContacts(
  trx: Kysely<Tables>,
  merges: readonly { old: string; present: string }[],
): Promise<void> {
  if (merges.length === 0) return;
  const given = sql`json_to_recordset(${JSON.stringify(merges)}::json) as given (old text, present text)`;
  // Adds the remaining contacts to the mirror if it lacks them: a join may have created such a contact just now.
  await sql`
    insert into person (contact_id) select distinct present from ${given} order by present on conflict do nothing`.execute(
    trx,
  );
  const { rows } = await sql<{
    old: number;
    present: number;
    oldContact: string;
    presentContact: string;
    isNew: boolean;
  }>`
    select old.id as old, present.id as present, given.old as "oldContact", given.present as "presentContact",
      old.merged_into is null or exists (select from join_session where person_id = old.id and paying_since is null)
        or exists (select from crm_delivery where person_id = old.id)
        or exists (select from person attached where attached.found_contact_id = given.old) as "isNew"
    from ${given} join person old on old.contact_id = given.old join person present on present.contact_id = given.present`.execute(
    trx,
  );
  // Staff had joined the person that remains in HubSpot with the one that is merged there: now it is the other way round.
  await sql`
    update person set merged_into = null from json_to_recordset(${JSON.stringify(rows)}::json) as merged (old bigint, present bigint)
    where person.id = present and merged_into = old`.execute(trx);
  const merged = sql`json_to_recordset(${JSON.stringify(rows)}::json) as merged (old bigint, present bigint, "oldContact" text, "presentContact" text)`;
  // Locks the join sessions before their persons, by uuid. All transactions lock in this order, to avoid deadlocks.
  await sql`
    select from join_session
    where person_id in (select old from ${merged})
      or person_id in (select id from person where found_contact_id in (select old from ${given}))
    order by uuid for no key update`.execute(trx);
  // Of whom nothing was paid takes over the details of a person who has paid; of whom nothing is known those of anybody.
  const hasPaid = (person: string) =>
    sql`exists (select from join_session where person_id = ${sql.ref(`${person}.id`)} and state = 'paid')`;
  await sql`
    update person set details = known.details, likeness = known.likeness
    from (
      select distinct on (present) present, former.details, former.likeness, ${hasPaid('former')} as has_paid
      from ${merged} join person former on former.id = old where former.details is not null
      order by present, has_paid desc, old
    ) as known
    where person.id = present and (person.details is null or has_paid and not ${hasPaid('person')})`.execute(
    trx,
  );
  await sql`
    update person set words = ${wordsWith(sql`known.words`)}
    from (
      select present, string_agg(former.words, ' ') as words from ${merged} join person former on former.id = old group by present
    ) as known where person.id = present`.execute(trx);
  await sql`
    update join_session set person_id = merged.present from ${merged}
    where person_id = merged.old and paying_since is null`.execute(trx);
  const { rows: moved } = await sql<{ uuid: string; from: string }>`
    select distinct session_uuid as uuid, "oldContact" as from from membership join ${merged} on person_id = old`.execute(
    trx,
  );
  await sql`update person set found_contact_id = given.present from ${given} where found_contact_id = given.old`.execute(
    trx,
  );
  await followMoved(trx, sql`(select old from ${merged})`);
  await tellOfTwice(trx, new Map(moved.map(({ uuid, from }) => [uuid, from])));
  await sql`update invitation set person_id = merged.present from ${merged} where person_id = merged.old`.execute(
    trx,
  );
  await sql`update document set person_id = merged.present from ${merged} where person_id = merged.old`.execute(
    trx,
  );
  await sql`
    update person set merged_into = merged.present, profile = '{}', email = null, is_member = false, fill_at = null, deleted_at = null,
      likeness = null, words = ''
    from ${merged} where (person.id = merged.old or merged_into = merged.old) and merged_into is distinct from merged.present`.execute(
    trx,
  );
  const isNew = rows.filter((row) => row.isNew);
  if (isNew.length > 0) await tellOfMerged(trx, isNew);
}

/**
 * Makes the contacts that remain due to be told to HubSpot. What was sent to the merged contacts counts as sent to these. Of a member
 * all that was bought is compared with what HubSpot has kept of the two, as after a payment of which it was not told.
 */
async function tellOfMerged(
  trx: Kysely<Tables>,
  merges: readonly { old: number; present: number }[],
): Promise<void> {
  for (const { old, present } of merges)
    await sql`
      with former as (delete from crm_delivery where person_id = ${old} returning sent)
      insert into crm_delivery (person_id, sent) select ${present}, sent from former
      on conflict (person_id) do update set sent = excluded.sent || crm_delivery.sent`.execute(trx);
  const remaining = sql`(select unnest(${merges.map(({ present }) => present)}::bigint[]))`;
  await sql`
    update crm_delivery set sent = sent - 'paidAt' from person own
    where own.id = crm_delivery.person_id and own.id in ${remaining} and exists (
      select from membership held join person payer on payer.id = held.person_id
      where held.type = 'membership' and is_held and (payer.id = own.id or payer.found_contact_id = own.contact_id))`.execute(
    trx,
  );
  await hubspotIsToHear(trx, remaining, { isAnew: true });
}

/**
 * Tells staff of joins whose membership or upgrade was moved to a person who holds the same by another join. `moved` has the contact
 * from which each join was moved.
 */
async function tellOfTwice(trx: Kysely<Tables>, moved: ReadonlyMap<string, string>): Promise<void> {
  const isMoved = sql`session_uuid = any(${[...moved.keys()]}::uuid[])`;
  const { rows } = await sql<HeldTwice & { contactId: string }>`
    with held as (
      select session_uuid, type, person_id, ${isMoved} as is_moved,
        row_number() over (partition by person_id, type order by ${isMoved}, created_at, id) as turn
      from membership where is_held and person_id in (select person_id from membership where ${isMoved})
    )
    select second.session_uuid as uuid, contact_id as "contactId", array_agg(distinct second.type::text) as types,
      array_agg(distinct first.session_uuid::text) as others
    from held second join held first using (person_id, type) join person on person.id = person_id
    where second.is_moved and second.turn > 1 and first.turn = 1
    group by second.session_uuid, contact_id`.execute(trx);
  for (const { contactId, ...join } of rows)
    await tellOfHeldTwice(trx, join, { merged: moved.get(join.uuid)!, into: contactId });
}
