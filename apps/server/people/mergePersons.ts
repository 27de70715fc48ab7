import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type CrmValues, MEMBER } from '#core/crmFields.ts';
import { projectBefore } from '#core/crmProjection.ts';
import { type Held, type HeldTwice, type Holdings, isMemberByHubspotAlone, twiceHeld } from '#core/people.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { giveAllBack } from '#core/remedy.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { UNKNOWN_CONTACT } from '../crm/deliveries.ts';
import { nobodyIsErased } from '../crm/fence.ts';
import { fieldsThere } from '../crm/fieldsThere.ts';
import { wasAtHubspot } from '../crm/followContacts.ts';
import { notifyOfHeldTwice, notifyOfLikelySame } from '../crm/heldTwice.ts';
import { CrmRefused, CrmUnavailable } from '../crm/hubspot/errors.ts';
import { neededProperties } from '../crm/hubspot/properties.ts';
import { joinPersons, lockPersons, type Moved, moveRows } from '../crm/joinPersons.ts';
import {
  attachAnew,
  isOfJoinsOf,
  leaveContact,
  queuedTogether,
  queuePersonsForHubspot,
} from '../crm/queuePersonsForHubspot.ts';
import { repeat } from '../platform/background.ts';
import { holding } from '../platform/database/holding.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { ContactProfile, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { holdings } from '../session/members.ts';
import type { Deps } from './deps.ts';
import { writeNotes } from './writeNotes.ts';

/** Thrown if two persons cannot be merged, or if a merge cannot be undone. The message is for staff. */
export class NotMergeable extends Failed {}

const ONE_ALREADY = 'They are one person already.';
const GONE = 'One of them was erased, or joined with somebody meanwhile: look again.';
const CHANGED = 'One of them has changed meanwhile: look again.';
const BEING_ERASED = 'Somebody is being erased at this moment. Try again in a minute.';

/** A person's name and email, for staff. */
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
  /** The memberships and upgrades that the person holds, each with its join. */
  held: Held[];
}

/** The effects of a merge: everything of `from` moves to `into`. */
export interface Merge {
  from: Seen;
  into: Seen;
  /** For each join of `from`: what joins of `into` hold, too. All stay held until staff refund one. */
  twice: HeldTwice[];
  /** Whether staff keep them apart ({@link keepApart}). */
  isKeptApart: boolean;
}

/** Returns what a merge of two persons would do. Changes nothing. Throws {@link NotMergeable}. */
export async function previewMerge(deps: Deps, one: number, other: number): Promise<Merge> {
  return transaction(deps, (trx) => mayMerge(trx, one, other));
}

/**
 * Merges two persons whom staff know to be one, if the effects are still those in `seen` ({@link previewMerge}). The purchases
 * are written into the contact of the person that remains, and emptied in any other contact. {@link unmergePersons} can undo the
 * merge for a day. Throws {@link NotMergeable}.
 */
export async function mergePersons(deps: Deps, seen: Merge): Promise<void> {
  await transaction(deps, async (trx) => {
    if (!(await nobodyIsErased(trx))) throw new NotMergeable(BEING_ERASED);
    const merge = await mayMerge(trx, seen.from.id, seen.into.id);
    if (JSON.stringify(merge) !== JSON.stringify(seen)) throw new NotMergeable(CHANGED);
    const [from, into] = [merge.from.id, merge.into.id];
    await sql`
      insert into person_merge (from_id, into_id, moved, persons)
      select ${from}, ${into}, json_build_object(
          'joins', ${merge.from.joins}::uuid[],
          'invitations', array(select code from invitation where person_id = ${from}),
          'documents', array(select id from document where person_id = ${from}),
          'notes', array(select id::text from person_note where person_id = ${from}),
          'merged', array(select id from person where merged_into = ${from})),
        (select json_object_agg(id, json_build_object('details', details, 'profile', profile, 'likeness', likeness, 'words', words))
          from person where id in (${from}, ${into}))`.execute(trx);
    const told = await queuedTogether(trx, [from, into]);
    await attachAnew(trx, sql`(person_id = ${from} or ${isOfJoinsOf(sql`${from}`)})`);
    await joinPersons(trx, { from, into });
    await queuePersonsForHubspot(trx, told, { isAnew: true });
    for (const twice of merge.twice) await notifyOfHeldTwice(trx, twice, 'staff');
    await notifyOfLikelySame(trx, into);
  });
}

/** A merge that can be undone. `from` was merged into `into`. */
export interface Unmerge {
  /** The id of the merge. */
  id: number;
  from: Named;
  into: Named;
}

/** Returns a person's last merge, which can be undone: who was merged, and into whom. Throws {@link NotMergeable}. */
export async function previewUnmerge(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<Unmerge> {
  const nameOf = ({ before: { details, profile } }: Part): Named => ({
    name:
      [details?.firstName || profile.firstName, details?.lastName || profile.lastName]
        .filter(Boolean)
        .join(' ') || null,
    email: details?.personalEmail || profile.personalEmail || profile.email || null,
  });
  const { id, from, into } = await lastMerge(database, personId);
  return { id, from: nameOf(from), into: nameOf(into) };
}

/**
 * Undoes a person's last merge, if it is at most a day old and, with `shown` ({@link previewUnmerge}), still that one. Before any
 * row changes, writes the values from before the merge to Stripe, and into the contact of the person that remained. Returns a
 * sentence for staff if HubSpot refuses them, otherwise null. Throws {@link NotMergeable}.
 */
export async function unmergePersons(deps: Deps, personId: number, shown?: Unmerge): Promise<string | null> {
  const done = await holding(deps.database, nobodyIsErased, () => unmerge(deps, personId, shown));
  if (done === null) throw new NotMergeable(BEING_ERASED);
  return done.refused;
}

async function unmerge(deps: Deps, personId: number, shown?: Unmerge): Promise<{ refused: string | null }> {
  const seen = await lastMerge(deps.database, personId);
  if (shown && shown.id !== seen.id) throw new NotMergeable(CHANGED);
  const isMoved = sql`uuid = any(${seen.moved.joins}::uuid[])`;
  if (seen.from.details) await writeNotes(deps, isMoved, seen.from.details);
  if (seen.into.details)
    await writeNotes(deps, sql`person_id = ${seen.into.id} and not ${isMoved}`, seen.into.details);
  const back = await putBack(deps, seen.into);
  await transaction(deps, async (trx) => {
    await lockPersons(trx, sql`id in (${seen.from.id}, ${seen.into.id})`, 'update');
    const { id, from, into, moved } = await lastMerge(trx, personId);
    if (id !== seen.id) throw new NotMergeable(CHANGED);
    const told = await queuedTogether(trx, [from.id, into.id]);
    await attachAnew(
      trx,
      sql`(id = any(${moved.documents}::uuid[]) or session_uuid = any(${moved.joins}::uuid[]))`,
    );
    await moveRows(trx, { from: into.id, into: from.id }, { notes: [], ...moved });
    for (const { id, before, details } of [from, into]) {
      const changed = isDeepStrictEqual(details, before.details) ? null : details;
      await sql`
        update person set details = ${details && JSON.stringify(details)}::jsonb, likeness = ${changed ? likenessOf(changed) : before.likeness},
          words = ${changed ? `${searchWords(changed)} ${before.words}` : before.words}
        where id = ${id}`.execute(trx);
    }
    await sql`
      update person set merged_into = case when id <> ${from.id} then ${from.id}::bigint end
      where id = ${from.id} or id = any(${moved.merged}::bigint[])`.execute(trx);
    await sql`delete from person_merge where id = ${id}`.execute(trx);
    await sql`
      update crm_delivery set sent = sent || ${JSON.stringify(back.values)}::jsonb where person_id = ${into.id}`.execute(
      trx,
    );
    await queuePersonsForHubspot(trx, told, { isAnew: true });
    for (const one of [from.id, into.id]) await notifyOfLikelySame(trx, one);
  });
  return { refused: back.refused };
}

/**
 * Records that two persons who are likely the same are two, as staff know. They do not count as likely the same any more. Throws
 * {@link NotMergeable} if one of them was merged or erased meanwhile.
 */
export async function keepApart({ database }: Pick<Deps, 'database'>, one: number, other: number) {
  if (one === other) throw new NotMergeable(ONE_ALREADY);
  await database.transaction().execute(async (trx) => {
    await lockPersons(trx, sql`id in (${one}::bigint, ${other}::bigint)`, 'update');
    if ((await readSeen(trx, [one, other])).size < 2) throw new NotMergeable(GONE);
    // If one of them is attached to the other's contact, they get a contact of their own.
    const isOthers = sql`(${one}::bigint, ${other}::bigint) in ((person.id, other.id), (other.id, person.id))`;
    await leaveContact(
      trx,
      sql`exists (select from person other where ${isOthers} and person.found_contact_id = other.contact_id)`,
    );
    await sql`
      insert into kept_apart (one_id, other_id) values (least(${one}::bigint, ${other}), greatest(${one}::bigint, ${other}))
      on conflict do nothing`.execute(trx);
    await queuePersonsForHubspot(trx, sql`(values (${one}::bigint), (${other}::bigint))`);
  });
}

/**
 * Locks the two persons and their joins, and returns the effects of a merge. The person with a contact that a code, a link or
 * staff named remains. Without such a contact, the only one with a contact remains, otherwise the second. Throws {@link
 * NotMergeable}.
 */
async function mayMerge(trx: Kysely<Tables>, one: number, other: number): Promise<Merge> {
  if (one === other) throw new NotMergeable(ONE_ALREADY);
  const ids = sql`(${one}::bigint, ${other}::bigint)`;
  await lockPersons(trx, sql`id in ${ids}`, 'update');
  const seen = await readSeen(trx, [one, other]);
  const [first, second] = [seen.get(one), seen.get(other)];
  if (!first || !second) throw new NotMergeable(GONE);
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
  // If HubSpot alone says that the contact is a member, a refund of the join would end a membership that the join did not buy.
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
  const apart = await sql`
    select from kept_apart where (one_id, other_id) = (least(${one}::bigint, ${other}), greatest(${one}::bigint, ${other}))`.execute(
    trx,
  );
  return { from, into, twice: twiceHeld(from.held, into.held), isKeptApart: apart.rows.length > 0 };
}

async function readSeen(database: Kysely<Tables>, ids: readonly number[]): Promise<Map<number, Seen>> {
  const { rows } = await sql<Seen>`
    select id, contact_id is not null and not made_contact and not ${isMissing} as "isNamed",
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

/** SQL for the value of a field of the query's `person`, from the details or the contact; null if both are blank. */
const known = (field: 'firstName' | 'lastName' | 'personalEmail') =>
  sql`coalesce(nullif(details ->> ${sql.lit(field)}, ''), nullif(profile ->> ${sql.lit(field)}, ''))`;

/** SQL for whether the contact of the query's `person` is missing in HubSpot: deleted, or never known and refused for that. */
const isMissing = sql`(person.deleted_at is not null or not ${wasAtHubspot}
  and exists (select from crm_delivery where person_id = person.id and starts_with(refusal, ${UNKNOWN_CONTACT})))`;

/**
 * Writes the values from before a merge into the contact of the person that remained, where the contact still has what we wrote.
 * Returns the values that HubSpot then has in these fields, and a sentence for staff if HubSpot refuses them. Throws {@link
 * NotMergeable} if HubSpot does not answer.
 */
async function putBack(
  deps: Deps,
  { id: personId, before }: Part,
): Promise<{ values: CrmValues; refused: string | null }> {
  const nothing = { values: {}, refused: null };
  const { rows } = await sql<{ id: string; sent: CrmValues }>`
    select contact_id as id, sent from person join crm_delivery on person_id = person.id
    where person.id = ${personId} and contact_id is not null and deleted_at is null`.execute(deps.database);
  const [told] = rows;
  if (!told) return nothing;
  const { id } = told;
  const notTaken = (why: string) => ({
    values: {},
    refused: `Contact ${id} still says who was joined with it: correct it in HubSpot. ${why}`,
  });
  try {
    const fields = await fieldsThere(deps);
    const present = (await deps.hubspot.readContacts([id], neededProperties(fields))).get(id);
    if (!present) return nothing;
    const { properties, sent: values } = projectBefore(fields, before.profile, told.sent, present.properties);
    if (Object.keys(properties).length === 0) return nothing;
    const outcome = (await deps.hubspot.updateContacts([{ mark: id, id, properties }])).get(id);
    if (outcome?.kind !== 'written')
      return notTaken(outcome?.kind === 'refused' ? outcome.reason : 'HubSpot did not take the change.');
    await deps.contacts.refresh(id);
    return { values, refused: null };
  } catch (error) {
    if (error instanceof CrmRefused) return notTaken(error.message);
    if (!(error instanceof CrmUnavailable)) throw error;
    throw new NotMergeable(`HubSpot does not answer, and nothing was changed. Try again. ${error.message}`);
  }
}

/** One of two persons who were merged. */
interface Part {
  id: number;
  before: { details: StudentDetails | null; profile: ContactProfile; likeness: string | null; words: string };
  /** Their details once the merge is undone. */
  details: StudentDetails | null;
}

/**
 * Returns the last merge of a person within the last day. Changes since the merge, such as a correction, go to the person that
 * remained if they have paid in a join of their own, or if the other had given no details; otherwise they go to the other.
 */
async function lastMerge(
  database: Kysely<Tables>,
  personId: number,
): Promise<{ id: number; moved: Moved & { merged: number[] }; from: Part; into: Part }> {
  const { rows } = await sql<{
    id: number;
    moved: Moved & { merged: number[] };
    persons: Record<number, Part['before']>;
    from_id: number;
    into_id: number;
    details: StudentDetails | null;
    has_own: boolean;
  }>`
    select person_merge.id, moved, persons, from_id, into_id, present.details, exists (select from join_session
      where person_id = into_id and state = 'paid' and not moved -> 'joins' ? uuid::text) as has_own
    from person_merge join person former on former.id = from_id and former.merged_into = into_id
      join person present on present.id = into_id
    where ${personId} in (from_id, into_id) and ${isUndoable}
    order by person_merge.id desc limit 1`.execute(database);
  const [row] = rows;
  if (!row)
    throw new NotMergeable('There is no merge of this person within the last day that could be undone.');
  const [own, other] = [row.persons[row.from_id]!, row.persons[row.into_id]!];
  const isOthers = row.has_own || own.details === null;
  return {
    id: row.id,
    moved: row.moved,
    from: { id: row.from_id, before: own, details: isOthers ? own.details : row.details },
    into: { id: row.into_id, before: other, details: isOthers ? row.details : other.details },
  };
}

const isUndoable = sql<boolean>`(person_merge.created_at > now() - interval '1 day')`;

/** Deletes, every hour, the records of merges that cannot be undone any more. */
export function startForgettingMerges({ database, log }: Deps): () => Promise<void> {
  return repeat('forget merges', 3_600_000, log, async () => {
    await sql`delete from person_merge where not ${isUndoable}`.execute(database);
  });
}
