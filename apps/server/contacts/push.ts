import { sql } from 'kysely';
import { type CrmField, type FieldValue, mustRead, propertiesToSend } from '#core/crmFields.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { repeat } from '../background.ts';
import type { Deps } from '../deps.ts';
import {
  type BatchOutcome,
  type BatchWrite,
  type CrmContact,
  CrmRefused,
  CrmUnavailable,
  type HubspotClient,
} from '../hubspot/client.ts';
import { fromJoin, knownOf, neededProperties } from '../hubspot/properties.ts';

const INTERVAL_MS = 2_000;
/** HubSpot's largest batch. */
const BATCH = 100;
const LONGEST_BACKOFF_SECONDS = 60;
/** How often a row fails in full batches. */
const FULL_TRIES = 2;

/**
 * A join that HubSpot is to hear of. How it is written depends on whose contact it is:
 * - `named`: the invitation or link named the contact, or this join created it. It may be updated.
 * - `shared`: somebody else's with the same email. Blanks are filled, nothing is overwritten.
 * - `new`: a school or self-nominated join is nobody's proof of identity: a contact is created, unless the email is taken.
 */
interface Row {
  uuid: string;
  whose: 'named' | 'shared' | 'new';
  /** Null when new. */
  crm_id: string | null;
  state: string;
  details: StudentDetails | null;
  crm_known: Partial<Record<CrmField, string>>;
  profile_revision: number;
  created_at: Date;
  paid_at: Date | null;
  amount_cents: number | null;
  membership_id: number | null;
  is_held: boolean;
  transcript_at: Date | null;
}

/** Sends joins to HubSpot, level-triggered: a row whose revisions differ is due, and what is sent is how it stands now. */
export function startPushing(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat('push joins to HubSpot', INTERVAL_MS, deps.log, () => pushDue(deps, hubspot));
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
    await postpone(deps, rows, error.retryAfterMs);
  }
  return { taken: rows.length, more: rows.length === rows[0]!.size };
}

const whose = sql`case when contact_id is not null or crm_contact_id like 'own:%' then 'named'
  when crm_contact_id like 'shared:%' then 'shared' else 'new' end`;
/** A {@link Row} of a join session that is named `session`. */
const columns = sql`uuid, ${whose} as whose, coalesce(contact_id, substring(crm_contact_id from ':(.*)$')) as crm_id, state, details,
  crm_known, profile_revision, created_at, paid_at,
  (select sum(amount_cents - refunded_cents)::int from payment where session_uuid = session.uuid and status = 'succeeded') as amount_cents,
  (select product_id from membership where session_uuid = session.uuid order by id limit 1) as membership_id,
  exists (select from membership where session_uuid = session.uuid and is_held) as is_held,
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
      returning join_session.*
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
  const { rows } = await sql<Row>`select ${columns} from join_session session where uuid = ${uuid}`.execute(
    deps.database,
  );
  const row = rows[0] && asShown(rows[0]);
  if (!row) return null;
  const { fields } = deps.society.crm;
  const values = valuesOf(deps, row);
  const email = row.details?.personalEmail.toLowerCase();
  const found = row.crm_id === null && email ? await hubspot.findByEmail(email) : null;
  const id = row.crm_id ?? found?.id ?? null;
  const present = id === null ? null : (await hubspot.readContacts([id], neededProperties(fields))).get(id);
  const held = present?.properties ?? {};
  const isOwn = row.whose === 'named' || (row.whose === 'new' && found === null);
  const properties =
    row.whose === 'new' && !email
      ? {}
      : propertiesToSend(fields, values, row.crm_known, held, isOwn ? 'own' : 'blanks');
  return {
    contactId: id,
    changes: Object.entries(properties)
      .map(([property, to]) => ({ property, from: held[property] ?? null, to }))
      .filter(({ from, to }) => from !== to),
  };
}

/** Contacts that are known, in one call. Two joins of one contact would be refused: the later one waits for its turn. */
async function updateAll(deps: Deps, hubspot: HubspotClient, rows: readonly Row[]): Promise<void> {
  const byId = new Map(rows.map((row) => [row.crm_id!, row]));
  await later(
    deps,
    rows.filter((row) => byId.get(row.crm_id!) !== row),
  );
  const { crm } = deps.society;
  const sent = [...byId.values()].map((row) => ({ row, values: valuesOf(deps, row) }));
  const toRead = sent.filter(
    ({ row, values }) => row.whose === 'shared' || mustRead(crm.fields, values, row.crm_known),
  );
  const present =
    toRead.length === 0
      ? new Map<string, CrmContact>()
      : await hubspot.readContacts(
          toRead.map(({ row }) => row.crm_id!),
          neededProperties(crm.fields),
        );
  const writes = sent.map(({ row, values }) => ({
    row,
    values,
    write: {
      mark: row.uuid,
      id: row.crm_id,
      properties: propertiesToSend(
        crm.fields,
        values,
        row.crm_known,
        present.get(row.crm_id!)?.properties ?? null,
        row.whose === 'shared' ? 'blanks' : 'own',
      ),
    },
  }));
  const nothing = writes.filter(({ write }) => Object.keys(write.properties).length === 0);
  await delivered(deps, nothing);
  const something = writes.filter((one) => !nothing.includes(one));
  const outcomes = await eachAsFarAsPossible(
    something.map(({ write }) => write),
    (part) => hubspot.updateContacts(part),
  );
  await conclude(deps, something, outcomes);
}

/** Contacts for joins that named none. An email that is taken is looked at: it may be our own, written just before a crash. */
async function createAll(deps: Deps, hubspot: HubspotClient, rows: readonly Row[]): Promise<void> {
  const emailOf = (row: Row) => row.details?.personalEmail.toLowerCase();
  // Without details there is nobody to create yet.
  await delivered(
    deps,
    rows.filter((row) => !emailOf(row)).map((row) => ({ row, values: [] })),
  );
  // Siblings who share an email are two joins: the second one finds the first one's contact.
  const byEmail = new Map(rows.flatMap((row) => (emailOf(row) ? [[emailOf(row)!, row] as const] : [])));
  await later(
    deps,
    rows.filter((row) => emailOf(row) && byEmail.get(emailOf(row)!) !== row),
  );
  const { fields } = deps.society.crm;
  const sent = [...byEmail].map(([email, row]) => {
    const values = valuesOf(deps, row);
    const properties = { email, ...propertiesToSend(fields, values, {}, {}, 'own') };
    return { row, values, write: { mark: row.uuid, id: null, properties } };
  });
  const outcomes = await eachAsFarAsPossible(
    sent.map(({ write }) => write),
    (part) => hubspot.createContacts(part),
  );
  const taken = sent.flatMap(({ row, write }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'conflict' ? [{ row, email: write.properties.email!, id: outcome.id }] : [];
  });
  const created = sent.flatMap(({ row }) => {
    const outcome = outcomes.get(row.uuid);
    return outcome?.kind === 'written' ? [{ row, mark: `own:${outcome.id}` }] : [];
  });
  await mark(deps, [...created, ...(await lookAtTaken(hubspot, taken))]);
  await later(
    deps,
    taken.map(({ row }) => row),
  );
  await conclude(
    deps,
    sent.filter(({ row }) => outcomes.get(row.uuid)?.kind !== 'conflict'),
    outcomes,
  );
}

/** Whose the contacts are that have the emails of these joins. One that is gone again is created in the next round. */
async function lookAtTaken(
  hubspot: HubspotClient,
  taken: readonly { row: Row; email: string; id: string | null }[],
): Promise<{ row: Row; mark: string }[]> {
  if (taken.length === 0) return [];
  const ids = taken.flatMap(({ id }) => id ?? []);
  const known = ids.length === 0 ? new Map() : await hubspot.readContacts(ids, ['firstname', 'lastname']);
  const marks: { row: Row; mark: string }[] = [];
  for (const { row, email, id } of taken) {
    const existing: CrmContact | null =
      id === null ? await hubspot.findByEmail(email) : (known.get(id) ?? null);
    if (existing) marks.push({ row, mark: `${isOurs(row, existing) ? 'own' : 'shared'}:${existing.id}` });
  }
  return marks;
}

/** Made by this very join, whose maker died before it could note it: younger than the join, and of its name. */
function isOurs(row: Row, { createdAt, properties }: CrmContact): boolean {
  return (
    new Date(createdAt) >= row.created_at &&
    row.details?.firstName === properties.firstname &&
    row.details?.lastName === properties.lastname
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
  sent: readonly { row: Row; values: FieldValue[] }[],
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

/** What was sent is the row at this revision; a change meanwhile keeps it due. */
async function delivered(deps: Deps, sent: readonly { row: Row; values: FieldValue[] }[]): Promise<void> {
  if (sent.length === 0) return;
  const rows = sent.map(({ row, values }) => ({
    uuid: row.uuid,
    revision: row.profile_revision,
    known: Object.fromEntries(values.map(({ field, value }) => [field, value])),
  }));
  await sql`
    update join_session set crm_revision = sent.revision, crm_known = crm_known || sent.known, crm_attempts = 0, crm_next_try_at = now()
    from json_to_recordset(${JSON.stringify(rows)}::json) as sent (uuid uuid, revision integer, known jsonb)
    where join_session.uuid = sent.uuid`.execute(deps.database);
}

async function mark(deps: Deps, marks: readonly { row: Row; mark: string }[]): Promise<void> {
  if (marks.length === 0) return;
  const rows = marks.map(({ row, mark }) => ({ uuid: row.uuid, mark }));
  await sql`
    update join_session set crm_contact_id = marked.mark
    from json_to_recordset(${JSON.stringify(rows)}::json) as marked (uuid uuid, mark text)
    where join_session.uuid = marked.uuid`.execute(deps.database);
}

/** Due again at once, in another round. */
async function later(deps: Deps, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`update join_session set crm_next_try_at = now() where uuid = any(${rows.map(({ uuid }) => uuid)})`.execute(
    deps.database,
  );
}

async function postpone(deps: Deps, rows: readonly Row[], retryAfterMs: number): Promise<void> {
  await sql`
    update join_session set crm_next_try_at = now() + make_interval(secs =>
      greatest(${retryAfterMs / 1000}::float, least(${LONGEST_BACKOFF_SECONDS}, power(2, least(crm_attempts, 10))) * (0.5 + random() / 2)))
    where uuid = any(${rows.map(({ uuid }) => uuid)}) and profile_revision <> crm_revision and crm_next_try_at > now()`.execute(
    deps.database,
  );
}

/** What the join would have HubSpot know, field by field. */
export function valuesOf(
  { society }: Deps,
  row: Omit<Row, 'uuid' | 'whose' | 'crm_id' | 'profile_revision' | 'created_at' | 'crm_known'>,
): FieldValue[] {
  return fromJoin({
    details: row.details,
    state: row.state,
    membership: row.membership_id === null ? null : (society.product(row.membership_id)?.name ?? null),
    amountCents: row.amount_cents,
    paidAt: row.paid_at,
    isHeld: row.is_held,
    transcriptAt: row.transcript_at,
  });
}
