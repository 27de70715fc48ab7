import { sql } from 'kysely';
import { type FieldRules, tellsPayment } from '#core/crmFields.ts';
import { EMAIL, lastPaid, project } from '#core/crmProjection.ts';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import { createAll } from './createContacts.ts';
import { unknownContact } from './crmId.ts';
import {
  type Delivered,
  type Delivery,
  delivered,
  intend,
  locked,
  postpone,
  refuse,
  takeDue,
} from './deliveries.ts';
import { tellingHubspot } from './fence.ts';
import { fieldsThere } from './fieldsThere.ts';
import { lookAtContacts } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { crmValue, isMember, neededProperties } from './hubspot/properties.ts';
import { memberAlready } from './memberAlready.ts';
import { conclude, write } from './writeContacts.ts';

const INTERVAL_MS = 2_000;

/** Starts to tell HubSpot of the persons who are due, repeatedly, each with what holds when it is sent. */
export function startPushing(deps: Deps): () => Promise<void> {
  return repeat('push joins to HubSpot', INTERVAL_MS, deps.log, async () => (await pushDue(deps)).more);
}

/**
 * Takes a batch of persons who are due, reads their contacts and writes what has changed. Other processes take others. Takes none while
 * requests to HubSpot are paused, a person is being erased or a join is being linked. Returns how many were taken, and whether that
 * was a full batch (`more`).
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
    // If HubSpot refuses to read a batch, it does not say which contact is the reason. So somebody is refused only if they were alone
    // in the batch.
    if (error instanceof CrmRefused && rows.length === 1)
      await refuse(deps, [{ personId: rows[0]!.personId, reason: error.message }]);
    else if (error instanceof CrmRefused)
      await postpone(deps, rows, { retryAfterMs: 0, perhapsRecord: true });
    else if (error instanceof CrmUnavailable) await postpone(deps, rows, error);
    else throw error;
  }
  return { taken: rows.length, more: rows.length === size };
}

/**
 * Updates existing contacts in one call, after one that reads them. A contact that is merged or deleted in between is answered under
 * another id, or not at all: its person stays due, and the next try reads where it is.
 */
async function updateAll(deps: Deps, rows: readonly Delivery[]): Promise<void> {
  const properties = [...neededProperties(deps.society.crm.fields), EMAIL];
  const ids = rows.map(({ contactId }) => contactId!);
  const present = await deps.hubspot.readContacts(ids, properties);
  const isThere = ({ contactId }: Delivery) => present.get(contactId!)?.id === contactId;
  const lost = rows.filter((row) => !isThere(row));
  if (lost.length > 0) await follow(deps, lost);
  const planned = rows.filter(isThere).map((row) => plan(deps, row, present.get(row.contactId!)!.properties));
  const isChange = (one: Delivered) => Object.keys(one.properties).length > 0;
  const changes = planned.filter(isChange);
  await delivered(
    deps,
    planned.filter((one) => !isChange(one)),
  );
  await intend(deps, changes);
  await conclude(deps, await write(deps, changes));
}

/**
 * Handles persons whose contact turned out to be merged or deleted. They become due again: for the contact that remains after the
 * merge, or for a new one. Who is paying waits a minute, because they cannot be moved until the payment has ended
 * ({@link lookAtContacts}). Who names a contact that HubSpot never had is refused.
 */
async function follow(deps: Deps, rows: readonly Delivery[]): Promise<void> {
  const ids = rows.map(({ contactId }) => contactId!);
  await lookAtContacts(deps, ids);
  // Nothing is left to tell of somebody who was merged and has no join any more.
  const isOver = sql`(merged_into is not null and not exists (select from join_session where join_session.person_id = person.id))`;
  await sql`
    with ${locked(rows)}
    update crm_delivery set due_since = case when ${isOver} then null else due_since end,
      due_at = case when ${isOver} then null when merged_into is null then now() else now() + interval '1 minute' end,
      refusal = case when merged_into is null and deleted_at is null then ${unknownContact(sql`contact_id`)} end
    from locked join person on person.id = locked.person_id
    where crm_delivery.person_id = locked.person_id and due_at is not null`.execute(deps.database);
}

/** Returns what is written into the contact of a person. `present` are the contact's properties in HubSpot. */
function plan({ society }: Deps, row: Delivery, present: CrmContact['properties']): Delivered {
  const { fields } = society.crm;
  const paid = lastPaid([...row.own.joins, ...row.attached.joins]);
  const notices =
    paid && wasMember(fields, row, paid.paidAt!, present) ? [memberAlready(paid.uuid, row.contactId!)] : [];
  return { row, ...project(fields, row, present), notices };
}

/**
 * Whether the contact was a member in HubSpot before it paid. If HubSpot has the time of this payment, we have told the status, and the
 * server died before recording that.
 */
function wasMember(
  fields: FieldRules,
  { mayHaveBeenMember, own, attached }: Delivery,
  paidAt: string,
  present: CrmContact['properties'],
): boolean {
  const heldPaidAt = crmValue(fields, present, 'paidAt') ?? '';
  const holds = own.holdsMembership || attached.holdsMembership;
  return mayHaveBeenMember && holds && isMember(fields, present) && !tellsPayment(heldPaidAt, paidAt);
}
