import { sql } from 'kysely';
import { compareNames, projectNew, type Told } from '#core/crmProjection.ts';
import { likenessOf } from '#core/personKeys.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { alikeTo } from '../session/alike.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import {
  type Delivered,
  type Delivery,
  delivered,
  idsOf,
  later,
  postpone,
  type Refused,
  refuse,
} from './deliveries.ts';
import { isThere, lookAtContacts, wasAtHubspot } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { namesAt, neededProperties, readProperties } from './hubspot/properties.ts';
import { type ContactOfPerson, noteContacts } from './noteContacts.ts';
import { conclude, isOurs, type Sent, withoutEmail, write } from './writeContacts.ts';

type WithDetails = Delivery & { own: Told & { details: StudentDetails } };
type New = Delivered & { row: WithDetails };

/**
 * Gives persons without a contact one: that of somebody who is likely the same, otherwise a new one. If HubSpot has a contact with the
 * email already, it is theirs if we created it just before a crash; they are attached to it if it has their name or none; otherwise they
 * get a contact of their own, in which the email is but a second property.
 */
export async function createAll(deps: Deps, rows: readonly Delivery[]): Promise<void> {
  const { fields } = deps.society.crm;
  const complete: WithDetails[] = [];
  const nameless: Delivery[] = [];
  const done: Delivered[] = [];
  for (const row of rows) {
    const { own, isDeleted } = row;
    const holds = own.holdsMembership || own.holdsUpgrade;
    // A contact that was deleted is made anew for those alone who hold something.
    if (hasDetails(row) && own.joins.length > 0 && (holds || !isDeleted)) complete.push(row);
    else if (holds) nameless.push(row);
    else done.push({ row, properties: {}, sent: {}, notices: [] });
  }
  await delivered(deps, done);
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
  if (planned.length > 0) await requireSameAccount(deps);
  const sent = await write(deps, planned);
  const isTaken = ({ outcome }: Sent) => outcome?.kind === 'conflict';
  await conclude(
    deps,
    sent.filter((one) => !isTaken(one)),
  );
  for (const one of sent.filter(isTaken)) await createBeside(deps, one);
  await refuseNameless(deps, nameless);
}

const hasDetails = (row: Delivery): row is WithDetails => row.own.details !== null;
const emailOf = (row: WithDetails) => row.own.details.personalEmail.toLowerCase();

/** Returns the contacts of those who are likely the same as these persons. */
async function contactsOfAlike(deps: Deps, rows: readonly WithDetails[]): Promise<ContactOfPerson[]> {
  const { rows: found } = await sql<{ id: number; contactId: string }>`
    select told.id, min(person.contact_id) as "contactId"
    from unnest(${idsOf(rows)}::bigint[]) as told (id), lateral ${alikeTo(sql`told.id`)} as alike (id) join person on person.id = alike.id
    where person.id <> told.id and ${isThere} and ${wasAtHubspot}
    group by told.id`.execute(deps.database);
  return found.map(({ id, contactId }) => ({
    row: rows.find(({ personId }) => personId === id)!,
    contactId,
    isOwn: false,
  }));
}

/** Decides about a person whose email HubSpot has at another contact: see {@link createAll}. */
async function createBeside(deps: Deps, { change, outcome }: Sent<New>): Promise<void> {
  const { hubspot, society } = deps;
  const { fields } = society.crm;
  const { row } = change;
  const named = outcome?.kind === 'conflict' ? outcome.id : null;
  const wanted = [...neededProperties(fields), ...readProperties(fields)];
  const id = named ?? (await hubspot.findByEmail(emailOf(row)))?.id;
  const existing = id === undefined ? undefined : (await hubspot.readContacts([id], wanted)).get(id);
  // It has disappeared meanwhile, or HubSpot does not say which contact has the value: they get a contact with a later batch.
  if (!existing) return postpone(deps, [row], { retryAfterMs: 0, perhapsRecord: true });
  const isOwn = isOurs(deps, change, existing);
  if (isOwn || (await isLikelyTheirs(deps, row, existing))) {
    const { rows: mirrored } = await sql`select from person where contact_id = ${existing.id}`.execute(
      deps.database,
    );
    if (!isOwn && mirrored.length === 0) await keepContacts(deps.database, fields, [existing]);
    await noteContacts(deps, [{ row, contactId: existing.id, isOwn }]);
    await later(deps, [row]);
  } else await conclude(deps, await write(deps, [withoutEmail(deps, change)]));
}

/** Whether a contact with the email of a person has their name or none, and nobody says that it is somebody else's. */
async function isLikelyTheirs(
  { database, society }: Deps,
  { personId, own }: WithDetails,
  { id, properties }: CrmContact,
): Promise<boolean> {
  const held = namesAt(society.crm.fields, properties);
  if (compareNames(held, own.details) === 'other') return false;
  // A contact without a name, or with a part of one, is whose it was first.
  const isNamed = held.firstName && held.lastName;
  const { rows } = await sql`
    select from person other where (contact_id = ${id} or found_contact_id = ${id}) and other.id <> ${personId} and (
      exists (select from kept_apart where one_id = least(other.id, ${personId}) and other_id = greatest(other.id, ${personId}))
      or ${!isNamed} and details is not null and likeness is distinct from ${likenessOf(own.details)})`.execute(
    database,
  );
  return rows.length === 0;
}

/**
 * Refuses persons who hold something and have neither student details nor a contact, as after a link to a contact that was deleted
 * later. Staff can merge them with a contact. Who has a contact again, since it was restored in HubSpot, is sent instead.
 */
async function refuseNameless(deps: Deps, nameless: readonly Delivery[]): Promise<void> {
  if (nameless.length === 0) return;
  const ids = sql`any(${idsOf(nameless)}::bigint[])`;
  const { rows: named } = await sql<{ id: string }>`
    select contact_id as id from person where id = ${ids} and contact_id is not null`.execute(deps.database);
  await lookAtContacts(
    deps,
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
  if (uuid === null) return { personId, reason };
  const remedy = { do: 'retry at HubSpot', uuid } as const;
  return { personId, reason, notice: { kind: 'contact_gone', subject: uuid, params: {}, remedy } };
}
