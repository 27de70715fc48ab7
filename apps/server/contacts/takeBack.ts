import { sql } from 'kysely';
import { type CrmValues, type FieldValue, isSame, joinFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { readJoin, valuesOf } from './dueJoins.ts';
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
 * Takes back what a join has told of its purchase where it was written before, membership and amount, where that stands there still:
 * what other paid joins of that contact tell takes its place. Answers a sentence for staff; null when nothing stood there. Throws
 * when HubSpot cannot be asked, or refuses.
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
  const standing = joinFields.filter((field) => {
    const { property, write } = fields[field];
    const told = known[field];
    return property !== null && write !== 'never' && told && isSame(present.properties[property] ?? '', told);
  });
  if (standing.length === 0) return null;
  const others = await toldByOthers(deps, id);
  const properties = Object.fromEntries(
    standing.map((field) => [
      fields[field].property!,
      others?.find((other) => other.field === field)?.value ?? '',
    ]),
  );
  const outcome = (await hubspot.updateContacts([{ mark: id, id, properties }])).get(id);
  if (outcome?.kind !== 'written') throw new Error(`HubSpot did not take the change of contact ${id}.`);
  await deps.contacts.refresh(id);
  if (others)
    return `Contact ${id}, with the same email, is of another join, too: it says what that one has bought.`;
  return isOwn
    ? `Contact ${id}, which the join had created, says nothing of it any more. Merge it in HubSpot, or delete it.`
    : `Contact ${id}, with the same email, says nothing of the join any more.`;
}

/** What the paid joins that are written into a contact would have HubSpot know; null when there are none. */
async function toldByOthers(deps: Deps, contactId: string): Promise<FieldValue[] | null> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid from join_session
    where paid_at is not null and (contact_id = ${contactId} or hubspot_contact_id = ${contactId})
    order by contact_id is null, paid_at desc`.execute(deps.database);
  if (rows.length === 0) return null;
  const joins = await Promise.all(rows.map(({ uuid }) => readJoin(deps, uuid)));
  return joins.flatMap((join) => (join ? valuesOf(join) : []));
}
