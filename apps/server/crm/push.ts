import { EMAIL, paidByMember, project } from '#core/crmProjection.ts';
import { repeat } from '../platform/background.ts';
import { createAll, lookAgain } from './createContacts.ts';
import { type Delivered, type Delivery, delivered, intend, postpone, refuse, takeDue } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { tellingHubspot } from './fence.ts';
import { fieldsThere } from './fieldsThere.ts';
import { lookAtContacts } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { neededProperties } from './hubspot/properties.ts';
import { memberAlready } from './memberAlready.ts';
import { conclude, write } from './writeContacts.ts';

const INTERVAL_MS = 2_000;

/** Starts sending the persons who are due to HubSpot, repeatedly, each with the values of the moment of sending. */
export function startPushing(deps: Deps): () => Promise<void> {
  return repeat('push joins to HubSpot', INTERVAL_MS, deps.log, async () => (await pushDue(deps)).more);
}

/**
 * Takes a batch of persons who are due, reads their contacts and writes what has changed. Takes nobody while calls to HubSpot are
 * paused or a person is being erased. Returns how many were taken, and whether that was a full batch (`more`).
 */
export async function pushDue(deps: Deps): Promise<{ taken: number; more: boolean }> {
  const nothing = { taken: 0, more: false };
  if ((await deps.crmBudget.blockedMs('call')) > 0) return nothing;
  return (await tellingHubspot(deps.database, () => pushTaken(deps))) ?? nothing;
}

async function pushTaken(deps: Deps): Promise<{ taken: number; more: boolean }> {
  const { rows, size } = await takeDue(deps);
  if (rows.length === 0) return { taken: 0, more: false };
  try {
    const fields = await fieldsThere(deps);
    const work = { ...deps, society: { ...deps.society, crm: { ...deps.society.crm, fields } } };
    if (rows[0]!.contactId === null) await createAll(work, rows);
    else await updateAll(work, rows);
  } catch (error) {
    // HubSpot does not say which contact of a batch it refuses to read, so a person is refused only if they were alone in the
    // batch.
    if (error instanceof CrmRefused && rows.length === 1)
      await refuse(deps, [{ personId: rows[0]!.personId, reason: error.message }]);
    else if (error instanceof CrmRefused) await postpone(deps, rows, { perhapsRecord: true });
    else if (error instanceof CrmUnavailable) await postpone(deps, rows, error);
    else throw error;
  }
  return { taken: rows.length, more: rows.length === size };
}

/**
 * Updates existing contacts, after reading them. If a contact is merged or deleted in between, the person stays due, and the next
 * try reads the contact again.
 */
async function updateAll(deps: Deps, rows: readonly Delivery[]): Promise<void> {
  const more = [...neededProperties(deps.society.crm.fields), EMAIL];
  const ids = rows.map(({ contactId }) => contactId!);
  const present = await lookAtContacts(deps, ids, { more });
  const isThere = ({ contactId }: Delivery) => present.get(contactId!)?.id === contactId;
  const { there = [], lost = [] } = Object.groupBy(rows, (row) => (isThere(row) ? 'there' : 'lost'));
  await lookAgain(deps, lost);
  const planned = there.map((row) => plan(deps, row, present.get(row.contactId!)!.properties));
  const { changes = [], nothing = [] } = Object.groupBy(planned, ({ properties }) =>
    Object.keys(properties).length > 0 ? 'changes' : 'nothing',
  );
  await delivered(deps, nothing);
  await intend(deps, changes);
  await conclude(deps, await write(deps, changes));
}

/** Returns what is written into the contact of a person. `present` are the contact's properties in HubSpot. */
function plan({ society }: Deps, row: Delivery, present: CrmContact['properties']): Delivered {
  const { fields } = society.crm;
  const paid = row.mayHaveBeenMember ? paidByMember(fields, row, present) : null;
  const notices = paid ? [memberAlready(paid.uuid, row.contactId!)] : [];
  return { row, ...project(fields, row, present), notices };
}
