import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { requireSameAccount } from '../../crm/account.ts';
import { tellingHubspotNothing } from '../../crm/fence.ts';
import type { CrmContact } from '../../crm/hubspot/answers.ts';
import { DEFAULT_TIMEOUT_MS } from '../../crm/hubspot/calls.ts';
import type { HubspotClient } from '../../crm/hubspot/client.ts';
import { findNotes, findUnnotedFiles } from '../../documents/attachDocuments.ts';
import { cancelIntent } from '../../paying/cancelIntent.ts';
import type { Tables } from '../../platform/database/types.ts';
import { Changed } from '../../platform/failed.ts';
import { chainOf } from '../../session/alike.ts';
import { mailboxKey } from '../../session/mailboxKey.ts';
import type { Deps } from '../deps.ts';
import { type AtStripe, dueAtStripe, forgetAtStripe, forgetPayerAtStripe } from './atStripe.ts';
import { type Erased, eraseJoins, NotErasable, removeUnused } from './eraseJoins.ts';
import { emailHasher, findPerson, isOfAnother, type Person } from './findPerson.ts';
import { journalPath, writeJournal } from './journal.ts';
import { type AtHubspot, filesAtHubspot, forgetIds, keepIds, leftAtHubspot } from './leftAtHubspot.ts';
import { noticesNaming } from './noticesNaming.ts';
import { type ErasurePlan, planOf } from './planErasure.ts';
import { type Progress, StoppedErasing } from './stoppedErasing.ts';
import { refusalsOf } from './underWay.ts';

export interface PersonErased extends Erased {
  /** The number of rows of `person` that were emptied or removed. */
  contacts: number;
  /** The number of customers that were deleted at Stripe. */
  customers: number;
  /** The contacts and files that were deleted in HubSpot; null if the erasure did not include HubSpot. */
  atHubspot: AtHubspot | null;
  /**
   * Contacts of other persons that HubSpot finds by this person's email, or by the id of one of this person's contacts. These
   * contacts are not erased.
   */
  othersAtHubspot: string[];
  /** The contacts and files of the person that HubSpot may still have. */
  leftAtHubspot: AtHubspot;
}

/**
 * Erases a person in three places, if the plan is still what staff have seen (`seen`, {@link planOf}). Each step is safe to
 * repeat. Nothing else is sent to HubSpot meanwhile.
 * - In HubSpot, if `hubspot` is given. HubSpot comes first, so that nothing is erased elsewhere if it refuses.
 * - At Stripe.
 * - Here, in one transaction.
 *
 * Throws {@link StillTelling} if running requests to HubSpot do not end in time, and {@link Changed} if the plan has changed; in
 * both cases nothing is erased. Throws {@link StoppedErasing} for any later error.
 */
export async function erasePerson(
  deps: Deps,
  seen: ErasurePlan,
  { hubspot = null }: { hubspot?: HubspotClient | null } = {},
): Promise<PersonErased> {
  return tellingHubspotNothing(deps.database, () => eraseNow(deps, seen, hubspot));
}

async function eraseNow(deps: Deps, seen: ErasurePlan, hubspot: HubspotClient | null): Promise<PersonErased> {
  const person = await findPerson(deps, seen.person.email);
  const now = await planOf(deps, person, seen.isAsked);
  if (!isDeepStrictEqual(shownOf(now), shownOf(seen)))
    throw new Changed('What would be erased has changed since it was shown, so nothing was.', now);
  const progress: Progress = { at: 'begin', atHubspot: null };
  try {
    await prepare(deps, person.joins);
    let othersAtHubspot: string[] = [];
    if (hubspot) {
      progress.at = 'hubspot';
      const { erased, others } = await eraseAtHubspot(deps, person, hubspot);
      progress.atHubspot = erased;
      othersAtHubspot = others;
    }
    progress.at = 'stripe';
    await forgetPayerAtStripe(deps, person.emails);
    const told = await forgetAtStripe(deps, person.joins);
    progress.at = 'here';
    const customers = told.filter(({ kind }) => kind === 'customer').length;
    return {
      ...(await eraseHere(deps, person, { atHubspot: progress.atHubspot, atStripe: told })),
      customers,
      othersAtHubspot,
    };
  } catch (error) {
    throw new StoppedErasing(error, progress);
  }
}

/**
 * The parts of a plan that must be as staff have seen them. Contacts are compared by their persons alone: a contact that a join
 * has created in HubSpot since then is erased with that join.
 */
function shownOf({ person: { joins, persons, others, ofOthers }, unsent }: ErasurePlan) {
  return {
    joins: joins.toSorted(),
    persons: persons.toSorted(),
    others: others.toSorted(),
    ofOthers,
    unsent,
  };
}

async function eraseHere(
  deps: Deps,
  person: Person,
  { atHubspot, atStripe }: { atHubspot: AtHubspot | null; atStripe: readonly AtStripe[] },
): Promise<Omit<PersonErased, 'customers' | 'othersAtHubspot'>> {
  const { database } = deps;
  const hasher = await emailHasher(database);
  const hash = hasher(person.email);
  const hashes = person.emails.map(hasher);
  return database.transaction().execute(async (trx) => {
    const names = await namesOf(trx, person);
    if (atHubspot) await forgetIds(trx, hash);
    else await keepIds(trx, hashes, { contacts: person.contacts, files: await filesAtHubspot(trx, person) });
    const erased = await eraseJoins(trx, deps, person.joins, async () => {
      // Records the objects that were created at Stripe since {@link forgetAtStripe} ran.
      await dueAtStripe(trx, person.joins, atStripe);
      await writeJournal(journalPath(deps), {
        at: deps.now().toISOString(),
        emails: hashes.map((one) => one.toString('hex')),
        joins: person.joins,
        contacts: person.contacts,
      });
    });
    const contacts = await erasePersons(trx, deps, person.persons);
    await forgetEmails(trx, person.emails);
    await forgetNotices(trx, [...person.emails, ...names]);
    const counted = person.emails.map((email) => mailboxKey(deps.passes, email));
    await sql`delete from limit_count where key = any(${counted}::text[])`.execute(trx);
    await noteErasure(trx, hashes, deps.now());
    return {
      ...erased,
      documents: erased.documents + contacts.documents,
      contacts: contacts.rows,
      atHubspot,
      leftAtHubspot: await leftAtHubspot(trx, hash),
    };
  });
}

/**
 * Removes these emails from all rows outside the person's joins: requests for passes, and letters and payments of other joins or
 * of none. The row of a join's sent letter is kept without the email; without the row the letter would be sent again. With
 * `before`, newer rows stay unchanged. Returns how many rows contained one of the emails.
 */
export async function forgetEmails(
  trx: Kysely<Tables>,
  emails: readonly string[],
  before: Date | null = null,
): Promise<number> {
  const isOld = before === null ? sql`true` : sql`created_at < ${before}`;
  const these = sql`any(${emails}::text[])`;
  const statements = [
    sql`delete from pass_request where lower(email) = ${these} and ${isOld}`,
    sql`delete from letter where lower(email) = ${these} and (session_uuid is null or sent_at is null) and ${isOld}`,
    sql`update letter set email = null, data = '{}' where lower(email) = ${these} and ${isOld}`,
    sql`update payment set receipt_email = null, payer_name = null where lower(receipt_email) = ${these} and ${isOld}`,
  ];
  let rows = 0;
  for (const statement of statements) rows += Number((await statement.execute(trx)).numAffectedRows ?? 0);
  return rows;
}

/**
 * Removes the notices to staff that contain one of these emails or names. With `before`, newer notices stay. Returns how many
 * notices were removed.
 */
export async function forgetNotices(
  trx: Kysely<Tables>,
  texts: readonly string[],
  before: Date | null = null,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from staff_notice where id = any(${await noticesNaming(trx, texts)}::bigint[])
      and ${before === null ? sql`true` : sql`created_at < ${before}`}`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

export async function noteErasure(trx: Kysely<Tables>, hashes: readonly Buffer[], at: Date): Promise<void> {
  await sql`
    insert into erasure (email_hash, erased_at) select hash, ${at}::timestamptz from unnest(${hashes}::bytea[]) as hash
    on conflict (email_hash) do update set erased_at = greatest(erasure.erased_at, excluded.erased_at)`.execute(
    trx,
  );
}

/**
 * Throws {@link NotErasable} if one of these joins may not be erased now. Cancels the open intents of the joins, so that nobody
 * pays them later.
 */
export async function prepare(deps: Deps, joins: readonly string[]): Promise<void> {
  const refusals = await refusalsOf(deps.database, joins);
  if (refusals.length > 0) throw new NotErasable(refusals.join('\n'));
  const { rows } = await sql<{ intent_id: string; session_uuid: string }>`
    select intent_id, session_uuid from payment where session_uuid = any(${joins}::uuid[]) and status = 'open'`.execute(
    deps.database,
  );
  for (const { intent_id, session_uuid } of rows)
    if (!(await cancelIntent(deps, intent_id)))
      throw new NotErasable(
        `Join ${session_uuid} is not erased: its payment ${intent_id} was made just now, or is with the bank.`,
      );
}

/**
 * Erases the person's contacts, files and notes in HubSpot. HubSpot also finds a contact by an additional email, and by the id of
 * a contact that was merged into it. If a contact found in these ways has another email, it may be another person's. Such a
 * contact is kept and returned in `others`. A contact that another person's join created is kept, too, and not returned.
 */
async function eraseAtHubspot(
  { database }: Deps,
  person: Person,
  hubspot: HubspotClient,
): Promise<{ erased: AtHubspot; others: string[] }> {
  // With the token of another HubSpot account, all contacts would seem to be erased already.
  await requireSameAccount({ database, hubspot });
  const { email, contacts, atHubspot } = person;
  const known = await hubspot.findByEmail(email);
  const { rows: isAnothers } = await sql`
    select where ${isOfAnother(sql`${known?.id ?? null}`, sql`${person.joins}::uuid[]`)}`.execute(database);
  const named = [...new Set([...contacts, ...atHubspot.contacts])];
  const all = {
    contacts: [] as string[],
    files: [
      ...new Set([
        ...(await filesAtHubspot(database, person)),
        ...(await findUnnotedFiles(database, hubspot, person)),
        ...atHubspot.files,
      ]),
    ],
  };
  const others = new Set<string>();
  const sort = (id: string, there: CrmContact | null) => {
    const isTheirs = !there || named.includes(there.id) || there.properties.email?.toLowerCase() === email;
    if (isTheirs) all.contacts.push(id);
    else others.add(there.id);
  };
  for (const id of named) sort(id, await hubspot.getContact(id, DEFAULT_TIMEOUT_MS));
  if (known && !named.includes(known.id) && isAnothers.length === 0) sort(known.id, known);
  // Deletes the notes, which have the person's name. When HubSpot erases a contact, it erases only that contact's notes, but a
  // document may be attached to another person's contact.
  for (const id of await findNotes(database, hubspot, person)) await hubspot.deleteNote(id);
  for (const id of all.files) await hubspot.eraseFile(id);
  for (const id of all.contacts) await hubspot.eraseContact(id);
  return { erased: all, others: [...others] };
}

/** SQL for whether a `person` row was last read from HubSpot (or, if never read, created) before a time. */
const isBefore = (before: Date) => sql<boolean>`coalesce(fetched_at, created_at) < ${before}`;

/**
 * Returns what a restored database still has about an erased person:
 * - the given joins, and older joins than `before` of the persons of the given contacts, of persons who are known only by the
 *   given joins, and of all who were merged with these;
 * - those of these persons with data, an invitation, a document or a note from before that time.
 */
export async function restoredOf(
  database: Kysely<Tables>,
  { joins, contacts }: { joins: readonly string[]; contacts: readonly string[] },
  before: Date,
): Promise<{ joins: string[]; persons: number[]; contacts: string[] }> {
  const persons = chainOf(sql`(
    select id from person where contact_id = any(${contacts}::text[])
    union select person.id from join_session join person on person.id = person_id
      where uuid::text = any(${joins}) and (contact_id is null or made_contact))`);
  const { rows: left } = await sql<{ uuid: string }>`
    select uuid from join_session where erased_at is null and (uuid::text = any(${joins})
      or person_id in ${persons} and created_at < ${before}) order by uuid`.execute(database);
  const { rows } = await sql<{ id: number; contact_id: string | null }>`
    select id, contact_id from person where id in ${persons} and (
      ${isBefore(before)} and (erased_at is null and deleted_at is null or profile <> '{}' or details is not null or words <> '')
      or exists (select from invitation where person_id = person.id and created_at < ${before})
      or exists (select from document where person_id = person.id and created_at < ${before})
      or exists (select from person_note where person_id = person.id and created_at < ${before}))`.execute(
    database,
  );
  return {
    joins: left.map(({ uuid }) => uuid),
    persons: rows.map(({ id }) => id),
    contacts: rows.flatMap(({ contact_id }) => contact_id ?? []),
  };
}

/**
 * Erases persons: their data, invitations and resumes, and staff's notes about them. If other rows refer to a person's row, the
 * row stays with nothing but its ids. With `before`, rows that are newer than that time stay unchanged.
 */
export async function erasePersons(
  trx: Kysely<Tables>,
  { storage }: Pick<Deps, 'storage'>,
  given: readonly number[],
  before: Date | null = null,
): Promise<{ rows: number; documents: number }> {
  const isOld = before === null ? sql`true` : sql`created_at < ${before}`;
  // Locks the persons, as storing a resume does. A resume that is uploaded during the erasure is therefore either stored before,
  // and found below, or refused afterwards.
  const { rows: persons } = await sql<{ id: number }>`
    select id from person where id = any(${given}::bigint[]) order by id for update`.execute(trx);
  const these = sql`any(${persons.map(({ id }) => id)}::bigint[])`;
  for (const table of ['invitation', 'person_note'])
    await sql`delete from ${sql.table(table)} where person_id = ${these} and ${isOld}`.execute(trx);
  await sql`delete from person_merge where (from_id = ${these} or into_id = ${these}) and ${isOld}`.execute(
    trx,
  );
  const { rows: documents } = await sql<{ storage_key: string }>`
    delete from document where person_id = ${these} and ${isOld} returning storage_key`.execute(trx);
  const emptied = await sql`
    update person set profile = '{}', email = null, is_member = false, fetched_at = null, deleted_at = now(), found_contact_id = null,
      details = null, likeness = null, words = '', erased_at = now()
    where id = ${these} and ${before === null ? sql`true` : isBefore(before)}`.execute(trx);
  await sql`delete from crm_delivery using person where person.id = person_id and id = ${these} and erased_at = now()`.execute(
    trx,
  );
  await removeUnused(trx, sql`id = ${these} and erased_at = now()`);
  for (const { storage_key } of documents) await storage.remove(storage_key);
  return { rows: Number(emptied.numAffectedRows ?? 0), documents: documents.length };
}

/** Returns the full names (first and last) of these joins and persons, as notices contain them. */
export async function namesOf(
  trx: Kysely<Tables>,
  { joins, persons }: Pick<Person, 'joins' | 'persons'>,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct concat_ws(' ', btrim(person ->> 'firstName'), btrim(person ->> 'lastName')) as name from (
      select details as person from join_session where uuid = any(${joins}::uuid[])
      union all select unnest(array[details, profile]) from person where id = any(${persons}::bigint[])) as people
    where btrim(person ->> 'firstName') <> '' and btrim(person ->> 'lastName') <> ''`.execute(trx);
  return rows.map(({ name }) => name);
}
