import { createHmac } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import type { Database } from '../platform/database/client.ts';
import { sharedSecret } from '../platform/database/secrets.ts';
import { type AtHubspot, leftAtHubspot } from './leftAtHubspot.ts';
import { noticesNaming } from './noticesNaming.ts';

/** The data that Induct has for an email. Joins are given by uuid, contacts of the mirror by HubSpot's id. */
export interface Person {
  /** The email in lower case. */
  email: string;
  joins: string[];
  contacts: string[];
  /** Contacts that were named for these joins and have another email. They may be other persons, so an erasure keeps them. */
  others: string[];
  /**
   * How many rows of other tables contain the email: requests for passes, notices, and letters and payments that belong to none of
   * the person's joins.
   */
  requests: number;
  /**
   * How many of these rows are letters or payments of joins that now have another email. Such rows exist if the joiner corrected
   * the email before paying, or if a letter was sent to this email by mistake.
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
 * Finds all that belongs to an email:
 * - contacts with this email, and contacts merged into them;
 * - joins of these contacts;
 * - joins that have the email in their details (or, without details, in a payment), or had it when they were paid;
 * - contacts that one of these joins created.
 * Leaves out:
 * - a contact with another email, since anybody can begin a join of a contact and give an email of their own;
 * - a contact that a join with another email created, even if that join had this email at first;
 * - a join of which only a letter was sent to this email, since the email may have been mistyped and corrected later.
 */
export async function findPerson({ database }: Pick<Deps, 'database'>, given: string): Promise<Person> {
  const email = given.toLowerCase();
  const hash = await emailHash(database, email);
  const words = sql`plainto_tsquery('simple', ${email})`;
  const isOf = (person: 'details' | 'profile') => {
    const column = sql.ref(person);
    return sql`person_words(${column}) @@ ${words}
      and ${email} in (lower(${column} ->> 'personalEmail'), lower(${column} ->> 'schoolEmail'), lower(${column} ->> 'email'))`;
  };
  const { rows } = await sql<Omit<Person, 'email' | 'atHubspot'>>`
    with given as (
      select uuid from join_session where details is not null and ${isOf('details')}
      union select session_uuid from payment join join_session on uuid = session_uuid
        where lower(receipt_email) = ${email} and (details is null or status in ('succeeded', 'duplicate'))
    ), named as (
      select contact_id as id from person where contact_id is not null and ((${isOf('profile')}) or lower(email) = ${email})
        and not ${isOfAnother(sql`person.contact_id`, sql`array(select uuid from given)`)}
    ), created as (
      select contact_id as id from person join join_session on person_id = person.id where uuid in (select uuid from given) and made_contact
    ), contacts as (
      select id from named union select id from created
      union select merged.contact_id from person merged join person present on present.id = merged.merged_into
        where present.contact_id in (select id from named) and merged.contact_id is not null
    ), joins as (
      select uuid from given
      union select uuid from join_session join person on person.id = person_id where contact_id in (select id from contacts)
      union select uuid from join_session join person on person.id = person_id where lower(person.details ->> 'personalEmail') = ${email}
    ), of_others as (
      select count(*) from (
        select session_uuid from letter where lower(email) = ${email}
        union all select session_uuid from payment where lower(receipt_email) = ${email}) as sent
      where session_uuid not in (select uuid from joins)
    )
    select array(select uuid::text from joins join join_session using (uuid) where erased_at is null order by 1) as joins,
      array(select id from contacts order by id) as contacts,
      array(select distinct contact_id from join_session join person on person.id = person_id where uuid in (select uuid from joins)
        and contact_id is not null and contact_id not in (select id from contacts) order by 1) as others,
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
    requests: found.requests + notices.length,
    atHubspot: await leftAtHubspot(database, hash),
  };
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
