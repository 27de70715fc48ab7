import { sql } from 'kysely';
import { compareNames, isOurs, projectNew, withoutEmail } from '#core/crmProjection.ts';
import { likenessOf } from '#core/personKeys.ts';
import { alikeTo } from '../session/alike.ts';
import { requireSameAccount } from './account.ts';
import {
  type Delivered,
  type Delivery,
  delivered,
  idsOf,
  NO_CONTACT,
  postpone,
  type Refused,
  refuse,
  UNKNOWN_CONTACT,
} from './deliveries.ts';
import type { Deps } from './deps.ts';
import { isThere, lookAtContacts, wasAtHubspot } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { namesAt, neededProperties } from './hubspot/properties.ts';
import { type ContactOfPerson, noteContacts } from './noteContacts.ts';
import { conclude, type Sent, write } from './writeContacts.ts';

/**
 * Gives contacts to persons who have none: that of somebody who is likely the same, otherwise a new one. If HubSpot already has a
 * contact with the person's email:
 * - If we created it just before a crash, it becomes the person's contact.
 * - If it has the person's name or no name, and nothing shows that it is somebody else's, the person is attached to it.
 * - Otherwise the person gets another contact, without HubSpot's unique property `email`.
 */
export async function createAll(deps: Deps, rows: readonly Delivery[]): Promise<void> {
  const { fields } = deps.society.crm;
  const {
    complete = [],
    nameless = [],
    done = [],
  } = Object.groupBy(rows, ({ own, isDeleted }) => {
    const holds = own.holdsMembership || own.holdsUpgrade;
    // A contact that was deleted is created anew only for a person who holds a membership or upgrade.
    if (own.details && own.joins.length > 0 && (holds || !isDeleted)) return 'complete';
    return holds ? 'nameless' : 'done';
  });
  await delivered(deps, done.map(nothingToSend));
  const attached = await contactsOfAlike(deps, complete);
  await noteContacts(deps, attached);
  const without = complete.filter((row) => !attached.some((one) => one.row === row));
  // Of several persons with the same email, such as siblings, all but one wait for the next batch. They then find the contact
  // that was created for that one.
  const byEmail = new Map(without.map((row) => [emailOf(row), row]));
  await postpone(
    deps,
    without.filter((row) => byEmail.get(emailOf(row)) !== row),
  );
  const planned = [...byEmail.values()].map((row) => {
    const own = { ...row.own, details: row.own.details! };
    return { row, ...projectNew(fields, own), notices: [] };
  });
  if (planned.length > 0) await requireSameAccount(deps);
  const sent = await write(deps, planned);
  const { taken = [], others = [] } = Object.groupBy(sent, ({ outcome }) =>
    outcome?.kind === 'conflict' ? 'taken' : 'others',
  );
  await conclude(deps, others);
  for (const one of taken) await createBeside(deps, one);
  await lookAgain(deps, nameless);
}

const emailOf = ({ own }: Delivery) => own.details!.personalEmail.toLowerCase();

/** Returns, for each of these persons, the contact of somebody who is likely the same, if there is one. */
async function contactsOfAlike(deps: Deps, rows: readonly Delivery[]): Promise<ContactOfPerson[]> {
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

/** Handles a person whose email HubSpot already has in another contact: see {@link createAll}. */
async function createBeside(deps: Deps, { change, outcome }: Sent): Promise<void> {
  const { fields } = deps.society.crm;
  const { row } = change;
  const named = outcome?.kind === 'conflict' ? outcome.id : null;
  const id = named ?? (await deps.hubspot.findByEmail(emailOf(row)))?.id;
  const found = await lookAtContacts(deps, id === undefined ? [] : [id], { more: neededProperties(fields) });
  const existing = found.get(id!);
  // The contact has disappeared meanwhile, or HubSpot does not say which contact has the email. A later batch tries again.
  if (!existing) return postpone(deps, [row], { perhapsRecord: true });
  const isOwn = isOurs(fields, row.own, change, existing);
  if (isOwn || (await isLikelyTheirs(deps, row, existing))) {
    await noteContacts(deps, [{ row, contactId: existing.id, isOwn }]);
    await postpone(deps, [row]);
  } else await conclude(deps, await write(deps, [withoutEmail(fields, change)]));
}

/** Whether a contact with a person's email has the person's name or none, and nothing shows that it is somebody else's. */
async function isLikelyTheirs(
  { database, society }: Deps,
  { personId, own }: Delivery,
  { id, properties }: CrmContact,
): Promise<boolean> {
  const held = namesAt(society.crm.fields, properties);
  const details = own.details!;
  if (compareNames(held, details) === 'other') return false;
  // A contact without a complete name belongs to the person who had it first.
  const isNamed = held.firstName && held.lastName;
  const { rows } = await sql`
    select from person other where (contact_id = ${id} or found_contact_id = ${id}) and other.id <> ${personId} and (
      exists (select from kept_apart where one_id = least(other.id, ${personId}) and other_id = greatest(other.id, ${personId}))
      or ${!isNamed} and details is not null and likeness is distinct from ${likenessOf(details)})`.execute(
    database,
  );
  return rows.length === 0;
}

/**
 * Handles persons whose contact was not found, after reading it from HubSpot again:
 * - A person who was merged needs nothing: the person they were merged into is sent instead.
 * - A merged person with a join that is being paid is due again in a minute, because that join is not moved before its payment
 *   ends.
 * - A person who has a contact again, or gets a new one, is due at once.
 * - A person is refused if HubSpot never had the contact, or if there is neither a contact nor student details, as after a link
 *   to a contact that was deleted later.
 */
export async function lookAgain(deps: Deps, lost: readonly Delivery[]): Promise<void> {
  if (lost.length === 0) return;
  const isLost = sql`person.id = any(${idsOf(lost)}::bigint[])`;
  const { rows: named } = await sql<{ id: string }>`
    select contact_id as id from person where ${isLost} and contact_id is not null`.execute(deps.database);
  await lookAtContacts(
    deps,
    named.map(({ id }) => id),
  );
  const { rows: now } = await sql<{ id: number; place: string }>`
    select id, case
      when merged_into is not null and not exists (select from join_session where person_id = person.id) then 'moved'
      when merged_into is not null then 'paying'
      when contact_id is not null and deleted_at is null and not ${wasAtHubspot} then 'unknown'
      when contact_id is not null and deleted_at is null or found_contact_id is not null then 'there'
      else 'nowhere' end as place
    from person where ${isLost}`.execute(deps.database);
  const places: Partial<Record<string, Delivery[]>> = Object.groupBy(lost, ({ personId, contactId }) => {
    const place = now.find(({ id }) => id === personId)?.place ?? 'moved';
    // A person who had a contact may get a new one.
    return place === 'nowhere' && contactId !== null ? 'there' : place;
  });
  const { moved = [], there = [], unknown = [], nowhere = [] } = places;
  const unknownToHubspot = ({ personId, contactId }: Delivery): Refused => ({
    personId,
    reason: `${UNKNOWN_CONTACT} ${contactId}.`,
  });
  await delivered(deps, moved.map(nothingToSend));
  await postpone(deps, there);
  await refuse(deps, [
    ...unknown.map(unknownToHubspot),
    ...nowhere.map(({ personId }) => ({ personId, reason: NO_CONTACT })),
  ]);
}

export const nothingToSend = (row: Delivery): Delivered => ({ row, properties: {}, sent: {}, notices: [] });
