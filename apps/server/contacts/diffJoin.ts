import { isSame, propertiesForUnproven } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { EMAIL, propertiesOfNamed, readJoin, valuesOf } from './dueJoins.ts';
import { fieldsThere } from './fieldsThere.ts';

/**
 * Returns the properties that would change in HubSpot if the join was sent now: each with its present and its new value. Null if
 * there is no such join.
 */
export async function diffOf(
  deps: Deps,
  hubspot: HubspotClient,
  uuid: string,
): Promise<{
  contactId: string | null;
  changes: { property: string; from: string | null; to: string }[];
} | null> {
  const row = await readJoin(deps, uuid);
  if (!row) return null;
  const fields = await fieldsThere(deps, hubspot);
  const values = valuesOf(row);
  const email = row.details?.personalEmail.toLowerCase();
  const found = row.crm_id === null && email ? await hubspot.findByEmail(email) : null;
  const id = row.crm_id ?? found?.id ?? null;
  const present =
    id === null ? null : (await hubspot.readContacts([id], [...neededProperties(fields), EMAIL])).get(id);
  const held = present?.properties ?? {};
  const isOwn = row.whose === 'named' || (row.whose === 'new' && found === null);
  const properties =
    row.whose === 'new' && !email
      ? {}
      : isOwn
        ? propertiesOfNamed(fields, row, values, held)
        : propertiesForUnproven(fields, values, row.crm_known, held, row.details).properties;
  return {
    contactId: id,
    changes: Object.entries(properties)
      .map(([property, to]) => ({ property, from: held[property] ?? null, to }))
      .filter(({ from, to }) => !isSame(from ?? '', to)),
  };
}
