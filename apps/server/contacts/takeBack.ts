import { type RawBuilder, sql } from 'kysely';
import { type CrmValues, isSame, joinFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { fieldsThere } from './fieldsThere.ts';
import { hubspotIsToHear } from './tellHubspot.ts';

/** A contact into which a join, and what was bought by links to it, was written before staff said whose it is. */
export interface LeftContact {
  contactId: string;
  /** What HubSpot had of each field when each of them was written last. */
  known: readonly CrmValues[];
  /** The join has created it. */
  isOwn: boolean;
  /** Its documents that HubSpot has. Without a note: one may have been made just before a crash. */
  documents: { fileId: string; noteId: string | null }[];
}

/**
 * Deletes the notes with a join's documents where it was written before: they go to the contact whose the join is now. Returns how many.
 * Throws when HubSpot cannot be asked, or refuses.
 */
export async function takeBackNotes(
  hubspot: HubspotClient,
  { contactId, documents }: LeftContact,
): Promise<number> {
  let count = 0;
  for (const { fileId, noteId } of documents) {
    const id = noteId ?? (await hubspot.findNote(contactId, fileId));
    if (id === null) continue;
    await hubspot.deleteNote(id);
    count++;
  }
  return count;
}

/** Whether the `join_session` of a query is paid and written into a contact. */
export function paidJoinsOf(contactId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(paid_at is not null and (contact_id = ${contactId} or hubspot_contact_id = ${contactId}))`;
}

/**
 * Blanks what a join has told of its purchase where it was written before, membership and amount, where that stands there still. Other
 * paid joins of that contact are told anew, each as its own: what they have bought stands there again after the next round. Answers a
 * sentence for staff; null when nothing stood there. Throws when HubSpot cannot be asked, or refuses. To be called while
 * HubSpot is told of nothing else (fence.ts).
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
    if (property === null || write === 'never') return false;
    const there = present.properties[property] ?? '';
    return known.some(({ [field]: told }) => told && isSame(there, told));
  });
  if (standing.length === 0) return null;
  // First, so that they are told anew whatever becomes of this process: what they had told of the same is blank in a moment, too.
  const { rows: others } = await sql`
    update join_session set crm_known = crm_known - ${standing}::text[], ${hubspotIsToHear} where ${paidJoinsOf(sql`${id}`)} returning uuid`.execute(
    deps.database,
  );
  const properties = Object.fromEntries(standing.map((field) => [fields[field].property!, '']));
  const outcome = (await hubspot.updateContacts([{ mark: id, id, properties }])).get(id);
  if (outcome?.kind !== 'written') throw new Error(`HubSpot did not take the change of contact ${id}.`);
  await deps.contacts.refresh(id);
  if (others.length > 0)
    return `Contact ${id}, with the same email, is of another join, too: it is told again what that one has bought.`;
  return isOwn
    ? `Contact ${id}, which the join had created, says nothing of it any more. Merge it in HubSpot, or delete it.`
    : `Contact ${id}, with the same email, says nothing of the join any more.`;
}
