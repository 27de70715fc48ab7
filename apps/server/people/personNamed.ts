import { sql } from 'kysely';
import { plain } from '#core/cleanText.ts';
import type { Database } from '../platform/database/client.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { personOf, presentPerson } from '../session/members.ts';
import type { Deps } from './deps.ts';
import { NotMergeable } from './mergePersons.ts';

/** Whether a text can name a person: the uuid of a join, or HubSpot's id of a contact. */
export function isName(text: string | undefined): text is string {
  return text !== undefined && (isUuid(text.toLowerCase()) || isContactId(text));
}

function isContactId(text: string): boolean {
  return /^[0-9]{1,20}$/.test(text);
}

/** Returns the id of the person of a join or a contact ({@link isName}); null if there is none. */
export async function personNamed(database: Database, name: string): Promise<number | null> {
  const id = isContactId(name)
    ? personOf(sql`${name}`)
    : sql`(select ${presentPerson('person_id')} from join_session where uuid = ${name})`;
  const { rows } = await sql<{ id: number | null }>`select ${id} as id`.execute(database);
  return rows[0]?.id ?? null;
}

/**
 * Like {@link personNamed}, after reading the contact from HubSpot. Throws {@link NotMergeable} if there is no such person, or
 * HubSpot has to be asked and does not answer.
 */
export async function personAtHubspot({ database, contacts }: Deps, name: string): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person join join_session on person_id = person.id
    where uuid::text = ${name.toLowerCase()} and contact_id is not null`.execute(database);
  const contactId = isContactId(name) ? name : rows[0]?.id;
  const found = contactId === undefined ? 'known' : await contacts.refresh(contactId);
  if (found === 'unavailable') throw new NotMergeable('HubSpot cannot be asked at this moment. Try again.');
  if (found === 'unknown' && isContactId(name)) throw new NotMergeable(`HubSpot knows no contact ${name}.`);
  const personId = await personNamed(database, name);
  if (personId === null) throw new NotMergeable(nobody(name));
  return personId;
}

/** The sentence for staff if {@link personNamed} finds nobody. */
export function nobody(name: string): string {
  return `There is no join and no contact ${plain(name)}, or the person was erased.`;
}
