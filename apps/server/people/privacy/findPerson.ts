import { createHmac } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../platform/database/client.ts';
import { sharedSecret } from '../../platform/database/secrets.ts';
import { chainOf } from '../../session/alike.ts';
import { emailsOfWords, hasEmail } from '../../session/words.ts';
import type { Deps } from '../deps.ts';
import { type AtHubspot, leftAtHubspot } from './leftAtHubspot.ts';
import { noticesNaming } from './noticesNaming.ts';

/** The data that Induct has for an email. Joins are given by uuid, contacts of the mirror by HubSpot's id. */
export interface Person {
  /** The email in lower case. */
  email: string;
  /** All emails that the joins and persons have or had, in lower case, except those that somebody else has, too. */
  emails: string[];
  joins: string[];
  /** The ids of the rows of `person` that belong to nobody else, with all rows that were merged into them. */
  persons: number[];
  contacts: string[];
  /** Contacts that were named for these joins and have another email. They may be other persons, so an erasure keeps them. */
  others: string[];
  /**
   * How many rows of other tables contain the email: requests for passes, notices, and letters and payments that belong to none
   * of the person's joins.
   */
  requests: number;
  /**
   * How many of these rows are letters or payments of joins that are not the person's. Such rows exist if the person paid by the
   * joiner's pay link, if the joiner corrected the email before paying, or if a letter was sent to this email by mistake.
   */
  ofOthers: number;
  erasedAt: Date | null;
  /** Contacts and files that HubSpot may still have after an earlier erasure that did not include HubSpot. */
  atHubspot: AtHubspot;
}

/**
 * SQL for whether a join outside `joins` (an array of uuids) created this contact. If so, the contact belongs to the joiner of
 * that other join, who may have mistyped the email at first and corrected it later.
 */
export function isOfAnother(contactId: RawBuilder<unknown>, joins: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from person made join join_session own on own.person_id = made.id
    where made.contact_id = ${contactId} and made.made_contact and own.details is not null and own.uuid <> all(${joins}))`;
}

/**
 * Finds everything that belongs to an email. Takes some seconds with a million joins, since it reads all of them. Finds:
 * - joins that have the email in their details (or, without details, in a payment), or had it when they were paid;
 * - the persons of these joins, unless a code or a link named a contact;
 * - persons whose email it is, in HubSpot or as last typed or corrected; if it is nobody's now, persons whose email it was;
 * - the persons who were merged with these, and all their joins and contacts.
 *
 * Leaves out:
 * - a contact with another email, since anybody can begin a join of a contact and give an email of their own;
 * - a contact that a join with another email created, even if that join had this email at first;
 * - a join that was paid with this email by a pay link: its joiner is somebody else;
 * - a join of which only a letter was sent to this email, since the email may have been mistyped and corrected later.
 */
export async function findPerson({ database }: Pick<Deps, 'database'>, given: string): Promise<Person> {
  const email = given.toLowerCase();
  const isTheirs = sql<boolean>`(${email} in (lower(person.details ->> 'personalEmail'), lower(person.details ->> 'schoolEmail'),
    lower(profile ->> 'personalEmail'), lower(profile ->> 'email'), lower(profile ->> 'schoolEmail'), lower(person.email)) is true)`;
  const hash = await emailHash(database, email);
  const { rows } = await sql<Omit<Person, 'email' | 'emails' | 'atHubspot'>>`
    with typed as (
      select uuid from join_session where ${email} in (lower(details ->> 'personalEmail'), lower(details ->> 'schoolEmail'))
      union select session_uuid from payment join join_session on uuid = session_uuid
        where lower(receipt_email) = ${email} and not by_pay_link and (details is null or status in ('succeeded', 'duplicate'))
    ), candidates as (
      select person.id, typed.uuid, ${isTheirs} as is_now, contact_id is null or made_contact as is_their_own
      from typed join join_session using (uuid) join person on person.id = person_id
      union select id, null, ${isTheirs}, true from person where ${hasEmail(email)}
    ), found as (
      select * from candidates where is_now or not exists (select from candidates other where other.is_now)
    ), given as (
      select uuid from found where uuid is not null
      union select uuid from typed join join_session using (uuid) where person_id is null
    ), persons as (
      select id from ${chainOf(sql`(select id from found where is_their_own)`)} as chain
    ), joins as (
      select uuid from given union select uuid from join_session where person_id in (select id from persons)
    ), of_others as (
      select count(*) from (
        select session_uuid from letter where lower(email) = ${email}
        union all select session_uuid from payment where lower(receipt_email) = ${email}) as sent
      where session_uuid not in (select uuid from joins)
    )
    select array(select uuid::text from joins join join_session using (uuid) where erased_at is null order by 1) as joins,
      array(select id from persons order by 1) as persons,
      array(select contact_id from person where id in (select id from persons) and contact_id is not null order by 1) as contacts,
      array(select distinct contact_id from join_session join person on person.id = person_id where uuid in (select uuid from joins)
        and contact_id is not null and person_id not in (select id from persons) order by 1) as others,
      ((select count(*) from pass_request where lower(email) = ${email})
        + (select count(*) from letter where lower(email) = ${email} and session_uuid is null)
        + (select count from of_others))::int as requests,
      (select count from of_others)::int as "ofOthers",
      (select erased_at from erasure where email_hash = ${hash}) as "erasedAt"`.execute(database);
  const found = rows[0]!;
  const notices = await noticesNaming(database, [email]);
  return {
    email,
    ...found,
    persons: found.persons.map(Number),
    emails: await emailsOf(database, { email, ...found }),
    requests: found.requests + notices.length,
    atHubspot: await leftAtHubspot(database, hash),
  };
}

/**
 * SQL for the emails in a join's details, and those that it was paid with, except by a pay link. `uuid` is the query's column.
 */
const emailsOfJoin = sql`lateral (
  values (details ->> 'personalEmail'), (details ->> 'schoolEmail')
  union all select receipt_email from payment where session_uuid = uuid and status in ('succeeded', 'duplicate') and not by_pay_link) as given (email)`;

async function emailsOf(
  database: Database,
  { email, joins, persons }: Pick<Person, 'email' | 'joins' | 'persons'>,
): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select distinct btrim(lower(email)) as email from (
      select email from join_session, ${emailsOfJoin} where uuid = any(${joins}::uuid[])
      union all select unnest(${emailsOfWords}) from person where id = any(${persons}::bigint[])) as known
    where email like '%@%'`.execute(database);
  const others = rows.map(({ email: known }) => known).filter((known) => known !== email);
  const { rows: typed } = await sql<{ email: string }>`
    select distinct given.email from join_session,
      lateral (values (lower(details ->> 'personalEmail')), (lower(details ->> 'schoolEmail'))) as given (email)
    where uuid <> all(${joins}::uuid[]) and given.email = any(${others}::text[])`.execute(database);
  const theirs = [email];
  for (const known of others) {
    if (typed.some((other) => other.email === known)) continue;
    const { rows: had } = await sql`
      select from person where ${hasEmail(known)} and id <> all(${persons}::bigint[]) limit 1`.execute(
      database,
    );
    if (had.length === 0) theirs.push(known);
  }
  return theirs;
}

/** Returns the keyed hash under which an erased email is recorded. */
export async function emailHash(database: Database, email: string): Promise<Buffer> {
  return (await emailHasher(database))(email);
}

/**
 * Returns a function that makes keyed hashes of emails. The key is a secret in the database. It never changes, and is in backups.
 */
export async function emailHasher(database: Database): Promise<(email: string) => Buffer> {
  const secret = await sharedSecret(database, 'erasures');
  return (email) => createHmac('sha256', secret).update(email.trim().toLowerCase()).digest().subarray(0, 16);
}
