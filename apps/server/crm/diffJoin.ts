import { isSame } from '#core/crmFields.ts';
import { compareNames, EMAIL, project, projectNew, withoutEmail } from '#core/crmProjection.ts';
import { readDelivery } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { fieldsThere } from './fieldsThere.ts';
import { namesAt, neededProperties } from './hubspot/properties.ts';

/**
 * Returns the properties that would change in HubSpot if the person of a join was told of now, with their present and new values: of who
 * has no contact yet those of the one to which they would be attached, or of a new one. Null if there is no such join.
 */
export async function diffOf(
  deps: Deps,
  uuid: string,
): Promise<{
  contactId: string | null;
  changes: { property: string; from: string | null; to: string }[];
} | null> {
  const { hubspot } = deps;
  const row = await readDelivery(deps, uuid);
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
