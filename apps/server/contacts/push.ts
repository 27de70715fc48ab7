import { sql } from 'kysely';
import { contactFields } from '#core/contact.ts';
import { type CrmField, type CrmValues, type FieldRules, isSame, tellsPayment } from '#core/crmFields.ts';
import { compareNames, EMAIL, lastPaid, project, projectNew, type Told } from '#core/crmProjection.ts';
import { likenessOf } from '#core/personKeys.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import { type BatchOutcome, type BatchWrite, existingId } from '../providers/hubspot/batches.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import {
  crmValue,
  isMember,
  namesAt,
  neededProperties,
  readProperties,
} from '../providers/hubspot/properties.ts';
import { alikeTo } from '../session/alike.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import { unknownContact } from './crmId.ts';
import {
  type ContactOfPerson,
  type Delivered,
  type Delivery,
  delivered,
  idsOf,
  later,
  locked,
  noteContacts,
  postpone,
  type Refused,
  refuse,
  takeDue,
} from './deliveries.ts';
import { tellingHubspot } from './fence.ts';
import { fieldsThere } from './fieldsThere.ts';
import { lookAtContacts } from './followContacts.ts';
import { memberAlready } from './memberAlready.ts';

const INTERVAL_MS = 2_000;
/** Kind of notice: HubSpot does not take the email of a join, or has another contact with it. */
const EMAIL_REFUSED = 'email_refused';
/** Kind of notice: a member has no contact in HubSpot, and no student details to create one from. */
const CONTACT_GONE = 'contact_gone';
const NOT_UNIQUE = 'Another contact has a value that HubSpot wants to be unique.';

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
  const { sent, outcomes } = await write(
    fields,
    planned.filter((change) => !nothing.includes(change)),
    hubspot,
    hubspot.updateContacts,
  );
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

type WithDetails = Delivery & { own: Told & { details: StudentDetails } };
type New = Delivered & { row: WithDetails };

/**
 * Gives persons without a contact one: that of somebody who is likely the same, otherwise a new one. If HubSpot has a contact with the
 * email already, it is theirs if we created it just before a crash; they are attached to it if it has their name or none; otherwise they
 * get a contact of their own, in which the email is but a second property.
 */
async function createAll(deps: Deps, hubspot: HubspotClient, rows: readonly Delivery[]): Promise<void> {
  const fields = await fieldsThere(deps, hubspot);
  const holds = ({ own }: Delivery) => own.holdsMembership || own.holdsUpgrade;
  // A contact that was deleted is made anew for those alone who hold something.
  const wanted = rows.filter((row) => holds(row) || (!row.isDeleted && row.own.details !== null));
  const isComplete = (row: Delivery): row is WithDetails =>
    row.own.details !== null && row.own.joins.length > 0;
  const complete = wanted.filter(isComplete);
  const nameless = wanted.filter((row) => !isComplete(row) && holds(row));
  const done = rows.filter((row) => !nameless.includes(row) && !(complete as Delivery[]).includes(row));
  await delivered(
    deps,
    done.map((row) => ({ row, properties: {}, sent: {}, notices: [] })),
  );
  const attached = await contactsOfAlike(deps, complete);
  await noteContacts(deps, attached);
  const without = complete.filter((row) => !attached.some((one) => one.row === row));
  // Of persons with the same email, as siblings may have, one waits for the next batch. There they find the contact that the other
  // has created.
  const byEmail = new Map(without.map((row) => [emailOf(row), row]));
  await later(
    deps,
    without.filter((row) => byEmail.get(emailOf(row)) !== row),
  );
  const planned = [...byEmail.values()].map((row) => ({ row, ...projectNew(fields, row.own), notices: [] }));
  if (planned.length > 0) await requireSameAccount(deps.database, hubspot);
  const { sent, outcomes } = await write(fields, planned, hubspot, hubspot.createContacts);
  // The new contacts are recorded before any further call to HubSpot. Otherwise, after a crash, a contact that was created without
  // its email could not be found, and would be created again.
  await noteCreated(deps, sent, outcomes);
  const isTaken = (change: Delivered) => outcomes.get(markOf(change.row))?.kind === 'conflict';
  await conclude(
    deps,
    sent.filter((change) => !isTaken(change)),
    outcomes,
  );
  for (const change of sent.filter(isTaken)) await createBeside(deps, hubspot, fields, change, outcomes);
  await refuseNameless(deps, hubspot, nameless);
}

const emailOf = (row: WithDetails) => row.own.details.personalEmail.toLowerCase();

async function noteCreated(
  deps: Deps,
  sent: readonly Delivered[],
  outcomes: ReadonlyMap<string, BatchOutcome>,
): Promise<void> {
  const created = sent.flatMap(({ row }) => {
    const outcome = outcomes.get(markOf(row));
    return outcome?.kind === 'written' ? [{ row, contactId: outcome.id, isOwn: true }] : [];
  });
  await noteContacts(deps, created);
}

/** Returns the contacts of those who are likely the same as these persons. */
async function contactsOfAlike(deps: Deps, rows: readonly WithDetails[]): Promise<ContactOfPerson[]> {
  const { rows: found } = await sql<{ id: number; contactId: string }>`
    select person.id, min(other.contact_id) as "contactId"
    from unnest(${idsOf(rows)}::bigint[]) as person (id), lateral ${alikeTo(sql`person.id`)} as alike (id) join person other on other.id = alike.id
    where other.id <> person.id and other.contact_id is not null and other.deleted_at is null and other.merged_into is null
      and (other.fetched_at is not null or other.made_contact)
    group by person.id`.execute(deps.database);
  return found.map(({ id, contactId }) => ({
    row: rows.find(({ personId }) => personId === id)!,
    contactId,
    isOwn: false,
  }));
}

/** Decides about a person whose email HubSpot has at another contact: see {@link createAll}. */
async function createBeside(
  deps: Deps,
  hubspot: HubspotClient,
  fields: FieldRules,
  change: New,
  outcomes: ReadonlyMap<string, BatchOutcome>,
): Promise<void> {
  const { row } = change;
  const outcome = outcomes.get(markOf(row));
  const named = outcome?.kind === 'conflict' ? outcome.id : null;
  const wanted = [...new Set([...neededProperties(fields), ...readProperties(fields)])];
  const id = named ?? (await hubspot.findByEmail(emailOf(row)))?.id;
  const existing = id === undefined ? undefined : (await hubspot.readContacts([id], wanted)).get(id);
  // It has disappeared meanwhile: they get a contact with the next batch.
  if (!existing) return later(deps, [row]);
  const isOwn = isOurs(fields, change, existing);
  if (isOwn || (await isLikelyTheirs(deps, fields, row, existing))) {
    const { rows: mirrored } = await sql`select from person where contact_id = ${existing.id}`.execute(
      deps.database,
    );
    if (!isOwn && mirrored.length === 0)
      await keepContacts(deps.database, deps.society.crm.fields, [existing]);
    await noteContacts(deps, [{ row, contactId: existing.id, isOwn }]);
    await later(deps, [row]);
    return;
  }
  const { sent, outcomes: beside } = await write(
    fields,
    [withoutEmail(fields, change)],
    hubspot,
    hubspot.createContacts,
  );
  await noteCreated(deps, sent, beside);
  await conclude(deps, sent, beside);
}

/** Whether a contact with the email of a person has their name or none, and nobody says that it is somebody else's. */
async function isLikelyTheirs(
  deps: Deps,
  fields: FieldRules,
  { personId, own }: WithDetails,
  { id, properties }: CrmContact,
): Promise<boolean> {
  const names = compareNames(namesAt(fields, properties), own.details);
  if (names === 'other') return false;
  // A contact without a name is whose it was first.
  const { rows } = await sql`
    select from person other where (contact_id = ${id} or found_contact_id = ${id}) and other.id <> ${personId} and (
      exists (select from kept_apart where one_id = least(other.id, ${personId}) and other_id = greatest(other.id, ${personId}))
      or ${names === 'none'} and details is not null and likeness is distinct from ${likenessOf(own.details)})`.execute(
    deps.database,
  );
  return rows.length === 0;
}

/**
 * Refuses persons who hold something and have neither student details nor a contact, as after a link to a contact that was deleted
 * later. Staff can merge them with a contact. Who has a contact again, since it was restored in HubSpot, is sent instead.
 */
async function refuseNameless(
  deps: Deps,
  hubspot: HubspotClient,
  nameless: readonly Delivery[],
): Promise<void> {
  if (nameless.length === 0) return;
  const ids = sql`any(${idsOf(nameless)}::bigint[])`;
  const { rows: named } = await sql<{ id: string }>`
    select contact_id as id from person where id = ${ids} and contact_id is not null`.execute(deps.database);
  await lookAtContacts(
    deps.database,
    hubspot,
    deps.society.crm.fields,
    named.map(({ id }) => id),
  );
  const { rows: without } = await sql<{ id: number }>`
    select id from person where id = ${ids} and (contact_id is null or deleted_at is not null) and found_contact_id is null`.execute(
    deps.database,
  );
  const isWithout = ({ personId }: Delivery) => without.some(({ id }) => id === personId);
  await refuse(deps, nameless.filter(isWithout).map(refusalOfNameless));
  await later(
    deps,
    nameless.filter((row) => !isWithout(row)),
  );
}

function refusalOfNameless({ personId, uuid }: Delivery): Refused {
  const reason = 'HubSpot has no contact of this join, and without details none can be created.';
  return {
    personId,
    reason,
    notice: uuid
      ? {
          kind: CONTACT_GONE,
          uuid,
          message: `Join ${uuid} is paid, but HubSpot is not told of it. ${reason} If it was deleted there, restore it, then: npm run operator -- contacts retry ${uuid}. Or name the contact that is the same person: npm run operator -- person merge ${uuid} CONTACT`,
        }
      : undefined,
  };
}

/**
 * Whether we created the contact for this person, and the server died before recording that. True if the contact is younger than the
 * person's first join, and has all values of contact fields that would be written. A name alone proves nothing, since somebody else
 * may have typed it.
 */
function isOurs(fields: FieldRules, { row, properties }: Delivered, existing: CrmContact): boolean {
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
async function write<T extends Delivered>(
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
 * Looks for the contact without an email that we created for a person before the server died. Null if there is none, or this is the
 * first try.
 */
async function existingBeside(
  fields: FieldRules,
  change: Delivered,
  hubspot: HubspotClient,
): Promise<BatchOutcome | null> {
  const { contactId, tries, own } = change.row;
  const { property } = fields.personalEmail;
  if (contactId !== null || tries < 2 || property === null) return null;
  const found = await hubspot.findByProperty(property, own.details!.personalEmail);
  const made = found.find((existing) => isOurs(fields, change, existing));
  return made ? { kind: 'written', id: made.id } : null;
}

const markOf = ({ personId }: Delivery) => String(personId);

function writeOf({ row, properties }: Delivered): BatchWrite {
  return { mark: markOf(row), id: row.contactId, properties };
}

function withoutEmail<T extends Delivered>(fields: FieldRules, { properties, sent, ...planned }: T): T {
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

async function conclude(
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
