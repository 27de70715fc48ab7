import { sql } from 'kysely';
import { contactFields } from '#core/contact.ts';
import {
  type CrmField,
  type CrmValues,
  type FieldRules,
  type FieldValue,
  isSame,
  mustRead,
  propertiesForUnproven,
  propertiesToSend,
  tellsPayment,
} from '#core/crmFields.ts';
import { operatorRefund } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import { type BatchOutcome, type BatchWrite, existingId } from '../providers/hubspot/batches.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { crmValue, isMember, MEMBER, neededProperties } from '../providers/hubspot/properties.ts';
import { requireSameAccount } from './account.ts';
import { crmId, unknownContact, whose } from './crmId.ts';
import {
  type ContactOfJoin,
  type DueJoin,
  delivered,
  EMAIL,
  later,
  noteContacts,
  type Planned,
  postpone,
  propertiesOfNamed,
  type Refused,
  refuse,
  takeDue,
  valuesOf,
} from './dueJoins.ts';
import { tellingHubspot } from './fence.ts';
import { fieldsThere } from './fieldsThere.ts';
import { lookAtContacts } from './followContacts.ts';
import { memberAlready } from './memberAlready.ts';

const INTERVAL_MS = 2_000;
/** Kinds of notices: the contact with the join's email is not proven to be the joiner; HubSpot refuses the email. */
const UNPROVEN = 'unproven_contact';
const EMAIL_REFUSED = 'email_refused';
/** Kind of notice: a paid join has no contact in HubSpot, and no student details to create one from. */
const CONTACT_GONE = 'contact_gone';

/**
 * Starts to send due joins to HubSpot repeatedly, each with the values that it has when it is sent. A join is due while its
 * `profile_revision` differs from its `crm_revision`.
 */
export function startPushing(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat(
    'push joins to HubSpot',
    INTERVAL_MS,
    deps.log,
    async () => (await pushDue(deps, hubspot)).more,
  );
}

/**
 * Takes a batch of due joins with the same kind of contact (`whose`) and sends them in one request, or in two if HubSpot's values
 * must be read first. Other processes take other joins. Takes none while requests to HubSpot are paused, a person is being erased
 * or a join is being linked. Returns how many joins were taken, and whether that was a full batch (`more`).
 */
export async function pushDue(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  const nothing = { taken: 0, more: false };
  if ((await deps.crmBudget.blockedMs('call')) > 0) return nothing;
  return (await tellingHubspot(deps.database, () => pushTaken(deps, hubspot))) ?? nothing;
}

async function pushTaken(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  const rows = await takeDue(deps);
  if (rows.length === 0) return { taken: 0, more: false };
  try {
    if (rows[0]!.whose === 'new') await createAll(deps, hubspot, rows);
    else await updateAll(deps, hubspot, rows);
  } catch (error) {
    // If HubSpot refuses to read a batch, it does not say which contact is the reason. So a join is refused only if it was alone
    // in its batch.
    if (error instanceof CrmRefused && rows.length === 1)
      await refuse(deps, [{ uuid: rows[0]!.uuid, reason: error.message }]);
    else if (error instanceof CrmRefused)
      await postpone(deps, rows, { retryAfterMs: 0, perhapsRecord: true });
    else if (error instanceof CrmUnavailable) await postpone(deps, rows, error);
    else throw error;
  }
  return { taken: rows.length, more: rows.length === rows[0]!.size };
}

/**
 * Updates existing contacts in one call. HubSpot refuses a batch in which a contact occurs twice, so of several joins of one
 * contact all but one wait for the next batch.
 */
async function updateAll(deps: Deps, hubspot: HubspotClient, rows: readonly DueJoin[]): Promise<void> {
  const fields = await fieldsThere(deps, hubspot);
  const byId = new Map(rows.map((row) => [row.crm_id!, row]));
  await later(
    deps,
    rows.filter((row) => byId.get(row.crm_id!) !== row),
  );
  const due = [...byId.values()].map((row) => ({ row, values: valuesOf(row) }));
  const toRead = due.filter(({ row, values }) =>
    row.whose === 'shared'
      ? values.some(({ field }) => field === 'paidAt')
      : row.has_others || row.may_have_been_member || mustRead(fields, values, row.crm_known),
  );
  const present = await readOf(hubspot, fields, toRead);
  const gone = toRead.filter(({ row }) => present.get(row.crm_id!)?.id !== row.crm_id);
  await follow(
    deps,
    hubspot,
    gone.map(({ row }) => row),
  );
  const planned = due
    .filter((join) => !gone.includes(join))
    .map(({ row, values }) => plan(fields, row, values, present.get(row.crm_id!)?.properties ?? null));
  const nothing = planned.filter(({ properties }) => Object.keys(properties).length === 0);
  await delivered(deps, nothing);
  const { sent, outcomes } = await write(
    fields,
    planned.filter((change) => !nothing.includes(change)),
    hubspot.updateContacts,
  );
  await conclude(deps, sent, outcomes);
  // If a contact was merged, HubSpot answers its update under the id of the remaining contact, or not at all. If HubSpot still
  // has an unanswered contact under its own id, the join stays due.
  const unanswered = sent.filter(({ row }) => !outcomes.has(row.uuid));
  const presentNow = await readOf(hubspot, fields, unanswered);
  const moved = sent.filter(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome === undefined ? presentNow.get(row.crm_id!)?.id !== row.crm_id : outcome.kind === 'gone';
  });
  await follow(
    deps,
    hubspot,
    moved.map(({ row }) => row),
  );
}

/** Reads the contacts of joins from HubSpot. The map's keys are the joins' `crm_id`, even if the contact was merged. */
async function readOf(
  hubspot: HubspotClient,
  fields: FieldRules,
  joins: readonly { row: DueJoin }[],
): Promise<Map<string, CrmContact>> {
  const ids = joins.map(({ row }) => row.crm_id!);
  return ids.length === 0 ? new Map() : hubspot.readContacts(ids, neededProperties(fields));
}

/**
 * Handles joins whose contact turned out to be merged or deleted. They become due again: for the contact that remains after the
 * merge, or for a new contact. A join that is being paid waits a minute, because it cannot be moved to another contact until the
 * payment has ended ({@link lookAtContacts}). A join whose named contact HubSpot never had is refused.
 */
async function follow(deps: Deps, hubspot: HubspotClient, rows: readonly DueJoin[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = [...new Set(rows.map(({ crm_id }) => crm_id!))];
  await lookAtContacts(deps.database, hubspot, deps.society.crm.fields, ids);
  const before = JSON.stringify(rows.map(({ uuid, crm_id }) => ({ uuid, crm_id })));
  await sql`
    with session as (
      select uuid, person_id, ${crmId} as crm_id, ${whose} as whose from join_session where uuid = any(${rows.map(({ uuid }) => uuid)})
      order by uuid for no key update
    ), stays as (
      select session.uuid, session.crm_id, session.person_id, whose = 'shared' or made_contact as is_unnamed, merged_into is not null as is_merged
      from session join json_to_recordset(${before}::json) as before (uuid uuid, crm_id text) using (uuid) join person on person.id = session.person_id
      where session.crm_id = before.crm_id
    ), detached as (
      update person set found_contact_id = null from stays where person.id = stays.person_id and is_unnamed
    )
    update join_session set crm_next_try_at = now() + case when stays.is_merged then interval '1 minute' else interval '0' end,
      crm_refusal = case when stays.uuid is null or stays.is_unnamed or stays.is_merged then null else ${unknownContact(sql`stays.crm_id`)} end
    from session left join stays using (uuid)
    where join_session.uuid = session.uuid`.execute(deps.database);
}

/** Returns the properties to send for a join. `present` are the contact's properties in HubSpot; null if they were not read. */
function plan(
  fields: FieldRules,
  row: DueJoin,
  values: FieldValue[],
  present: CrmContact['properties'] | null,
): Planned {
  if (row.whose !== 'shared') {
    const properties = propertiesOfNamed(fields, row, values, present);
    const notice = present && wasMember(fields, row, present) ? memberAlready(row.uuid, row.crm_id!) : null;
    return { row, properties, known: knownAfter(fields, values), notice };
  }
  const { properties, written, statusInTheWay } = propertiesForUnproven(
    fields,
    values,
    row.crm_known,
    present ?? {},
    row.details,
  );
  const notice = statusInTheWay === null ? null : toldInTheWay(row, statusInTheWay);
  return { row, properties, known: written, notice };
}

/**
 * Whether the contact was a member in HubSpot before this join was paid. If HubSpot has the time of this payment, the join itself
 * has sent the status, and the server died before recording that it was sent.
 */
function wasMember(fields: FieldRules, row: DueJoin, present: CrmContact['properties']): boolean {
  const heldPaidAt = crmValue(fields, present, 'paidAt') ?? '';
  return (
    row.may_have_been_member &&
    row.status !== null &&
    isMember(fields, present) &&
    !tellsPayment(heldPaidAt, row.paid_at!.toISOString())
  );
}

/**
 * Returns the values to record as sent. A field that has no property in HubSpot is left out, to be sent once the property exists.
 */
function knownAfter(fields: FieldRules, values: readonly FieldValue[]): CrmValues {
  return Object.fromEntries(
    values.flatMap(({ field, value }) => (fields[field].property === null ? [] : [[field, value]])),
  );
}

/**
 * Returns the notice that a paid join has the email of a contact, and that the contact's status was left as it was. If the status
 * is `member` and was not sent for this payer ({@link mayBeTheirStatus}), the person may have paid twice. Otherwise staff may
 * link the join to the contact.
 */
function toldInTheWay({ uuid, crm_id, may_be_their_status }: DueJoin, status: string): Planned['notice'] {
  const what = `Join ${uuid} is paid and has the email of contact ${crm_id}, whose status in HubSpot is "${status}" and was left so.`;
  const repair =
    status === MEMBER && !may_be_their_status
      ? `If it is the same person, they have paid twice: ${operatorRefund(uuid, '--upgrade', '--items all')}`
      : `Check whether it is the same person; then, or with the contact that is: npm run operator -- person merge ${uuid} ${crm_id}`;
  return { kind: UNPROVEN, message: `${what} ${repair}` };
}

/**
 * Creates contacts for joins without one. If HubSpot already has a contact with the join's email, that contact is read and
 * recorded instead; this join may have created it just before a crash.
 */
async function createAll(deps: Deps, hubspot: HubspotClient, rows: readonly DueJoin[]): Promise<void> {
  const emailOf = (row: DueJoin) => row.details?.personalEmail.toLowerCase();
  const fields = await fieldsThere(deps, hubspot);
  // No contact can be created without student details. A join without them and without a membership or upgrade counts as
  // delivered.
  const withoutDetails = rows.filter((row) => !emailOf(row));
  await delivered(
    deps,
    withoutDetails
      .filter(({ is_nameless }) => !is_nameless)
      .map((row) => ({ row, properties: {}, known: {}, notice: null })),
  );
  // If two joins have the same email, as siblings may, one join waits for the next batch. There it finds the contact that the
  // other join has created.
  const byEmail = new Map(rows.flatMap((row) => (emailOf(row) ? [[emailOf(row)!, row] as const] : [])));
  await later(
    deps,
    rows.filter((row) => emailOf(row) && byEmail.get(emailOf(row)!) !== row),
  );
  const planned = [...byEmail].map(([email, row]) => {
    const values = valuesOf(row);
    const properties = { email, ...propertiesToSend(fields, values, {}, {}) };
    return { row, properties, known: knownAfter(fields, values), notice: null };
  });
  if (planned.length > 0) await requireSameAccount(deps.database, hubspot);
  const { sent, outcomes } = await write(fields, planned, hubspot.createContacts);
  const taken = sent.flatMap((change) => {
    const outcome = outcomes.get(change.row.uuid);
    return outcome?.kind === 'conflict' ? [{ ...change, email: emailOf(change.row)!, id: outcome.id }] : [];
  });
  const created = sent.flatMap(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'written' ? [{ row, contactId: outcome.id, isOwn: true }] : [];
  });
  // The new contacts are recorded before any further call to HubSpot. Otherwise, after a crash, a contact that was created without
  // its email could not be found, and would be created again.
  await noteContacts(deps, created);
  await noteContacts(deps, await lookAtTaken(hubspot, fields, taken));
  await later(
    deps,
    taken.map(({ row }) => row),
  );
  await conclude(
    deps,
    sent.filter(({ row }) => outcomes.get(row.uuid)?.kind !== 'conflict'),
    outcomes,
  );
  await refuseNameless(deps, hubspot, withoutDetails);
}

/**
 * Refuses the joins among `rows` that hold a membership or upgrade and have neither student details nor a contact. Staff can link
 * such a join to a contact. A join that has a contact again is sent instead. There are two ways to get one again: the contact
 * that was named for the join was deleted and has been restored in HubSpot, or the contact that the join shared with another join
 * was replaced by a contact that was created for that other join ({@link noteContacts}).
 */
async function refuseNameless(deps: Deps, hubspot: HubspotClient, rows: readonly DueJoin[]): Promise<void> {
  const nameless = rows.filter(({ is_nameless }) => is_nameless);
  if (nameless.length === 0) return;
  const uuids = nameless.map(({ uuid }) => uuid);
  const { rows: named } = await sql<{ id: string }>`
    select distinct contact_id as id from join_session join person on person.id = person_id
    where uuid = any(${uuids}::uuid[]) and contact_id is not null`.execute(deps.database);
  await lookAtContacts(
    deps.database,
    hubspot,
    deps.society.crm.fields,
    named.map(({ id }) => id),
  );
  const { rows: without } = await sql<{ uuid: string }>`
    select uuid from join_session where uuid = any(${uuids}::uuid[]) and ${whose} = 'new'`.execute(
    deps.database,
  );
  const refused = without.map(({ uuid }) => uuid);
  await refuse(deps, refused.map(refusalOfNameless));
  await later(
    deps,
    nameless.filter(({ uuid }) => !refused.includes(uuid)),
  );
}

/**
 * The refusal of a join that bought something, but has neither a contact nor student details. This happens, for example, if the
 * join was begun by a link to a contact that was deleted later.
 */
function refusalOfNameless(uuid: string): Refused {
  const reason = 'HubSpot has no contact of this join, and without details none can be created.';
  return {
    uuid,
    reason,
    notice: {
      kind: CONTACT_GONE,
      message: `Join ${uuid} is paid, but HubSpot is not told of it. ${reason} If it was deleted there, restore it, then: npm run operator -- contacts retry ${uuid}. Or name the contact that is the same person: npm run operator -- person merge ${uuid} CONTACT`,
    },
  };
}

/**
 * Reads the existing contact with the email of each join, and finds out whether the join itself created that contact. If the
 * contact has disappeared meanwhile, the join is left out, and creates a contact with the next batch.
 */
async function lookAtTaken(
  hubspot: HubspotClient,
  fields: FieldRules,
  taken: readonly (Planned & { email: string; id: string | null })[],
): Promise<ContactOfJoin[]> {
  if (taken.length === 0) return [];
  const ids = taken.flatMap(({ id }) => id ?? []);
  const wanted = neededProperties(fields);
  const known = ids.length === 0 ? new Map() : await hubspot.readContacts(ids, wanted);
  const contacts: ContactOfJoin[] = [];
  for (const change of taken) {
    const id = change.id ?? (await hubspot.findByEmail(change.email))?.id;
    const existing: CrmContact | undefined =
      id === undefined ? undefined : (known.get(id) ?? (await hubspot.readContacts([id], wanted)).get(id));
    if (existing)
      contacts.push({ row: change.row, contactId: existing.id, isOwn: isOurs(fields, change, existing) });
  }
  return contacts;
}

/**
 * Whether this join created the contact, and the server died before recording that. True if the contact is younger than the join,
 * and has all values of contact fields that the join would write. A name alone proves nothing, since somebody else may have typed
 * it.
 */
function isOurs(fields: FieldRules, { row, properties }: Planned, existing: CrmContact): boolean {
  return (
    new Date(existing.createdAt) >= row.created_at &&
    contactFields.every((field) => {
      const { property } = fields[field];
      const value = property === null ? undefined : properties[property];
      return value === undefined || isSame(existing.properties[property!] ?? '', value);
    })
  );
}

type Send = (part: readonly BatchWrite[]) => Promise<Map<string, BatchOutcome>>;

/**
 * Sends the planned changes. If HubSpot refuses a join's email, or another contact has that email, sends the join's other
 * properties without the email, and staff get a notice. `sent` lacks changes that were not sent because HubSpot was unavailable.
 */
async function write(
  fields: FieldRules,
  planned: readonly Planned[],
  send: Send,
): Promise<{ sent: Planned[]; outcomes: Map<string, BatchOutcome> }> {
  const outcomes = await eachAsFarAsPossible(planned.map(writeOf), send);
  const sent: Planned[] = [];
  for (const change of planned) {
    const { uuid, crm_id } = change.row;
    const outcome = outcomes.get(uuid);
    const isTaken = outcome?.kind === 'conflict' && crm_id !== null;
    const isRefused = outcome?.kind === 'refused' && outcome.isEmail;
    if (!(isTaken || isRefused) || !(EMAIL in change.properties)) {
      sent.push(change);
      continue;
    }
    const rest = withoutEmail(fields, change);
    outcomes.delete(uuid);
    try {
      // Each of these joins is sent in a batch of its own. The results of a larger batch would not show which new contact without
      // an email belongs to which join.
      const again = (await eachAsFarAsPossible([writeOf(rest)], send)).get(uuid);
      if (again) outcomes.set(uuid, again);
      const notice = isTaken ? emailTaken(uuid, crm_id, outcome.id) : null;
      sent.push(
        again?.kind === 'written' ? { ...rest, notice: notice ?? emailRefused(uuid, again.id) } : rest,
      );
    } catch (error) {
      // HubSpot is unavailable: this join is due again in a minute. The other joins have been sent.
      if (!(error instanceof CrmUnavailable)) throw error;
    }
  }
  return { sent, outcomes };
}

function writeOf({ row, properties }: Planned): BatchWrite {
  return { mark: row.uuid, id: row.crm_id, properties };
}

function withoutEmail(fields: FieldRules, { properties, known, ...planned }: Planned): Planned {
  const { [EMAIL]: _, ...rest } = properties;
  const isOther = ([field]: [string, string]) => fields[field as CrmField].property !== EMAIL;
  return { ...planned, properties: rest, known: Object.fromEntries(Object.entries(known).filter(isOther)) };
}

function emailRefused(uuid: string, contactId: string): Planned['notice'] {
  return {
    kind: EMAIL_REFUSED,
    message: `HubSpot does not take the email of join ${uuid}. All else of it is in contact ${contactId}: correct the email there.`,
  };
}

function emailTaken(uuid: string, contactId: string, otherId: string | null): Planned['notice'] {
  const other = otherId === null ? 'another contact' : `contact ${otherId}`;
  return {
    kind: EMAIL_REFUSED,
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

async function conclude(
  deps: Deps,
  sent: readonly Planned[],
  outcomes: ReadonlyMap<string, BatchOutcome>,
): Promise<void> {
  await delivered(
    deps,
    sent.filter(({ row }) => outcomes.get(row.uuid)?.kind === 'written'),
  );
  const refused = sent.flatMap(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'refused' ? [{ uuid: row.uuid, reason: outcome.reason }] : [];
  });
  await refuse(deps, refused);
}
