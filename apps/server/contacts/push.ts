import { sql } from 'kysely';
import { contactFields } from '#core/contact.ts';
import {
  type CrmField,
  type CrmValues,
  type FieldRules,
  type FieldValue,
  isSame,
  laterFields,
  mustRead,
  propertiesForUnproven,
  propertiesToSend,
} from '#core/crmFields.ts';
import { purchasesOf } from '#core/purchases.ts';
import type { PaidOrder } from '#core/refunds.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import type { BatchOutcome, BatchWrite } from '../providers/hubspot/batches.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { fromJoin, knownOf, MEMBER, neededProperties } from '../providers/hubspot/properties.ts';
import { holdsBought, joinHolds } from '../session/members.ts';
import { crmId, whose } from './crmId.ts';
import { lookAtContacts } from './followContacts.ts';

const INTERVAL_MS = 2_000;
/** HubSpot's largest batch. */
const BATCH = 100;
const LONGEST_BACKOFF_SECONDS = 60;
/** How often a row fails in full batches. */
const FULL_TRIES = 2;
/** The kind of the notice about a contact that is not proven. */
const UNPROVEN = 'unproven_contact';
/** For so long it is believed which properties HubSpot lacks (ms). */
const LACKING_MS = 10 * 60_000;

/**
 * A join that HubSpot is to hear of. How it is written depends on whose contact it is:
 * - `named`: the invitation or link named the contact, or this join created it. It may be updated.
 * - `shared`: somebody's with the same email, who is not proven to be this joiner. What was bought is told, nothing else,
 *   and nothing is written over.
 * - `new`: a school or self-nominated join is nobody's proof of identity: a contact is created, unless the email is taken.
 */
interface Row {
  uuid: string;
  whose: 'named' | 'shared' | 'new';
  /** Null when new. */
  crm_id: string | null;
  state: string;
  details: StudentDetails | null;
  /** Of a shared contact: what this join wrote there. */
  crm_known: CrmValues;
  profile_revision: number;
  created_at: Date;
  paid_at: Date | null;
  amount_cents: number | null;
  status: 'member' | 'former' | null;
  holds_upgrade: boolean;
  orders: Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>[] | null;
  transcript_at: Date | null;
}

/** Sends joins to HubSpot, level-triggered: a row whose revisions differ is due, and what is sent is how it stands now. */
export function startPushing(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat(
    'push joins to HubSpot',
    INTERVAL_MS,
    deps.log,
    async () => (await pushDue(deps, hubspot)).more,
  );
}

/**
 * One round: takes up to a batch of due rows of one kind and sends them in one call, or two where what HubSpot holds must
 * be read first. Returns how many it took, and whether there were enough for a whole batch; another process takes others.
 * While HubSpot is left alone it takes none.
 */
export async function pushDue(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  if ((await deps.crmBudget.blockedMs('call')) > 0) return { taken: 0, more: false };
  const rows = await takeRows(deps);
  if (rows.length === 0) return { taken: 0, more: false };
  try {
    if (rows[0]!.whose === 'new') await createAll(deps, hubspot, rows);
    else await updateAll(deps, hubspot, rows);
  } catch (error) {
    if (!(error instanceof CrmUnavailable)) throw error;
    await postpone(deps, rows, error);
  }
  return { taken: rows.length, more: rows.length === rows[0]!.size };
}

/** Who paid for the `session` of a query holds a membership by another join: one of the two has gone back. */
const payerHolds = sql`exists (
    select from join_session other join membership held on held.session_uuid = other.uuid
    where other.payer = session.payer and held.type = 'membership' and held.is_held)`;
/** A {@link Row} of a join session that is named `session`; its `whose` and `crm_id` are read beside it. */
const columns = sql`session.uuid, whose, crm_id, state, details,
  crm_known, profile_revision, created_at, paid_at,
  (select sum(amount_cents - refunded_cents)::int from payment where session_uuid = session.uuid and status = 'succeeded') as amount_cents,
  (select case when bool_or(is_held) or ${holdsBought('session.contact_id', 'membership')} or ${payerHolds} then 'member' else 'former' end
    from membership where session_uuid = session.uuid and type = 'membership' having count(*) > 0) as status,
  ${joinHolds('session.uuid', 'membership_upgrade')} as holds_upgrade,
  (select json_agg(json_build_object('lines', items, 'amountCents', amount_cents, 'refunds', coalesce((
      select json_agg(json_build_object('amountCents', refund.amount_cents, 'status', refund.status, 'lines', refund.lines))
      from refund where refund.intent_id = bought.intent_id), '[]')) order by kind)
    from (select intent_id, payment.kind, payment.amount_cents, items
      from payment join order_snapshot using (session_uuid, kind, revision)
      where session_uuid = session.uuid and status = 'succeeded') as bought) as orders,
  (select min(created_at) from document where session_uuid = session.uuid and review <> 'rejected') as transcript_at`;

/**
 * Taking a row postpones it: should this process die, it is due again in a minute. Rows that failed again and again go in
 * ever smaller batches, until one that HubSpot cannot handle fails alone and holds up no other.
 */
async function takeRows(deps: Deps): Promise<(Row & { size: number })[]> {
  const { rows } = await sql<Row & { size: number }>`
    with first as (
      select ${whose} as whose, ceil(${BATCH} / power(5, greatest(0, crm_attempts - ${FULL_TRIES})))::int as size from join_session
      where profile_revision <> crm_revision and crm_refusal is null and crm_next_try_at <= now()
      order by crm_next_try_at limit 1
    ), due as (
      select uuid from join_session
      where profile_revision <> crm_revision and crm_refusal is null and crm_next_try_at <= now()
        and ${whose} = (select whose from first)
      order by crm_next_try_at limit (select size from first) for update skip locked
    ), session as (
      update join_session set crm_next_try_at = now() + interval '1 minute', crm_attempts = crm_attempts + 1
      from due where join_session.uuid = due.uuid
      returning join_session.*, ${whose} as whose, ${crmId} as crm_id
    )
    select ${columns}, (select size from first) from session`.execute(deps.database);
  return rows.map((row) => ({ ...asShown(row), size: row.size }));
}

/** As the form showed it: "TX" is the "Texas" that the member left alone. */
function asShown(row: Row): Row {
  return { ...row, crm_known: { ...row.crm_known, ...knownOf(row.crm_known) } };
}

/** What a write of one join would change now: property, what HubSpot holds, what it would hold. Null for no such join. */
export async function diffOf(
  deps: Deps,
  hubspot: HubspotClient,
  uuid: string,
): Promise<{
  contactId: string | null;
  changes: { property: string; from: string | null; to: string }[];
} | null> {
  const { rows } = await sql<Row>`
    with session as (select *, ${whose} as whose, ${crmId} as crm_id from join_session where uuid = ${uuid})
    select ${columns} from session`.execute(deps.database);
  const row = rows[0] && asShown(rows[0]);
  if (!row) return null;
  const fields = await fieldsThere(deps, hubspot);
  const values = valuesOf(row);
  const email = row.details?.personalEmail.toLowerCase();
  const found = row.crm_id === null && email ? await hubspot.findByEmail(email) : null;
  const id = row.crm_id ?? found?.id ?? null;
  const present = id === null ? null : (await hubspot.readContacts([id], neededProperties(fields))).get(id);
  const held = present?.properties ?? {};
  const isOwn = row.whose === 'named' || (row.whose === 'new' && found === null);
  const properties =
    row.whose === 'new' && !email
      ? {}
      : isOwn
        ? propertiesToSend(fields, values, row.crm_known, held)
        : propertiesForUnproven(fields, values, row.crm_known, held).properties;
  return {
    contactId: id,
    changes: Object.entries(properties)
      .map(([property, to]) => ({ property, from: held[property] ?? null, to }))
      .filter(({ from, to }) => from !== to),
  };
}

/** What was decided to be written for a join, and what is noted when HubSpot has it. */
interface Planned {
  row: Row;
  properties: Record<string, string>;
  /** What HubSpot then has, by field. */
  known: CrmValues;
  /** For staff: see {@link toldInTheWay}. */
  notice: string | null;
}

/** Contacts that are known, in one call. Two joins of one contact would be refused: the later one waits for its turn. */
async function updateAll(deps: Deps, hubspot: HubspotClient, rows: readonly Row[]): Promise<void> {
  const fields = await fieldsThere(deps, hubspot);
  const byId = new Map(rows.map((row) => [row.crm_id!, row]));
  await later(
    deps,
    rows.filter((row) => byId.get(row.crm_id!) !== row),
  );
  const due = [...byId.values()].map((row) => ({ row, values: valuesOf(row) }));
  const toRead = due.filter(({ row, values }) =>
    row.whose === 'shared' ? row.paid_at !== null : mustRead(fields, values, row.crm_known),
  );
  const present =
    toRead.length === 0
      ? new Map<string, CrmContact>()
      : await hubspot.readContacts(
          toRead.map(({ row }) => row.crm_id!),
          neededProperties(fields),
        );
  const gone = toRead.filter(({ row }) => {
    const contact = present.get(row.crm_id!);
    return contact === undefined || contact.id !== row.crm_id;
  });
  await follow(
    deps,
    hubspot,
    gone.map(({ row }) => row),
  );
  const planned = due
    .filter((one) => !gone.includes(one))
    .map(({ row, values }) => plan(fields, row, values, present.get(row.crm_id!)?.properties ?? null));
  const nothing = planned.filter(({ properties }) => Object.keys(properties).length === 0);
  await delivered(deps, nothing);
  const something = planned.filter((one) => !nothing.includes(one));
  const outcomes = await eachAsFarAsPossible(
    something.map(({ row, properties }) => ({ mark: row.uuid, id: row.crm_id, properties })),
    (part) => hubspot.updateContacts(part),
  );
  const moved = something.filter(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'gone' || (outcome?.kind === 'written' && outcome.isMerged);
  });
  await follow(
    deps,
    hubspot,
    moved.map(({ row }) => row),
  );
  await conclude(deps, something, outcomes);
}

/**
 * Joins whose contact has been merged, or is gone from HubSpot: they are sent again, to the contact that it is now, or to
 * one of their own. A contact that HubSpot never knew stays refused: staff named it.
 */
async function follow(deps: Deps, hubspot: HubspotClient, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = [...new Set(rows.map(({ crm_id }) => crm_id!))];
  await lookAtContacts(deps.database, hubspot, deps.society.crm.fields, ids);
  const before = JSON.stringify(rows.map(({ uuid, crm_id }) => ({ uuid, crm_id })));
  await sql`
    with session as (
      select uuid, contact_id is null as is_unnamed, ${crmId} as crm_id from join_session where uuid = any(${rows.map(({ uuid }) => uuid)})
    ), stays as (
      select session.uuid, session.crm_id, is_unnamed
      from session join json_to_recordset(${before}::json) as before (uuid uuid, crm_id text) using (uuid)
      where session.crm_id = before.crm_id
    )
    update join_session set crm_next_try_at = now(),
      hubspot_contact_id = case when stays.is_unnamed then null else join_session.hubspot_contact_id end,
      owns_hubspot_contact = case when stays.is_unnamed then null else join_session.owns_hubspot_contact end,
      crm_refusal = case when stays.uuid is null or stays.is_unnamed then null else 'HubSpot does not know contact ' || stays.crm_id || '.' end
    from session left join stays using (uuid)
    where join_session.uuid = session.uuid`.execute(deps.database);
}

/** `present`: what HubSpot holds, where it was read. */
function plan(
  fields: FieldRules,
  row: Row,
  values: FieldValue[],
  present: CrmContact['properties'] | null,
): Planned {
  if (row.whose !== 'shared') {
    const properties = propertiesToSend(fields, values, row.crm_known, present);
    return { row, properties, known: knownAfter(fields, values), notice: null };
  }
  const { properties, written, statusInTheWay } = propertiesForUnproven(
    fields,
    values,
    row.crm_known,
    present ?? {},
  );
  const notice = statusInTheWay === null ? null : toldInTheWay(row, statusInTheWay);
  return { row, properties, known: written, notice };
}

/** A field that HubSpot lacks is told when it has it. */
function knownAfter(fields: FieldRules, values: readonly FieldValue[]): CrmValues {
  return Object.fromEntries(
    values.flatMap(({ field, value }) => (fields[field].property === null ? [] : [[field, value]])),
  );
}

function toldInTheWay({ uuid, crm_id }: Row, status: string): string {
  return `Join ${uuid} is paid and has the email of contact ${crm_id}, whose status in HubSpot is "${status}" and was left so. Check whether it is the same person; then, or with the contact that is: npm run operator -- contacts link ${uuid} ${crm_id}`;
}

const lackingOf = new WeakMap<HubspotClient, { fields: readonly CrmField[]; until: number }>();

/**
 * The society's table of fields, without those that came later and that HubSpot has no property for: a join is told
 * without them. HubSpot is asked now and then; the doctor says what is to be made there.
 */
async function fieldsThere({ society, now }: Deps, hubspot: HubspotClient): Promise<FieldRules> {
  const rules = society.crm.fields;
  let lacking = lackingOf.get(hubspot);
  if (!lacking || lacking.until < now().getTime()) {
    const names = await hubspot.getPropertyNames().catch(notTold);
    const fields = names
      ? laterFields.filter((field) => rules[field].property !== null && !names.has(rules[field].property))
      : [];
    lacking = { fields, until: now().getTime() + LACKING_MS };
    lackingOf.set(hubspot, lacking);
  }
  if (lacking.fields.length === 0) return rules;
  return {
    ...rules,
    ...Object.fromEntries(lacking.fields.map((field) => [field, { property: null, write: 'never' }])),
  };
}

/** The token may write contacts and not list their properties: then all are taken to be there. */
function notTold(error: unknown): null {
  if (error instanceof CrmDenied && error.status === 403) return null;
  throw error;
}

/** Contacts for joins that named none. An email that is taken is looked at: it may be our own, written just before a crash. */
async function createAll(deps: Deps, hubspot: HubspotClient, rows: readonly Row[]): Promise<void> {
  const emailOf = (row: Row) => row.details?.personalEmail.toLowerCase();
  const fields = await fieldsThere(deps, hubspot);
  // Without details there is nobody to create yet.
  await delivered(
    deps,
    rows.filter((row) => !emailOf(row)).map((row) => ({ row, properties: {}, known: {}, notice: null })),
  );
  // Siblings who share an email are two joins: the second one finds the first one's contact.
  const byEmail = new Map(rows.flatMap((row) => (emailOf(row) ? [[emailOf(row)!, row] as const] : [])));
  await later(
    deps,
    rows.filter((row) => emailOf(row) && byEmail.get(emailOf(row)!) !== row),
  );
  const planned = [...byEmail].map(([email, row]) => {
    const values = valuesOf(row);
    const properties = { email, ...propertiesToSend(fields, values, {}, {}) };
    return { row, properties, known: knownAfter(fields, values), notice: null, email };
  });
  const outcomes = await eachAsFarAsPossible(
    planned.map(({ row, properties }) => ({ mark: row.uuid, id: null, properties })),
    (part) => hubspot.createContacts(part),
  );
  const taken = planned.flatMap((one) => {
    const outcome = outcomes.get(one.row.uuid);
    return outcome?.kind === 'conflict' ? [{ ...one, id: outcome.id }] : [];
  });
  const created = planned.flatMap(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'written' ? [{ row, contactId: outcome.id, isOwn: true }] : [];
  });
  await noteContacts(deps, [...created, ...(await lookAtTaken(hubspot, fields, taken))]);
  await later(
    deps,
    taken.map(({ row }) => row),
  );
  await conclude(
    deps,
    planned.filter(({ row }) => outcomes.get(row.uuid)?.kind !== 'conflict'),
    outcomes,
  );
}

/** The contact that a join is written into, and whether the join created it. */
interface ContactOfJoin {
  row: Row;
  contactId: string;
  isOwn: boolean;
}

/** Whose the contacts are that have the emails of these joins. One that is gone again is created in the next round. */
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
  for (const one of taken) {
    const id = one.id ?? (await hubspot.findByEmail(one.email))?.id;
    const existing: CrmContact | undefined =
      id === undefined ? undefined : (known.get(id) ?? (await hubspot.readContacts([id], wanted)).get(id));
    if (existing)
      contacts.push({ row: one.row, contactId: existing.id, isOwn: isOurs(fields, one, existing) });
  }
  return contacts;
}

/**
 * Made by this very join, whose maker died before it could note it: younger than the join, and just what it would write of
 * its person. A name alone would be too little: somebody else may have typed it.
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

/** A batch that is refused as a whole is halved until only what is at fault is refused: it never blocks the others. */
async function eachAsFarAsPossible(
  writes: readonly BatchWrite[],
  send: (part: readonly BatchWrite[]) => Promise<Map<string, BatchOutcome>>,
): Promise<Map<string, BatchOutcome>> {
  if (writes.length === 0) return new Map();
  try {
    return await send(writes);
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    if (writes.length === 1) return new Map([[writes[0]!.mark, { kind: 'refused', reason: error.message }]]);
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
  if (refused.length === 0) return;
  await sql`
    update join_session set crm_refusal = refused.reason
    from json_to_recordset(${JSON.stringify(refused)}::json) as refused (uuid uuid, reason text)
    where join_session.uuid = refused.uuid`.execute(deps.database);
}

/**
 * What was sent is the row at this revision; a change meanwhile keeps it due. The mirror has the status that HubSpot was
 * told, unless it has changed here since. Staff are told once of a status that was left as it was.
 */
async function delivered(deps: Deps, sent: readonly Planned[]): Promise<void> {
  if (sent.length === 0) return;
  const statusProperty = deps.society.crm.fields.membershipStatus.property ?? '';
  const rows = sent.map(({ row, properties, known, notice }) => {
    // Left out where HubSpot has it: another join of the same payer is what keeps its contact a member.
    const status = properties[statusProperty] ?? (known.membershipStatus === MEMBER ? MEMBER : undefined);
    return {
      uuid: row.uuid,
      revision: row.profile_revision,
      known,
      contact: row.crm_id,
      is_member: status === undefined ? null : status === MEMBER,
      notice,
    };
  });
  await sql`
    with sent as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json)
        as sent (uuid uuid, revision integer, known jsonb, contact text, is_member boolean, notice text)
    ), mirrored as (
      update contact set is_member = sent.is_member from sent join join_session using (uuid)
      where contact.id = sent.contact and sent.is_member is not null and profile_revision = sent.revision
    ), told as (
      insert into staff_notice (kind, session_uuid, message)
      select ${UNPROVEN}, uuid, notice from sent
      where notice is not null
        and not exists (select from staff_notice earlier where earlier.session_uuid = sent.uuid and earlier.kind = ${UNPROVEN})
    )
    update join_session set crm_revision = sent.revision, crm_known = crm_known || sent.known, crm_attempts = 0, crm_next_try_at = now()
    from sent where join_session.uuid = sent.uuid`.execute(deps.database);
}

/**
 * Notes whose contact a join is written into; one that another join was created by is not this one's. Somebody else's is noted
 * only while the join is as it was sent: its email may have been corrected since.
 */
async function noteContacts(deps: Deps, contacts: readonly ContactOfJoin[]): Promise<void> {
  if (contacts.length === 0) return;
  const rows = contacts.map(({ row, contactId, isOwn }) => ({
    uuid: row.uuid,
    contact_id: contactId,
    is_own: isOwn,
    revision: row.profile_revision,
  }));
  await sql`
    update join_session set hubspot_contact_id = noted.contact_id, owns_hubspot_contact = noted.is_own and not exists (
        select from join_session other
        where other.hubspot_contact_id = noted.contact_id and other.owns_hubspot_contact and other.uuid <> noted.uuid)
    from json_to_recordset(${JSON.stringify(rows)}::json) as noted (uuid uuid, contact_id text, is_own boolean, revision integer)
    where join_session.uuid = noted.uuid and (noted.is_own or profile_revision = noted.revision)`.execute(
    deps.database,
  );
}

/** Due again at once, in another round. */
async function later(deps: Deps, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`update join_session set crm_next_try_at = now() where uuid = any(${rows.map(({ uuid }) => uuid)})`.execute(
    deps.database,
  );
}

/** After a failure that says nothing about the rows they count as not tried: they go in full batches again. */
async function postpone(
  deps: Deps,
  rows: readonly Row[],
  { retryAfterMs, perhapsRecord }: CrmUnavailable,
): Promise<void> {
  await sql`
    update join_session set crm_attempts = crm_attempts - ${perhapsRecord ? 0 : 1}, crm_next_try_at = now() + make_interval(secs =>
      greatest(${retryAfterMs / 1000}::float, least(${LONGEST_BACKOFF_SECONDS}, power(2, least(crm_attempts, 10))) * (0.5 + random() / 2)))
    where uuid = any(${rows.map(({ uuid }) => uuid)}) and profile_revision <> crm_revision and crm_next_try_at > now()`.execute(
    deps.database,
  );
}

/** What the join would have HubSpot know, field by field. */
function valuesOf(row: Row): FieldValue[] {
  return fromJoin({
    details: row.details,
    state: row.state,
    bought: purchasesOf(row.orders ?? [], row.holds_upgrade),
    amountCents: row.amount_cents,
    paidAt: row.paid_at,
    status: row.status,
    transcriptAt: row.transcript_at,
  });
}
