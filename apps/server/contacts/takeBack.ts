import { sql } from 'kysely';
import { type CrmValues, isSame, joinFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { fieldsThere } from './fieldsThere.ts';

/** A contact into which a join was written before staff said whose it is. */
export interface LeftContact {
  contactId: string;
  /** What HubSpot had of each field when the join was written last. */
  known: CrmValues;
  /** The join has created it. */
  isOwn: boolean;
}

/**
 * Takes back what a join has told of its purchase where it was written before, membership and amount, where that stands there still.
 * A contact that another paid join is written into as well is left alone. Answers a sentence for staff; null when nothing stood
 * there. Throws when HubSpot cannot be asked, or refuses.
 */
export async function takeBack(
  deps: Deps,
  hubspot: HubspotClient,
  { contactId, known, isOwn }: LeftContact,
): Promise<string | null> {
  const fields = await fieldsThere(deps, hubspot);
  // By the id that it has now, should it have been merged.
  const present = (await hubspot.readContacts([contactId], neededProperties(fields))).get(contactId);
  if (!present) return null;
  const { id } = present;
  const properties = joinFields.flatMap((field) => {
    const { property, write } = fields[field];
    const told = known[field];
    const stands =
      property !== null && write !== 'never' && told && isSame(present.properties[property] ?? '', told);
    return stands ? [property] : [];
  });
  if (properties.length === 0) return null;
  const { rows } = await sql`
    select from join_session where paid_at is not null and (contact_id = ${id} or hubspot_contact_id = ${id}) limit 1`.execute(
    deps.database,
  );
  if (rows.length > 0)
    return `Contact ${id}, with the same email, is of another join, too: it was left as it is.`;
  const blank = Object.fromEntries(properties.map((property) => [property, '']));
  const outcome = (await hubspot.updateContacts([{ mark: id, id, properties: blank }])).get(id);
  if (outcome?.kind !== 'written') throw new Error(`HubSpot did not take the change of contact ${id}.`);
  await deps.contacts.refresh(id);
  return isOwn
    ? `Contact ${id}, which the join had created, says nothing of it any more. Merge it in HubSpot, or delete it.`
    : `Contact ${id}, with the same email, says nothing of the join any more.`;
}
