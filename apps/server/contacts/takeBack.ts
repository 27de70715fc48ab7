import { type RawBuilder, sql } from 'kysely';
import { contactFields } from '#core/contact.ts';
import { type CrmField, type CrmValues, isSame, joinFields } from '#core/crmFields.ts';
import type { Deps } from '../deps.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmRefused } from '../providers/hubspot/errors.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { isOfContact } from './crmId.ts';
import { fieldsThere } from './fieldsThere.ts';
import { hubspotIsToHear } from './tellHubspot.ts';

/** The contact from which staff move joins to another contact. */
export interface LeftContact {
  contactId: string;
  /** The uuids of the joins that are moved. */
  joins: readonly string[];
  /** The values that were last sent to HubSpot, for each of these joins. */
  known: readonly CrmValues[];
  /** Whether one of these joins created the contact. */
  isOwn: boolean;
  /**
   * The joins' documents whose file HubSpot has. `noteId` is null if no note is recorded. HubSpot may still have a note, if a
   * process died between creating and recording it.
   */
  documents: { id: string; fileId: string; noteId: string | null }[];
  /** The contact's record before the joins were written into it, if it is to have that again. */
  before?: ContactProfile;
}

/**
 * Deletes from the former contact the notes with these documents. The documents become due to be attached again. Returns how many
 * notes were deleted. Throws if HubSpot is unavailable or refuses.
 */
export async function takeBackNotes(
  deps: Deps,
  hubspot: HubspotClient,
  { contactId, documents }: LeftContact,
): Promise<number> {
  let count = 0;
  for (const { id: document, fileId, noteId } of documents) {
    await sql`update document set crm_note_id = null, crm_next_try_at = now() where id = ${document}`.execute(
      deps.database,
    );
    const id = noteId ?? (await hubspot.findNote(contactId, fileId));
    if (id === null) continue;
    await hubspot.deleteNote(id);
    count++;
  }
  return count;
}

/**
 * Takes back from the former contact what the joins have written into it, and their documents' notes. Returns sentences for staff;
 * `refused` is one about what HubSpot does not let us take back, otherwise null. Throws if HubSpot is unavailable. Must run while
 * nothing else is sent to HubSpot (fence.ts).
 */
export async function leaveContact(
  deps: Deps,
  left: LeftContact,
): Promise<{ told: string[]; refused: string | null }> {
  const told: string[] = [];
  try {
    told.push(...[(await takeBack(deps, deps.hubspot, left)) ?? []].flat());
    if ((await takeBackNotes(deps, deps.hubspot, left)) > 0)
      told.push(`The documents that were attached to contact ${left.contactId} are attached anew.`);
    return { told, refused: null };
  } catch (error) {
    if (!(error instanceof CrmRefused || error instanceof CrmDenied)) throw error;
    const refused = `Contact ${left.contactId}, where the join was written before, still says what it bought, or has a note with its documents: correct it in HubSpot. ${error.message}`;
    return { told, refused };
  }
}

/** SQL: whether a query's `join_session` is paid and written into a contact. `contactId` is an SQL expression. */
export function paidJoinsOf(contactId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(paid_at is not null and ${isOfContact(contactId)})`;
}

/**
 * Empties in the former contact the properties with purchases that these joins have written (membership, amount and so on). A
 * value that was changed since is kept. With `before`, personal values that these joins have written become those of before. Makes all paid joins of the former contact due again: its other joins then write their
 * own purchases, and these joins write theirs if they are not linked after all. Returns a sentence for staff; null if the contact
 * does not exist any more or nothing was to be removed. Throws if HubSpot is unavailable or refuses. Must run while nothing else
 * is sent to HubSpot (fence.ts).
 */
export async function takeBack(
  deps: Deps,
  hubspot: HubspotClient,
  { contactId, joins, known, isOwn, before }: LeftContact,
): Promise<string | null> {
  const fields = await fieldsThere(deps, hubspot);
  // If the contact was merged meanwhile, HubSpot returns the remaining contact, whose id is used below.
  const present = (await hubspot.readContacts([contactId], neededProperties(fields))).get(contactId);
  if (!present) return null;
  const { id } = present;
  const isTold = (field: CrmField) => {
    const { property, write } = fields[field];
    if (property === null || write === 'never') return false;
    const there = present.properties[property] ?? '';
    return known.some(({ [field]: told }) => told && isSame(there, told));
  };
  const standing = joinFields.filter(isTold);
  const given = before ? contactFields.filter((field) => isTold(field) && before[field] !== undefined) : [];
  if (standing.length + given.length === 0) return null;
  // Makes the joins due before the contact is updated below, so that they are sent again even if this process dies. The update
  // also empties equal values of the contact's other joins, so all its paid joins become due.
  const { rows: due } = await sql<{ uuid: string }>`
    update join_session set crm_known = crm_known - ${standing}::text[], ${hubspotIsToHear} where ${paidJoinsOf(sql`${id}`)} returning uuid`.execute(
    deps.database,
  );
  const properties = Object.fromEntries([
    ...standing.map((field) => [fields[field].property!, '']),
    ...given.map((field) => [fields[field].property!, String(before![field] ?? '')]),
  ]);
  const outcome = (await hubspot.updateContacts([{ mark: id, id, properties }])).get(id);
  if (outcome?.kind !== 'written')
    throw new CrmRefused(400, `HubSpot did not take the change of contact ${id}.`);
  await deps.contacts.refresh(id);
  if (due.some(({ uuid }) => !joins.includes(uuid)))
    return `Contact ${id}, with the same email, is of another join, too: it is told again what that one has bought.`;
  return isOwn
    ? `Contact ${id}, which the join had created, says nothing of it any more. Merge it in HubSpot, or delete it.`
    : `Contact ${id}, with the same email, says nothing of the join any more.`;
}
