import { type RawBuilder, sql } from 'kysely';
import { type CrmValues, isSame, joinFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { fieldsThere } from './fieldsThere.ts';
import { hubspotIsToHear } from './tellHubspot.ts';

/** The former contact of joins that staff have linked to another contact. */
export interface LeftContact {
  contactId: string;
  /** For each of these joins, the values that it last sent to HubSpot. */
  known: readonly CrmValues[];
  /** Whether the join created the contact. */
  isOwn: boolean;
  /**
   * The join's documents that HubSpot has. `noteId` is null when we recorded no note. HubSpot may still have the note, if a process
   * crashed after it created the note and before it recorded it.
   */
  documents: { fileId: string; noteId: string | null }[];
}

/**
 * Deletes the notes with a join's documents from its former contact: they are written to the new contact. Returns how many. Throws
 * when HubSpot cannot be asked, or refuses.
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

/** SQL for whether a query's `join_session` is paid and written into this contact. */
export function paidJoinsOf(contactId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(paid_at is not null and (contact_id = ${contactId} or hubspot_contact_id = ${contactId}))`;
}

/**
 * Blanks what a join has written of its purchase (membership, amount and so on) at its former contact, where those values are
 * unchanged. Other paid joins of that contact become due again, so that what they bought is written anew. Returns a sentence for
 * staff; null when there was nothing to blank. Throws when HubSpot cannot be asked, or refuses. Call it while nothing else is sent
 * to HubSpot (fence.ts).
 */
export async function takeBack(
  deps: Deps,
  hubspot: HubspotClient,
  { contactId, known, isOwn }: LeftContact,
): Promise<string | null> {
  const fields = await fieldsThere(deps, hubspot);
  // The contact may have been merged since: HubSpot returns the id of the present one, which is used below.
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
  // First, so that the other joins are sent again even if this process dies: the update below blanks their equal values, too.
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
