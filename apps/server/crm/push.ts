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
import type { HubspotClient } from './hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { crmValue, isMember, neededProperties } from './hubspot/properties.ts';
import { memberAlready } from './memberAlready.ts';
import { conclude, markOf, write } from './writeContacts.ts';

const INTERVAL_MS = 2_000;

/** Starts to tell HubSpot of the persons who are due, repeatedly, each with what holds when it is sent. */
export function startPushing(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat(
    'push joins to HubSpot',
    INTERVAL_MS,
    deps.log,
    async () => (await pushDue(deps, hubspot)).more,
  );
}

/**
 * Takes a batch of persons who are due, reads their contacts and writes what has changed. Other processes take others. Takes none while
 * requests to HubSpot are paused, a person is being erased or a join is being linked. Returns how many were taken, and whether that
 * was a full batch (`more`).
 */
export async function pushDue(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  const nothing = { taken: 0, more: false };
  if ((await deps.crmBudget.blockedMs('call')) > 0) return nothing;
  return (await tellingHubspot(deps.database, () => pushTaken(deps, hubspot))) ?? nothing;
}

async function pushTaken(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  const { rows, size } = await takeDue(deps);
  if (rows.length === 0) return { taken: 0, more: false };
  try {
    if (rows[0]!.contactId === null) await createAll(deps, hubspot, rows);
    else await updateAll(deps, hubspot, rows);
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

/** Updates existing contacts in one call, after one that reads them. */
async function updateAll(deps: Deps, hubspot: HubspotClient, rows: readonly Delivery[]): Promise<void> {
  const fields = await fieldsThere(deps, hubspot);
  const present = await readOf(hubspot, fields, rows);
  const isThere = (row: Delivery) => present.get(row.contactId!)?.id === row.contactId;
  await follow(
    deps,
    hubspot,
    rows.filter((row) => !isThere(row)),
  );
  const planned = rows
    .filter(isThere)
    .map((row) => plan(fields, row, present.get(row.contactId!)!.properties));
  const nothing = planned.filter(({ properties }) => Object.keys(properties).length === 0);
  await delivered(deps, nothing);
  const changes = planned.filter((change) => !nothing.includes(change));
  await intend(deps, changes);
  const { sent, outcomes } = await write(fields, changes, hubspot, hubspot.updateContacts);
  await conclude(deps, sent, outcomes);
  // A contact that was merged since it was read is answered under the id of the one that remains, or not at all.
  const unanswered = sent.filter(({ row }) => !outcomes.has(markOf(row)));
  const presentNow = await readOf(
    hubspot,
    fields,
    unanswered.map(({ row }) => row),
  );
  const moved = sent.filter(({ row }) => {
    const outcome = outcomes.get(markOf(row));
    return outcome === undefined
      ? presentNow.get(row.contactId!)?.id !== row.contactId
      : outcome.kind === 'gone';
  });
  await follow(
    deps,
    hubspot,
    moved.map(({ row }) => row),
  );
}

/** Reads the contacts of persons from HubSpot. The map's keys are the persons' `contactId`, even if the contact was merged. */
async function readOf(
  hubspot: HubspotClient,
  fields: FieldRules,
  rows: readonly Delivery[],
): Promise<Map<string, CrmContact>> {
  const ids = rows.map(({ contactId }) => contactId!);
  return ids.length === 0 ? new Map() : hubspot.readContacts(ids, [...neededProperties(fields), EMAIL]);
}

/**
 * Handles persons whose contact turned out to be merged or deleted. They become due again: for the contact that remains after the
 * merge, or for a new one. Who is paying waits a minute, because they cannot be moved until the payment has ended
 * ({@link lookAtContacts}). Who names a contact that HubSpot never had is refused.
 */
async function follow(deps: Deps, hubspot: HubspotClient, rows: readonly Delivery[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ contactId }) => contactId!);
  await lookAtContacts(deps.database, hubspot, deps.society.crm.fields, ids);
  // Nothing is left to tell of somebody who was merged and has no join any more.
  const isOver = sql`(merged_into is not null and not exists (select from join_session where join_session.person_id = person.id))`;
  await sql`
    with ${locked(rows)}
    update crm_delivery set due_since = case when ${isOver} then null else due_since end,
      due_at = case when ${isOver} then null when merged_into is null then now() else now() + interval '1 minute' end,
      refusal = case when merged_into is null and deleted_at is null then ${unknownContact(sql`contact_id`)} end
    from locked join person on person.id = locked.person_id where crm_delivery.person_id = locked.person_id and due_at is not null`.execute(
    deps.database,
  );
}

/** Returns what is written into the contact of a person. `present` are the contact's properties in HubSpot. */
function plan(fields: FieldRules, row: Delivery, present: CrmContact['properties']): Delivered {
  const paid = lastPaid([...row.own.joins, ...row.attached.joins]);
  const notices =
    paid && wasMember(fields, row, paid.paidAt!, present)
      ? [{ uuid: paid.uuid, ...memberAlready(paid.uuid, row.contactId!) }]
      : [];
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
