import { contactFields } from '#core/contact.ts';
import { type CrmField, type CrmValues, isSame } from '#core/crmFields.ts';
import { EMAIL } from '#core/crmProjection.ts';
import type { Deps } from '../deps.ts';
import { type Delivered, type Delivery, delivered, type Refused, refuse } from './deliveries.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { type BatchOutcome, type BatchWrite, existingId } from './hubspot/batches.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { type ContactOfPerson, noteContacts } from './noteContacts.ts';

const NOT_UNIQUE = 'Another contact has a value that HubSpot wants to be unique.';

/**
 * Whether we created the contact for this person, and the server died before recording that. True if the contact is younger than the
 * person's first join, and has all values of contact fields that would be written. A name alone proves nothing, since somebody else
 * may have typed it.
 */
export function isOurs({ society }: Deps, { row, properties }: Delivered, existing: CrmContact): boolean {
  const [first] = row.own.joins;
  return (
    first !== undefined &&
    new Date(existing.createdAt) >= new Date(first.createdAt) &&
    contactFields.every((field) => {
      const { property } = society.crm.fields[field];
      const value = property === null ? undefined : properties[property];
      return value === undefined || isSame(existing.properties[property!] ?? '', value);
    })
  );
}

/** A change that was sent, and what HubSpot has answered of it; undefined if nothing. */
export interface Sent<T extends Delivered = Delivered> {
  change: T;
  outcome: BatchOutcome | undefined;
}

/**
 * Sends the planned changes, which all update a contact or all create one. If HubSpot refuses an email, or another contact has it that
 * was corrected, sends the other properties without the email, and staff get a notice. Leaves out changes that were not sent because
 * HubSpot was unavailable.
 */
export async function write<T extends Delivered>(deps: Deps, planned: readonly T[]): Promise<Sent<T>[]> {
  // Contacts without an email are sent alone: the results of a larger batch would not show which of them belongs to whom.
  const isAlone = ({ row, properties }: T) => row.contactId === null && !(EMAIL in properties);
  const together = planned.filter((change) => !isAlone(change)).map(writeOf);
  const outcomes = await eachAsFarAsPossible(deps, together);
  const sent: Sent<T>[] = [];
  for (const change of planned) {
    const { uuid, contactId } = change.row;
    const outcome = outcomes.get(markOf(change.row));
    const isTaken = outcome?.kind === 'conflict' && contactId !== null;
    const isRefused = outcome?.kind === 'refused' && outcome.isEmail;
    const hasEmail = EMAIL in change.properties;
    if (!isAlone(change) && !((isTaken || isRefused) && hasEmail)) {
      sent.push({ change, outcome });
      continue;
    }
    const rest = withoutEmail(deps, change);
    try {
      const again = (await existingBeside(deps, rest)) ?? (await writeAlone(deps, rest));
      if (again?.kind === 'written' && hasEmail && uuid !== null) {
        const params = isTaken
          ? { contactId, isTaken, other: outcome.id }
          : { contactId: again.id, isTaken, other: null };
        rest.notices = [...rest.notices, { kind: 'email_refused', subject: uuid, params, remedy: null }];
      }
      sent.push({ change: rest, outcome: again });
    } catch (error) {
      // HubSpot is unavailable: this one is due again in a minute. The others have been sent.
      if (!(error instanceof CrmUnavailable)) throw error;
    }
  }
  return sent;
}

/** Looks for the contact without an email that we created for a person before the server died. */
async function existingBeside(deps: Deps, change: Delivered): Promise<BatchOutcome | undefined> {
  const { contactId, own } = change.row;
  const { property } = deps.society.crm.fields.personalEmail;
  if (contactId !== null || property === null) return;
  const found = await deps.hubspot.findByProperty(property, own.details!.personalEmail);
  const made = found.find((existing) => isOurs(deps, change, existing));
  return made && { kind: 'written', id: made.id };
}

async function writeAlone(deps: Deps, change: Delivered): Promise<BatchOutcome | undefined> {
  return (await eachAsFarAsPossible(deps, [writeOf(change)])).get(markOf(change.row));
}

const markOf = ({ personId }: Delivery) => String(personId);

function writeOf({ row, properties }: Delivered): BatchWrite {
  return { mark: markOf(row), id: row.contactId, properties };
}

export function withoutEmail<T extends Delivered>({ society }: Deps, planned: T): T {
  const { [EMAIL]: _, ...properties } = planned.properties;
  const isOther = ([field]: [string, string]) => society.crm.fields[field as CrmField].property !== EMAIL;
  const sent = Object.fromEntries(Object.entries(planned.sent).filter(isOther)) as CrmValues;
  return { ...planned, properties, sent };
}

/**
 * Sends a batch. If HubSpot refuses the batch as a whole, the batch is halved until the record at fault is alone and is refused,
 * so that this record does not block the others.
 */
async function eachAsFarAsPossible(
  deps: Deps,
  writes: readonly BatchWrite[],
): Promise<Map<string, BatchOutcome>> {
  const [first] = writes;
  if (!first) return new Map();
  try {
    return await (first.id === null
      ? deps.hubspot.createContacts(writes)
      : deps.hubspot.updateContacts(writes));
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    if (writes.length === 1) {
      const { status, message, isEmail } = error;
      const outcome: BatchOutcome =
        status === 409 && EMAIL in first.properties
          ? { kind: 'conflict', id: existingId(message) }
          : { kind: 'refused', reason: message, isEmail };
      return new Map([[first.mark, outcome]]);
    }
    const half = Math.ceil(writes.length / 2);
    const outcomes = await eachAsFarAsPossible(deps, writes.slice(0, half));
    return new Map([...outcomes, ...(await eachAsFarAsPossible(deps, writes.slice(half)))]);
  }
}

/**
 * Records what HubSpot has taken, and refuses the persons whose values it does not take. New contacts are to be recorded before any
 * further call to HubSpot: after a crash, a contact that was created without its email could not be found by it.
 */
export async function conclude(deps: Deps, sent: readonly Sent[]): Promise<void> {
  const written: Delivered[] = [];
  const created: ContactOfPerson[] = [];
  const refused: Refused[] = [];
  for (const { change, outcome } of sent) {
    const { row } = change;
    if (outcome?.kind === 'written') {
      written.push(change);
      if (row.contactId === null) created.push({ row, contactId: outcome.id, isOwn: true });
    } else if (outcome?.kind === 'refused') refused.push({ personId: row.personId, reason: outcome.reason });
    else if (outcome?.kind === 'conflict') refused.push({ personId: row.personId, reason: NOT_UNIQUE });
  }
  await noteContacts(deps, created);
  await delivered(deps, written);
  await refuse(deps, refused);
}
