import { type RawBuilder, sql } from 'kysely';
import { isSame } from '#core/crmFields.ts';
import { compareNames, EMAIL, project, projectNew, withoutEmail } from '#core/crmProjection.ts';
import { readDelivery } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { fieldsThere } from './fieldsThere.ts';
import { namesAt, neededProperties } from './hubspot/properties.ts';

/** The properties that would change in a contact, with their present and new values. `contactId` null: a new contact. */
export interface ContactDiff {
  contactId: string | null;
  changes: { property: string; from: string | null; to: string }[];
}

/** Returns {@link diffOfPerson} of the person of a join. Null if there is no such join. */
export function diffOf(deps: Deps, uuid: string): Promise<ContactDiff | null> {
  return diffFrom(deps, sql`(select person_id from join_session where uuid = ${uuid})`);
}

/**
 * Returns the properties that would change in HubSpot if a person's data were sent now. For a person without a contact, these are
 * the properties of the contact to which they would be attached, or of a new one. Null if there is no such person. Throws {@link
 * CrmUnavailable} if HubSpot does not answer.
 */
export function diffOfPerson(deps: Deps, personId: number): Promise<ContactDiff | null> {
  return diffFrom(deps, sql`${personId}::bigint`);
}

async function diffFrom(deps: Deps, personId: RawBuilder<number | null>): Promise<ContactDiff | null> {
  const { hubspot } = deps;
  const row = await readDelivery(deps, personId);
  if (!row) return null;
  const { own } = row;
  const { details } = own;
  const fields = await fieldsThere(deps);
  if (row.contactId === null && details === null) return { contactId: null, changes: [] };
  const found = row.contactId === null ? await hubspot.findByEmail(details!.personalEmail) : null;
  const isTheirs = found !== null && compareNames(namesAt(fields, found.properties), details!) !== 'other';
  const id = row.contactId ?? (isTheirs ? found.id : null);
  const present =
    id === null ? null : (await hubspot.readContacts([id], [...neededProperties(fields), EMAIL])).get(id);
  const held = present?.properties ?? {};
  const attached = { own: { ...own, joins: [], hasBought: false }, attached: own, isMade: false, sent: {} };
  const created = () => projectNew(fields, { ...own, details: details! });
  const planned = id === null ? created() : project(fields, isTheirs ? attached : row, held);
  const { properties } = found && !isTheirs ? withoutEmail(fields, planned) : planned;
  const changes = Object.entries(properties)
    .map(([property, to]) => ({ property, from: held[property] ?? null, to }))
    .filter(({ from, to }) => !isSame(from ?? '', to));
  return { contactId: id, changes };
}
