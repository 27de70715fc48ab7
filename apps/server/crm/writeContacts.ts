import { contactFields } from '#core/contact.ts';
import { type CrmField, type CrmValues, type FieldRules, isSame } from '#core/crmFields.ts';
import { EMAIL } from '#core/crmProjection.ts';
import type { Deps } from '../deps.ts';
import { type Delivered, type Delivery, delivered, refuse } from './deliveries.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { type BatchOutcome, type BatchWrite, existingId } from './hubspot/batches.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';

/** Kind of notice: HubSpot does not take the email of a join, or has another contact with it. */
const EMAIL_REFUSED = 'email_refused';
const NOT_UNIQUE = 'Another contact has a value that HubSpot wants to be unique.';

/**
 * Whether we created the contact for this person, and the server died before recording that. True if the contact is younger than the
 * person's first join, and has all values of contact fields that would be written. A name alone proves nothing, since somebody else
 * may have typed it.
 */
export function isOurs(fields: FieldRules, { row, properties }: Delivered, existing: CrmContact): boolean {
  const [first] = row.own.joins;
  return (
    first !== undefined &&
    new Date(existing.createdAt) >= new Date(first.createdAt) &&
    contactFields.every((field) => {
      const { property } = fields[field];
      const value = property === null ? undefined : properties[property];
      return value === undefined || isSame(existing.properties[property!] ?? '', value);
    })
  );
}

type Send = (part: readonly BatchWrite[]) => Promise<Map<string, BatchOutcome>>;

/**
 * Sends the planned changes. If HubSpot refuses an email, or another contact has it that was corrected, sends the other properties
 * without the email, and staff get a notice. `sent` lacks changes that were not sent because HubSpot was unavailable.
 */
export async function write<T extends Delivered>(
  fields: FieldRules,
  planned: readonly T[],
  hubspot: HubspotClient,
  send: Send,
): Promise<{ sent: T[]; outcomes: Map<string, BatchOutcome> }> {
  // Contacts without an email are sent alone: the results of a larger batch would not show which of them belongs to whom.
  const alone = planned.filter(({ row, properties }) => row.contactId === null && !(EMAIL in properties));
  const outcomes = await eachAsFarAsPossible(
    planned.filter((change) => !alone.includes(change)).map(writeOf),
    send,
  );
  const sent: T[] = [];
  for (const change of planned) {
    const { uuid, contactId } = change.row;
    const mark = markOf(change.row);
    const outcome = outcomes.get(mark);
    const isTaken = outcome?.kind === 'conflict' && contactId !== null;
    const isRefused = outcome?.kind === 'refused' && outcome.isEmail;
    const hasEmail = EMAIL in change.properties;
    if (!alone.includes(change) && !((isTaken || isRefused) && hasEmail)) {
      sent.push(change);
      continue;
    }
    const rest = withoutEmail(fields, change);
    outcomes.delete(mark);
    try {
      const again =
        (await existingBeside(fields, rest, hubspot)) ??
        (await eachAsFarAsPossible([writeOf(rest)], send)).get(mark);
      if (again) outcomes.set(mark, again);
      if (again?.kind === 'written' && hasEmail && uuid !== null)
        rest.notices = [
          ...rest.notices,
          isTaken ? emailTaken(uuid, contactId, outcome.id) : emailRefused(uuid, again.id),
        ];
      sent.push(rest);
    } catch (error) {
      // HubSpot is unavailable: this one is due again in a minute. The others have been sent.
      if (!(error instanceof CrmUnavailable)) throw error;
    }
  }
  return { sent, outcomes };
}

/**
 * Looks for the contact without an email that we created for a person before the server died. Null if there is none.
 */
async function existingBeside(
  fields: FieldRules,
  change: Delivered,
  hubspot: HubspotClient,
): Promise<BatchOutcome | null> {
  const { contactId, own } = change.row;
  const { property } = fields.personalEmail;
  if (contactId !== null || property === null) return null;
  const found = await hubspot.findByProperty(property, own.details!.personalEmail);
  const made = found.find((existing) => isOurs(fields, change, existing));
  return made ? { kind: 'written', id: made.id } : null;
}

export const markOf = ({ personId }: Delivery) => String(personId);

function writeOf({ row, properties }: Delivered): BatchWrite {
  return { mark: markOf(row), id: row.contactId, properties };
}

export function withoutEmail<T extends Delivered>(
  fields: FieldRules,
  { properties, sent, ...planned }: T,
): T {
  const { [EMAIL]: _, ...rest } = properties;
  const isOther = ([field]: [string, string]) => fields[field as CrmField].property !== EMAIL;
  return {
    ...planned,
    properties: rest,
    sent: Object.fromEntries(Object.entries(sent).filter(isOther)) as CrmValues,
  } as T;
}

function emailRefused(uuid: string, contactId: string): Delivered['notices'][number] {
  return {
    kind: EMAIL_REFUSED,
    uuid,
    message: `HubSpot does not take the email of join ${uuid}. All else of it is in contact ${contactId}: correct the email there.`,
  };
}

function emailTaken(uuid: string, contactId: string, otherId: string | null): Delivered['notices'][number] {
  const other = otherId === null ? 'another contact' : `contact ${otherId}`;
  return {
    kind: EMAIL_REFUSED,
    uuid,
    message: `The email of join ${uuid} was corrected, and HubSpot knows ${other} by it. All else of the join is in contact ${contactId}: if it is one person, merge the two in HubSpot.`,
  };
}

/**
 * Sends a batch. If HubSpot refuses the batch as a whole, the batch is halved until the record at fault is alone and is refused,
 * so that this record does not block the others.
 */
async function eachAsFarAsPossible(
  writes: readonly BatchWrite[],
  send: Send,
): Promise<Map<string, BatchOutcome>> {
  if (writes.length === 0) return new Map();
  try {
    return await send(writes);
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    if (writes.length === 1) {
      const [{ mark, properties }] = writes as [BatchWrite];
      const { status, message, isEmail } = error;
      const outcome: BatchOutcome =
        status === 409 && EMAIL in properties
          ? { kind: 'conflict', id: existingId(message) }
          : { kind: 'refused', reason: message, isEmail };
      return new Map([[mark, outcome]]);
    }
    const half = Math.ceil(writes.length / 2);
    const first = await eachAsFarAsPossible(writes.slice(0, half), send);
    return new Map([...first, ...(await eachAsFarAsPossible(writes.slice(half), send))]);
  }
}

/** Records what HubSpot has taken, and refuses the persons whose values it does not take. */
export async function conclude(
  deps: Deps,
  sent: readonly Delivered[],
  outcomes: ReadonlyMap<string, BatchOutcome>,
): Promise<void> {
  await delivered(
    deps,
    sent.filter(({ row }) => outcomes.get(markOf(row))?.kind === 'written'),
  );
  const refused = sent.flatMap(({ row }) => {
    const outcome = outcomes.get(markOf(row));
    if (outcome?.kind === 'refused') return [{ personId: row.personId, reason: outcome.reason }];
    return outcome?.kind === 'conflict' ? [{ personId: row.personId, reason: NOT_UNIQUE }] : [];
  });
  await refuse(deps, refused);
}
