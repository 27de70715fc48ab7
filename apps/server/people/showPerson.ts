import { sql } from 'kysely';
import { type ContactField, contactFieldOf } from '#core/contact.ts';
import { type Holdings, isMemberByHubspotAlone } from '#core/people.ts';
import { personStanding, type StandingFacts } from '#core/personStanding.ts';
import type { MembershipType } from '#core/product.ts';
import type { MembershipStanding } from '#core/refunds.ts';
import type { StoryLine } from '#core/story.ts';
import { fieldNames } from '#core/studentDetails.ts';
import { waitingAtHubspot } from '../crm/deliveries.ts';
import { documentsOfPersons, type ListedDocument } from '../documents/documentsOf.ts';
import { type DueProof, dueProofs } from '../documents/review.ts';
import { type FoundJoin, type FoundPerson, personCodes, readJoins } from '../joining/findJoins.ts';
import { type ListedLetter, listLetters } from '../letters/listLetters.ts';
import { type ReadNotice, readNotices } from '../letters/readNotices.ts';
import { type Parcel, parcelsOfJoins } from '../membership/orders.ts';
import { alikeTo, chainOf } from '../session/alike.ts';
import { holdings, holdsBought, presentPerson } from '../session/members.ts';
import { knownOfPerson, newestJoin, personEmail, personName } from '../session/person.ts';
import { readStory } from '../session/readStory.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { notesOf, type PersonNote } from './notes.ts';

/** The most letters of a person that are shown. */
const MOST_LETTERS = 200;

/** Somebody who is likely the same as a person. */
export interface Alike {
  id: number;
  name: string | null;
  email: string | null;
  /** Whether they hold a membership. */
  isMember: boolean;
}

/** Everything that staff see about a person. Joins are named by their uuids, which must not leave the server. */
export interface ShownPerson {
  id: number;
  name: string | null;
  email: string | null;
  contactId: string | null;
  /** In one sentence: whether they are a member. */
  standing: string;
  /** How many memberships they hold. */
  memberships: number;
  details: { label: string; value: string }[];
  codes: FoundPerson['codes'];
  /** The person's id, and those that were merged into it. */
  ids: number[];
  /** The joins, the oldest first. */
  joins: (FoundJoin & { goods: Parcel['goods']; story: StoryLine[] })[];
  others: Alike[];
  letters: ListedLetter[];
  documents: ListedDocument[];
  /** Open notices about the joins. */
  notices: ReadNotice[];
  dueProofs: DueProof[];
  notes: PersonNote[];
  atHubspot: { refusal: string | null; waitsSince: Date | null };
}

interface PersonFacts {
  id: number;
  name: string | null;
  email: string | null;
  contactId: string | null;
  known: Partial<Record<string, unknown>>;
  holdings: Holdings;
  bought: { type: MembershipType; standing: MembershipStanding; at: string }[];
  codes: FoundPerson['codes'];
  ids: number[];
}

/**
 * Returns everything that staff see about a person or, if they were merged, about the person they were merged into. Null if there
 * is no such person, or they were erased.
 */
export async function showPerson(deps: Deps, personId: number): Promise<ShownPerson | null> {
  const { database, society } = deps;
  const facts = await readFacts(deps, personId);
  if (!facts) return null;
  const { id, ids, known, bought, holdings, ...shown } = facts;
  const found = await readJoins(
    database,
    sql`select uuid from join_session where join_session.person_id = any(${ids}::bigint[])`,
  );
  const joins = found.toReversed();
  const uuids = joins.map(({ uuid }) => uuid);
  const [parcels, stories, others, letters, documents, notices, due, notes, atHubspot] = await Promise.all([
    parcelsOfJoins(deps, uuids),
    Promise.all(uuids.map((uuid) => readStory(deps, uuid))),
    readAlike(deps, id),
    listLetters(deps, { joins: uuids }, MOST_LETTERS),
    documentsOfPersons(deps, ids),
    readNotices(deps, { joins: uuids }),
    dueProofs(deps, { joins: uuids }),
    notesOf(deps, ids),
    waitingAtHubspot(deps, id),
  ]);
  const newest = joins.at(-1);
  const standing: StandingFacts = {
    bought: bought.map(({ at, ...each }) => ({ ...each, since: dateOf(society, new Date(at)) })),
    isMemberAtHubspot: isMemberByHubspotAlone(holdings),
    join: newest ? { state: newest.state, startedOn: dateOf(society, newest.createdAt) } : null,
    isInvited: shown.codes.length > 0,
  };
  return {
    id,
    ids,
    ...shown,
    standing: personStanding(standing),
    memberships: bought.filter(
      ({ type, standing }) => type === 'membership' && (standing === 'active' || standing === 'disputed'),
    ).length,
    details: detailsOf(known),
    joins: joins.map((join, index) => ({
      ...join,
      goods: parcels.find(({ uuid }) => uuid === join.uuid)?.goods ?? [],
      story: stories[index] ?? [],
    })),
    others,
    letters,
    documents,
    notices,
    dueProofs: due,
    notes,
    atHubspot,
  };
}

/**
 * Returns the id of a person or, if they were merged, of the person they were merged into. Null if there is no such person, or
 * they were erased.
 */
export async function presentId(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select id from person where id = ${presentPerson(sql`${personId}::bigint`)} and erased_at is null`.execute(
    database,
  );
  return rows[0]?.id ?? null;
}

/** Returns the id of a person and of all who were merged into them. */
export async function samePersons({ database }: Pick<Deps, 'database'>, personId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from ${chainOf(sql`(select ${personId}::bigint)`)} as chain (id)`.execute(database);
  return rows.map(({ id }) => id);
}

/** Returns HubSpot's id of a person's contact; null if there is none. */
export async function presentContact(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`
    select contact_id as id from person where id = ${personId} and deleted_at is null`.execute(database);
  return rows[0]?.id ?? null;
}

async function readFacts(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<PersonFacts | null> {
  const { rows } = await sql<PersonFacts>`
    select person.id, ${personName} as name, ${personEmail} as email,
      case when person.deleted_at is null then person.contact_id end as "contactId", ${knownOfPerson} as known,
      ${holdings('person.id')} as holdings, ${personCodes} as codes,
      coalesce((select json_agg(json_build_object('type', type, 'standing', standing, 'at', created_at) order by created_at, membership.id)
        from membership where membership.person_id = person.id), '[]') as bought,
      (select json_agg(id) from ${chainOf(sql`(select person.id)`)} as chain (id)) as ids
    from person ${newestJoin}
    where person.id = ${presentPerson(sql`${personId}::bigint`)} and person.erased_at is null`.execute(
    database,
  );
  return rows[0] ?? null;
}

async function readAlike({ database }: Pick<Deps, 'database'>, personId: number): Promise<Alike[]> {
  const { rows } = await sql<Alike>`
    select person.id, ${personName} as name, ${personEmail} as email, ${holdsBought('person.id', 'membership')} as "isMember"
    from person ${newestJoin}
    where person.id in ${alikeTo(sql`${personId}::bigint`)} and person.id <> ${personId}
      and person.merged_into is null and person.erased_at is null
    order by person.id`.execute(database);
  return rows;
}

/** Details that only contacts have. */
const contactLabels = { schoolName: 'School' } as const satisfies Partial<Record<ContactField, string>>;

function detailsOf(known: PersonFacts['known']): { label: string; value: string }[] {
  const rows = [
    ...Object.entries(fieldNames).map(([field, label]) => ({
      label,
      value: known[field] ?? known[contactFieldOf(field as keyof typeof fieldNames)],
    })),
    ...Object.entries(contactLabels).map(([field, label]) => ({ label, value: known[field] })),
  ];
  return rows.flatMap(({ label, value }) =>
    typeof value === 'string' && value !== '' ? [{ label, value }] : [],
  );
}
