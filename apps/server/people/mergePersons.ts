import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type ContactField, contactFields } from '#core/contact.ts';
import { type CrmValues, isSame, MEMBER } from '#core/crmFields.ts';
import { type Holdings, isMemberByHubspotAlone } from '#core/people.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { MembershipType } from '#core/product.ts';
import { giveAllBack } from '#core/remedy.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { namesNobody } from '../crm/crmId.ts';
import { fieldsThere } from '../crm/fieldsThere.ts';
import { type HeldTwice, tellOfHeldTwice } from '../crm/heldTwice.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from '../crm/hubspot/errors.ts';
import { neededProperties } from '../crm/hubspot/properties.ts';
import { attachAnew, hubspotIsToHear, isOfJoinsOf, toldTogether } from '../crm/hubspotIsToHear.ts';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { ContactProfile, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { followMoved } from '../session/followMoved.ts';
import { holdings } from '../session/members.ts';
import { wordsWith } from '../session/words.ts';
import { writeNotes } from './writeNotes.ts';

/** Thrown if two persons cannot be joined, or not be parted again. The message is for staff. */
export class NotMergeable extends Failed {}

const CHANGED = 'One of them has changed meanwhile: look again.';

/** What a person is called, for staff. */
export interface Named {
  name: string | null;
  email: string | null;
}

/** A person as staff see them before a merge. */
export interface Seen extends Named {
  id: number;
  /** Whether the person has a contact in HubSpot that a code, a link or staff named. */
  isNamed: boolean;
  /** HubSpot's id of the contact; null if there is none, or it was deleted. */
  contactId: string | null;
  joins: string[];
  /** The joins by which the person holds something, each with its type. */
  held: { uuid: string; type: MembershipType }[];
}

/** What a merge does: all that is `from`'s becomes `into`'s. */
export interface Merge {
  from: Seen;
  into: Seen;
  /** The types of which both hold one, and `from`'s join. Both stay held until staff give one back. */
  twice: HeldTwice | null;
}

/** Returns what a merge of two persons would do. Changes nothing. Throws {@link NotMergeable}. */
export async function previewMerge(deps: Deps, one: number, other: number): Promise<Merge> {
  return transaction(deps, (trx) => mayMerge(trx, one, other));
}

/**
 * Joins two persons whom staff know to be one, as staff have seen it in `seen` ({@link previewMerge}): joins, memberships, invitations
 * and documents move to the person that remains, and what was bought is written into that person's contact in HubSpot. What was
 * written into another contact before is emptied there. For a day {@link unmergePersons} can undo it. Throws {@link NotMergeable}.
 */
export async function mergePersons(deps: Deps, seen: Merge): Promise<void> {
  await transaction(deps, async (trx) => {
    const merge = await mayMerge(trx, seen.from.id, seen.into.id);
    if (JSON.stringify(merge) !== JSON.stringify(seen)) throw new NotMergeable(CHANGED);
    const [from, into] = [merge.from.id, merge.into.id];
    const hasOwn = sql`(person.details is not null and exists (select from join_session
      where person_id = ${into} and state = 'paid' and uuid <> all(${merge.from.joins}::uuid[])))`;
    await sql`
      insert into person_merge (from_id, into_id, moved, persons)
      select ${from}, ${into}, json_build_object(
          'joins', ${merge.from.joins}::uuid[],
          'invitations', array(select code from invitation where person_id = ${from}),
          'documents', array(select id from document where person_id = ${from}),
          'merged', array(select id from person where merged_into = ${from})),
        (select json_object_agg(id, json_build_object('details', details, 'profile', profile, 'likeness', likeness, 'words', words))
          from person where id in (${from}, ${into}))`.execute(trx);
    const told = await toldTogether(trx, [from, into]);
    await move(trx, { joins: merge.from.joins, from, into });
    await attachAnew(trx, sql`person_id = ${from}`);
    for (const table of ['invitation', 'document'] as const)
      await sql`update ${sql.table(table)} set person_id = ${into} where person_id = ${from}`.execute(trx);
    await sql`
      update person set details = case when ${hasOwn} then person.details else coalesce(own.details, person.details) end,
        likeness = case when ${hasOwn} then person.likeness else coalesce(own.likeness, person.likeness) end,
        words = ${wordsWith(sql`own.words`)}
      from person own where own.id = ${from} and person.id = ${into}`.execute(trx);
    await sql`
      update person set merged_into = ${into}, found_contact_id = null, likeness = null, words = ''
      where id = ${from} or merged_into = ${from}`.execute(trx);
    await hubspotIsToHear(trx, told, { isAnew: true });
    await sql`
      insert into kept_apart (one_id, other_id)
      select least(other, ${into}::bigint), greatest(other, ${into}::bigint)
      from kept_apart, lateral (select case ${from}::bigint when one_id then other_id when other_id then one_id end as other) as pair
      where other <> ${into} on conflict do nothing`.execute(trx);
    if (merge.twice) await tellOfHeldTwice(trx, merge.twice, 'staff');
  });
}

/** What the undoing of a merge does: it parts `from`, who was joined with `into`. */
export interface Unmerge {
  /** The merge. */
  id: number;
  from: Named;
  into: Named;
}

/** Returns whom the undoing of a person's last merge parts: who was joined, and with whom. Throws {@link NotMergeable}. */
export async function previewUnmerge(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<Unmerge> {
  const { id, from, into, persons } = await lastMerge(database, personId);
  const nameOf = ({ details, profile }: Undoable['persons'][number]): Named => ({
    name:
      [details?.firstName || profile.firstName, details?.lastName || profile.lastName]
        .filter(Boolean)
        .join(' ') || null,
    email: details?.personalEmail || profile.personalEmail || profile.email || null,
  });
  return { id, from: nameOf(persons[from]!), into: nameOf(persons[into]!) };
}

/**
 * Undoes a merge of the last day; with `seen` ({@link previewUnmerge}), that one alone. What the contact that remained said of its person before is written there first. Returns a sentence
 * for staff if HubSpot does not take it, otherwise null. Throws {@link NotMergeable}.
 */
export async function unmergePersons(deps: Deps, personId: number, seen?: Unmerge): Promise<string | null> {
  const planned = await lastMerge(deps.database, personId);
  const isSeen = (id: number) => !seen || seen.id === id;
  if (!isSeen(planned.id)) throw new NotMergeable(CHANGED);
  const { own, other } = await detailsAfter(deps.database, planned);
  if (own) await writeNotes(deps, sql`uuid = any(${planned.moved.joins}::uuid[])`, own);
  if (other)
    await writeNotes(
      deps,
      sql`person_id = ${planned.into} and uuid <> all(${planned.moved.joins}::uuid[])`,
      other,
    );
  const back = await putBack(deps, planned);
  await transaction(deps, async (trx) => {
    const { id, from, into, moved, persons } = await lastMerge(trx, personId);
    if (!isSeen(id)) throw new NotMergeable(CHANGED);
    await sql`
      select from join_session where uuid = any(${moved.joins}::uuid[]) or person_id in (${from}, ${into}) order by uuid for update`.execute(
      trx,
    );
    await sql`select from person where id in (${from}, ${into}) order by id for update`.execute(trx);
    const told = await toldTogether(trx, [from, into]);
    await move(trx, { joins: moved.joins, from: into, into: from });
    await sql`update invitation set person_id = ${from} where code = any(${moved.invitations}::text[])`.execute(
      trx,
    );
    await attachAnew(trx, sql`id = any(${moved.documents}::uuid[])`);
    await sql`update document set person_id = ${from} where id = any(${moved.documents}::uuid[])`.execute(
      trx,
    );
    const parted = await detailsAfter(trx, planned);
    const [own, other] = [persons[from]!, persons[into]!];
    const isOwn = sql`id = ${from}`;
    for (const [which, before, details] of [
      [isOwn, own, parted.own],
      [sql`id = ${into}`, other, parted.other],
    ] as const) {
      const changed = isDeepStrictEqual(details, before.details) ? null : details;
      await sql`
        update person set details = ${details && JSON.stringify(details)}::jsonb, likeness = ${changed ? likenessOf(changed) : before.likeness},
          words = ${changed ? `${searchWords(changed)} ${before.words}` : before.words}
        where ${which}`.execute(trx);
    }
    await sql`update person set merged_into = null where ${isOwn}`.execute(trx);
    await sql`update person set merged_into = ${from} where id = any(${moved.merged}::bigint[])`.execute(trx);
    await sql`delete from person_merge where id = ${id}`.execute(trx);
    await sql`update crm_delivery set sent = sent || ${JSON.stringify(back.values)}::jsonb where person_id = ${into}`.execute(
      trx,
    );
    await hubspotIsToHear(trx, told, { isAnew: true });
  });
  return back.refused;
}

/**
 * Returns the details of both persons once a merge is undone. What was changed since the merge, as by a correction, is of the one
 * who had given the details: the person that remained if they have paid by a join of their own.
 */
async function detailsAfter(
  database: Kysely<Tables>,
  { from, into, moved, persons }: Undoable,
): Promise<{ own: StudentDetails | null; other: StudentDetails | null }> {
  const { rows } = await sql<{ details: StudentDetails | null; has_own: boolean }>`
    select details, exists (select from join_session
      where person_id = ${into} and state = 'paid' and uuid <> all(${moved.joins}::uuid[])) as has_own
    from person where id = ${into}`.execute(database);
  const { details, has_own } = rows[0]!;
  const [own, other] = [persons[from]!.details, persons[into]!.details];
  return has_own || own === null ? { own, other: details } : { own: details, other };
}

/** Records that staff know two persons to be two, though they are likely the same. They do not count as likely the same any more. */
export async function keepApart({ database }: Pick<Deps, 'database'>, one: number, other: number) {
  if (one === other) throw new NotMergeable('They are one person already.');
  await database.transaction().execute(async (trx) => {
    // Somebody who is attached to the other's contact gets one of their own.
    const { rows } = await sql<{ id: number }>`
      update person set found_contact_id = null from person other
      where (person.id, other.id) in ((${one}, ${other}), (${other}, ${one})) and person.found_contact_id = other.contact_id
      returning person.id`.execute(trx);
    await attachAnew(trx, isOfJoinsOf(sql`any(${rows.map(({ id }) => id)}::bigint[])`));
    await sql`
      insert into kept_apart (one_id, other_id) values (least(${one}::bigint, ${other}), greatest(${one}::bigint, ${other}))
      on conflict do nothing`.execute(trx);
    await hubspotIsToHear(trx, sql`(values (${one}::bigint), (${other}::bigint))`);
  });
}

/**
 * Locks what a merge changes. Returns what it does. The person whom a
 * code or a link names remains; if neither is named, the one with a contact, otherwise the second. Throws {@link NotMergeable}.
 */
async function mayMerge(trx: Kysely<Tables>, one: number, other: number): Promise<Merge> {
  if (one === other) throw new NotMergeable('They are one person already.');
  const ids = sql`(${one}::bigint, ${other}::bigint)`;
  // All transactions lock joins before persons, and in the order of their uuids, to avoid deadlocks.
  await sql`select from join_session where person_id in ${ids} order by uuid for update`.execute(trx);
  await sql`select from person where id in ${ids} order by id for update`.execute(trx);
  const seen = await readSeen(trx, [one, other]);
  const [first, second] = [seen.get(one), seen.get(other)];
  if (!first || !second)
    throw new NotMergeable('One of them was erased, or joined with somebody meanwhile: look again.');
  if (first.isNamed && second.isNamed)
    throw new NotMergeable(
      `Both are contacts in HubSpot, ${first.contactId} and ${second.contactId}: merge them there, and Induct follows.`,
    );
  const isKept = first.isNamed || (!second.isNamed && first.contactId !== null && second.contactId === null);
  const [from, into] = isKept ? [second, first] : [first, second];
  const paying = await sql`
    select from join_session where person_id in ${ids} and paying_since is not null`.execute(trx);
  if (paying.rows.length > 0) throw new NotMergeable('A payment is under way. Try again in a minute.');
  const paid = await sql`select from join_session where person_id = ${from.id} and state = 'paid'`.execute(
    trx,
  );
  if (paid.rows.length === 0)
    throw new NotMergeable('Nothing was paid by the joins that would be moved: there is nothing to join.');
  // If HubSpot alone says that the contact is a member, a refund of the join would end a membership that is not the join's.
  const { rows: members } = await sql<{ uuid: string; is_held: boolean; holdings: Holdings }>`
    select uuid, is_held, ${holdings(sql`${into.id}::bigint`)} as holdings
    from join_session join membership on session_uuid = uuid and type = 'membership' and standing <> 'void'
    where join_session.person_id = ${from.id}
      and not exists (select from crm_delivery where person_id = ${into.id} and sent ->> 'membershipStatus' = ${MEMBER})
    order by is_held desc`.execute(trx);
  if (members[0] && isMemberByHubspotAlone(members[0].holdings))
    throw new NotMergeable(
      `Contact ${into.contactId} is a member already, as HubSpot says.${
        members[0].is_held
          ? ''
          : ' The membership that the join bought has ended, and HubSpot would be told so.'
      }`,
      members[0].is_held ? giveAllBack(members[0].uuid) : null,
    );
  const both = from.held.filter(({ type }) => into.held.some((theirs) => theirs.type === type));
  const types = both.map(({ type }) => type);
  const others = into.held.flatMap(({ uuid, type }) => (types.includes(type) ? [uuid] : []));
  return { from, into, twice: both[0] ? { uuid: both[0].uuid, types, others } : null };
}

async function readSeen(database: Kysely<Tables>, ids: readonly number[]): Promise<Map<number, Seen>> {
  const { rows } = await sql<Seen>`
    select id, contact_id is not null and not made_contact and not (${isMissing}) as "isNamed",
      case when deleted_at is null then contact_id end as "contactId",
      nullif(concat_ws(' ', ${known('firstName')}, ${known('lastName')}), '') as name,
      coalesce(${known('personalEmail')}, email) as email,
      array(select uuid::text from join_session where person_id = person.id order by uuid) as joins,
      coalesce((select json_agg(json_build_object('uuid', session_uuid, 'type', type) order by type, id) from membership
        where person_id = person.id and is_held), '[]') as held
    from person where id = any(${ids}::bigint[]) and erased_at is null and merged_into is null`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** SQL for what is known of the query's `person` in a field; null if it is blank. */
const known = (field: 'firstName' | 'lastName' | 'personalEmail') =>
  sql`coalesce(nullif(details ->> ${sql.lit(field)}, ''), nullif(profile ->> ${sql.lit(field)}, ''))`;

/** SQL for whether the contact of the query's `person` is missing in HubSpot: deleted, or never known and refused for that. */
const isMissing = sql`deleted_at is not null or ${namesNobody}`;

/**
 * Writes into the contact of the person that remained what it said of its person before a merge, where it still says what we wrote.
 * Returns what HubSpot has of these fields then, and a sentence for staff if HubSpot does not take it.
 */
async function putBack(
  deps: Deps,
  { into, persons }: Undoable,
): Promise<{ values: CrmValues; refused: string | null }> {
  const { profile: before } = persons[into]!;
  const { rows } = await sql<{ id: string; sent: CrmValues }>`
    select contact_id as id, sent from person join crm_delivery on person_id = person.id
    where person.id = ${into} and contact_id is not null and deleted_at is null`.execute(deps.database);
  const [told] = rows;
  if (!told) return { values: {}, refused: null };
  try {
    const fields = await fieldsThere(deps);
    const present = (await deps.hubspot.readContacts([told.id], neededProperties(fields))).get(told.id);
    if (!present) return { values: {}, refused: null };
    const heldOf = (field: ContactField) => present.properties[fields[field].property ?? ''] ?? '';
    const written = contactFields.filter((field) => {
      const { property, write } = fields[field];
      return (
        property !== null && write !== 'never' && told.sent[field] && isSame(heldOf(field), told.sent[field])
      );
    });
    const values = Object.fromEntries(written.map((field) => [field, String(before[field] ?? '')]));
    const properties = Object.fromEntries(written.map((field) => [fields[field].property!, values[field]!]));
    if (written.length === 0) return { values, refused: null };
    const outcome = (
      await deps.hubspot.updateContacts([{ mark: present.id, id: present.id, properties }])
    ).get(present.id);
    if (outcome?.kind !== 'written')
      throw new CrmRefused(400, `HubSpot did not take the change of contact ${present.id}.`);
    await deps.contacts.refresh(present.id);
    return { values, refused: null };
  } catch (error) {
    if (error instanceof CrmUnavailable)
      throw new NotMergeable(`HubSpot does not answer, and nothing was changed. Try again. ${error.message}`);
    if (!(error instanceof CrmRefused || error instanceof CrmDenied)) throw error;
    const refused = `Contact ${told.id} still says who was joined with it: correct it in HubSpot. ${error.message}`;
    return { values: {}, refused };
  }
}

/** Moves joins with their memberships. Their documents are attached to the other contact. */
async function move(
  trx: Kysely<Tables>,
  { joins, from, into }: { joins: readonly string[]; from: number; into: number },
): Promise<void> {
  await sql`
    update join_session set person_id = ${into}, updated_at = now()
    where uuid = any(${joins}::uuid[])`.execute(trx);
  await followMoved(trx, sql`(${from}::bigint)`);
  await attachAnew(trx, sql`session_uuid = any(${joins}::uuid[])`);
}

/** A merge that can be undone, with what was moved and both persons as they were. */
interface Undoable {
  id: number;
  from: number;
  into: number;
  moved: { joins: string[]; invitations: string[]; documents: string[]; merged: number[] };
  persons: Record<
    number,
    {
      details: StudentDetails | null;
      profile: ContactProfile;
      likeness: string | null;
      words: string;
    }
  >;
}

/** Returns the last merge of a person within the last day. */
async function lastMerge(database: Kysely<Tables>, personId: number): Promise<Undoable> {
  const { rows } = await sql<Undoable>`
    select person_merge.id, from_id as from, into_id as into, moved, persons
    from person_merge join person on person.id = from_id and merged_into = into_id
    where ${personId} in (from_id, into_id) and ${isUndoable}
    order by person_merge.id desc limit 1`.execute(database);
  if (!rows[0])
    throw new NotMergeable('There is no merge of this person within the last day that could be undone.');
  return rows[0];
}

const isUndoable = sql<boolean>`(person_merge.created_at > now() - interval '1 day')`;

/** Deletes hourly what was kept to undo merges that cannot be undone any more. */
export function startForgettingMerges({ database, log }: Deps): () => Promise<void> {
  return repeat('forget merges', 3_600_000, log, async () => {
    await sql`delete from person_merge where not ${isUndoable}`.execute(database);
  });
}
