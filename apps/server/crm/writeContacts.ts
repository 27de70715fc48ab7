import { EMAIL, isOurs, withoutEmail } from '#core/crmProjection.ts';
import { type Delivered, type Delivery, delivered, type Refused, refuse } from './deliveries.ts';
import type { Deps } from './deps.ts';
import type { BatchOutcome } from './hubspot/batches.ts';
import { CrmUnavailable } from './hubspot/errors.ts';
import { type ContactOfPerson, noteContacts } from './noteContacts.ts';

/** A change that was sent, and its outcome at HubSpot; undefined if HubSpot returned none. */
export interface Sent {
  change: Delivered;
  outcome: BatchOutcome | undefined;
}

/**
 * Sends the planned changes, which all update a contact or all create one. If HubSpot refuses an email, or another contact has a
 * corrected one, sends the rest without it, and staff get a notice. The result leaves out changes that were not sent because
 * HubSpot was unavailable.
 */
export async function write(deps: Deps, planned: readonly Delivered[]): Promise<Sent[]> {
  // Contacts without an email are sent alone: the results of a larger batch would not show which of them belongs to whom.
  const isAlone = ({ row, properties }: Delivered) => row.contactId === null && !(EMAIL in properties);
  const outcomes = await send(
    deps,
    planned.filter((change) => !isAlone(change)),
  );
  const sent: Sent[] = [];
  for (const change of planned) {
    const { uuid, contactId } = change.row;
    const outcome = outcomes.get(markOf(change.row));
    const isTaken = outcome?.kind === 'conflict' && contactId !== null;
    const isRefused = outcome?.kind === 'refused' && outcome.isEmail;
    if (!isAlone(change) && !isTaken && !isRefused) {
      sent.push({ change, outcome });
      continue;
    }
    const rest = withoutEmail(deps.society.crm.fields, change);
    try {
      const again = (await existingBeside(deps, rest)) ?? (await send(deps, [rest])).get(markOf(rest.row));
      if (again?.kind === 'written' && outcome && uuid !== null) {
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

/** Looks for the contact without an email that we created for a person before the server crashed. */
async function existingBeside(deps: Deps, change: Delivered): Promise<BatchOutcome | undefined> {
  const { contactId, own } = change.row;
  const { fields } = deps.society.crm;
  const { property } = fields.personalEmail;
  if (contactId !== null || property === null) return;
  const found = await deps.hubspot.findByProperty(property, own.details!.personalEmail);
  const made = found.find((existing) => isOurs(fields, own, change, existing));
  return made && { kind: 'written', id: made.id };
}

const markOf = ({ personId }: Delivery) => String(personId);

function send({ hubspot }: Deps, changes: readonly Delivered[]): Promise<Map<string, BatchOutcome>> {
  const writes = changes.map(({ row, properties }) => ({ mark: markOf(row), id: row.contactId, properties }));
  return writes.some(({ id }) => id === null)
    ? hubspot.createContacts(writes)
    : hubspot.updateContacts(writes);
}

/**
 * Records what HubSpot has written, and the persons whose values it has refused. To be called before any further call to HubSpot:
 * after a crash, a new contact that was created without `email` could not be found by it.
 */
export async function conclude(deps: Deps, sent: readonly Sent[]): Promise<void> {
  const written: Delivered[] = [];
  const created: ContactOfPerson[] = [];
  const refused: Refused[] = [];
  for (const { change, outcome } of sent) {
    const { personId, contactId } = change.row;
    if (outcome?.kind === 'refused') refused.push({ personId, reason: outcome.reason });
    if (outcome?.kind !== 'written') continue;
    written.push(change);
    if (contactId === null) created.push({ row: change.row, contactId: outcome.id, isOwn: true });
  }
  await noteContacts(deps, created);
  await delivered(deps, written);
  await refuse(deps, refused);
}
