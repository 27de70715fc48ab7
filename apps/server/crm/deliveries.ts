import { type Kysely, type RawBuilder, sql } from 'kysely';
import { contactFields } from '#core/contact.ts';
import { type CrmValues, joinFields } from '#core/crmFields.ts';
import { EMAIL, lastPaid, type Told, type ToldContact } from '#core/crmProjection.ts';
import type { Notice } from '#core/notice.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';
import { backoff } from '../platform/database/backoff.ts';
import type { Tables } from '../platform/database/types.ts';
import { alikeTo } from '../session/alike.ts';
import { isProof } from '../session/proof.ts';
import type { Deps } from './deps.ts';
import { LARGEST_PAGE } from './hubspot/client.ts';
import type { CrmUnavailable } from './hubspot/errors.ts';
import { knownOf } from './hubspot/properties.ts';
import { isAttached, isTeller } from './queuePersonsForHubspot.ts';

const BACKOFF = { first: 1, longest: 60 };
/** How many times a person may fail before they are sent in smaller batches. */
const FULL_TRIES = 2;
/** The mirror's data about a contact count as up to date if they were read at most this many minutes before the payment. */
const FRESH_MINUTES = 10;

/** A person whose data are to be sent to HubSpot, with everything that decides what is written. */
export interface Delivery extends ToldContact {
  personId: number;
  revision: number;
  /** HubSpot's id of the contact; null if the person has none, so that one is created. */
  contactId: string | null;
  /** Whether HubSpot has deleted the person's contact. */
  isDeleted: boolean;
  /** The join by which staff identify the delivery: the last that was paid, otherwise the newest; null if there is none. */
  uuid: string | null;
  /**
   * Whether the contact may already have been a member in HubSpot at the payment: the mirror has that status, or was out of date.
   * False for a contact that a join created, and once we have sent a status.
   */
  mayHaveBeenMember: boolean;
}

/** SQL for a subquery: the ids of the persons who are attached to the query's `contact`. */
const attached = sql`(select attached.id from person attached where attached.found_contact_id = contact.id and ${isAttached('attached')})`;

/**
 * SQL for a {@link Told} about persons (SQL for a subquery of ids) and those of their joins that meet the condition `which`, with
 * the details of the query's `owner`.
 */
const told = (persons: RawBuilder<unknown>, which: RawBuilder<unknown>) => sql<Told>`(
  with persons (id) as ${persons}, own as (select join_session.* from persons join join_session on person_id = persons.id where ${which}),
    money as (
      select payment.*, exists (select from membership where payment_intent = intent_id and is_held) as is_held
      from own join payment on session_uuid = uuid where paid_at is not null and status = 'succeeded'),
    bought as (select type, is_held from persons join membership on person_id = persons.id)
  select json_build_object(
    'details', owner.details,
    'joins', coalesce((select json_agg(json_build_object('uuid', uuid, 'state', state, 'createdAt', ${iso('created_at')}, 'paidAt', ${iso('paid_at')}) order by created_at)
      from own), '[]'),
    'amountCents', (select sum(greatest(0, amount_cents - refunded_cents - coalesce((select sum(refund.amount_cents) from refund
      where refund.intent_id = money.intent_id and is_dispute and refund.status = 'succeeded'), 0)))::int from money),
    'orders', coalesce((select json_agg(json_build_object('lines', items, 'amountCents', money.amount_cents, 'refunds', coalesce((
        select json_agg(json_build_object('amountCents', refund.amount_cents, 'status', refund.status, 'lines', refund.lines))
        from refund where refund.intent_id = money.intent_id), '[]')) order by is_held, succeeded_at)
      from money join order_snapshot using (session_uuid, kind, revision)), '[]'),
    'hasBought', exists (select from bought where type = 'membership'),
    'holdsMembership', exists (select from bought where type = 'membership' and is_held),
    'holdsUpgrade', exists (select from bought where type = 'membership_upgrade' and is_held),
    'isMember', exists (select from persons, lateral ${alikeTo(sql`persons.id`)} as payer (id)
      join membership held on held.person_id = payer.id and held.type = 'membership' and held.is_held),
    'transcriptAt', (select ${iso('min(document.created_at)')} from own join document on session_uuid = uuid where ${isProof})))`;

function iso(time: string): RawBuilder<string> {
  return sql`to_char(${sql.raw(time)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * SQL for the columns of a {@link Delivery}, for a query with `delivery` (rows of `crm_delivery`) and the person of each
 * (`owner`).
 */
const columns = sql`delivery.person_id as "personId", revision, sent, contact.id as "contactId", owner.deleted_at is not null as "isDeleted", owner.made_contact as "isMade",
  ${told(sql`(select owner.id)`, sql`details is not null or state not in ('started', 'detailed')`)} as own,
  ${told(attached, sql`paid_at is not null`)} as attached,
  not owner.made_contact and not sent ? 'membershipStatus' and (owner.is_member or owner.fetched_at is null
    or owner.fetched_at < (select max(paid_at) from join_session where person_id in (
      select owner.id union all ${attached})) - make_interval(mins => ${FRESH_MINUTES})) as "mayHaveBeenMember"`;
const contactOf = sql`lateral (select case when owner.deleted_at is null then owner.contact_id end as id) as contact`;

/**
 * Takes a batch of persons who are due, either all with a contact or all without. They are due again in a minute, in case this
 * process dies. Persons who failed repeatedly are taken in ever smaller batches, and finally alone, to delay nobody else. `size`
 * is the size of a full batch.
 */
export async function takeDue(deps: Deps): Promise<{ rows: Delivery[]; size: number }> {
  const isDue = sql`due_at <= now() and refusal is null`;
  const hasContact = sql`(select contact_id is not null and deleted_at is null from person where person.id = person_id)`;
  const { rows } = await sql<Delivery & { size: number }>`
    with first as (
      select ${hasContact} as has_contact, ceil(${LARGEST_PAGE} / power(5, least(3, greatest(0, tries - ${FULL_TRIES}))))::int as size
      from crm_delivery where ${isDue} order by due_at limit 1
    ), due as (
      select person_id from crm_delivery where ${isDue} and ${hasContact} = (select has_contact from first)
      order by due_at limit (select size from first) for no key update skip locked
    ), delivery as (
      update crm_delivery set due_at = now() + interval '1 minute', tries = tries + 1
      from due where crm_delivery.person_id = due.person_id
      returning crm_delivery.*
    )
    select ${columns}, (select size from first) as size
    from delivery join person owner on owner.id = delivery.person_id, ${contactOf}`.execute(deps.database);
  return { rows: rows.map(asShown), size: rows[0]?.size ?? 0 };
}

/**
 * SQL for a subquery: the ids of the persons whose contacts are updated in HubSpot on behalf of joins. `joins` is SQL for a
 * subquery of the joins' uuids.
 */
export function deliveriesOf(joins: RawBuilder<unknown>): RawBuilder<unknown> {
  return tellersOf(sql`(select person_id from join_session where uuid in ${joins})`);
}

/**
 * SQL for a subquery: the ids of the persons whose contacts are updated in HubSpot on behalf of `persons` (SQL for a subquery of
 * ids). They differ for a person who is attached to a contact.
 */
export function tellersOf(persons: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select coalesce(teller.id, own.id) from person own left join person teller on ${isTeller('teller', 'own')}
    where own.id in ${persons})`;
}

/** Reads the delivery of a person, due or not. For a person who is attached to a contact, reads the delivery of that contact. */
export async function readDelivery(
  deps: Deps,
  personId: RawBuilder<number | null>,
): Promise<Delivery | null> {
  const { rows } = await sql<Delivery>`
    with delivery as (
      select person.id as person_id, coalesce(revision, 0) as revision, coalesce(sent, '{}') as sent
      from person left join crm_delivery on person_id = person.id
      where person.id in ${tellersOf(sql`(${personId})`)})
    select ${columns} from delivery join person owner on owner.id = delivery.person_id, ${contactOf}`.execute(
    deps.database,
  );
  return rows[0] ? asShown(rows[0]) : null;
}

/**
 * Returns since when a person's data wait to be sent to HubSpot, and why HubSpot refuses them; null for each that does not apply.
 */
export async function waitingAtHubspot(
  { database }: Pick<Deps, 'database'>,
  personId: number,
): Promise<{ refusal: string | null; waitsSince: Date | null }> {
  const { rows } = await sql<{ refusal: string | null; waitsSince: Date | null }>`
    select refusal, due_since as "waitsSince" from crm_delivery where person_id in ${tellersOf(sql`(${personId}::bigint)`)}`.execute(
    database,
  );
  return rows[0] ?? { refusal: null, waitsSince: null };
}

/**
 * Adds the join that identifies the delivery to staff. Spells the known values as the form does ("Texas" for "TX"), so that
 * unchanged values are not sent.
 */
function asShown(row: Delivery): Delivery {
  const joins = [...row.own.joins, ...row.attached.joins];
  const named = lastPaid(joins) ?? joins.at(-1);
  const shown = Object.fromEntries(Object.entries(knownOf(row.sent)).filter(([field]) => field in row.sent));
  return { ...row, uuid: named?.uuid ?? null, sent: { ...row.sent, ...shown } };
}

/**
 * A planned or finished delivery: the properties to write, the values that HubSpot then has from us (`sent`), and notices for
 * staff.
 */
export interface Delivered {
  row: Delivery;
  properties: Record<string, string>;
  sent: CrmValues;
  notices: Notice[];
}

/**
 * Records the values about purchases that are about to be sent, in case HubSpot's answer is lost: the next try empties those that
 * apply to nobody any more. Since `paidAt` is removed, the next try compares with the values that HubSpot has.
 */
export async function intend(deps: Deps, planned: readonly Delivered[]): Promise<void> {
  if (planned.length === 0) return;
  const rows = planned.map(({ row, sent }) => ({
    person_id: row.personId,
    intended: Object.fromEntries(
      joinFields.flatMap((field) => (sent[field] && !row.sent[field] ? [[field, sent[field]]] : [])),
    ),
  }));
  await sql`
    with ${locked(planned.map(({ row }) => row))}
    update crm_delivery set sent = (crm_delivery.sent || intended) - 'paidAt'
    from json_to_recordset(${JSON.stringify(rows)}::json) as told (person_id bigint, intended jsonb) join locked using (person_id)
    where crm_delivery.person_id = told.person_id`.execute(deps.database);
}

/**
 * Records what was sent to HubSpot, also in the mirror. Persons who have changed meanwhile are due again. Once we have sent a
 * status, HubSpot's status only repeats our memberships, so it does not count any more.
 */
export async function delivered(deps: Deps, done: readonly Delivered[]): Promise<void> {
  if (done.length === 0) return;
  const { fields } = deps.society.crm;
  const rows = done.map(({ row, properties, sent }) => ({
    person_id: row.personId,
    revision: row.revision,
    sent,
    is_status_told: sent.membershipStatus !== undefined,
    email: properties[EMAIL] ?? null,
    profile: Object.fromEntries(
      contactFields.flatMap((field) => {
        // A typed email must not lead anybody to the contact until that email was read from HubSpot.
        const isLeftOut = field === 'acceptedPrivacyPolicy' || /email$/i.test(field);
        const isWritten = !isLeftOut && (fields[field].property ?? '') in properties;
        return isWritten && sent[field] !== undefined ? [[field, sent[field]]] : [];
      }),
    ),
  }));
  const told = sql`json_to_recordset(${JSON.stringify(rows)}::json) as told (person_id bigint, revision integer, sent jsonb, is_status_told boolean, email text, profile jsonb)`;
  await deps.database.transaction().execute(async (trx) => {
    // Locks persons before deliveries, and each in the order of their ids, as other transactions do, to avoid deadlocks.
    await sql`
      with known as (
        select id, is_status_told, told.email, told.profile from ${told} join person on id = person_id
        where is_status_told and is_member or told.email <> person.email or not person.profile @> told.profile
        order by id for no key update of person
      )
      update person set is_member = is_member and not is_status_told, email = coalesce(known.email, person.email),
        profile = person.profile || known.profile || case when known.email is null then '{}' else jsonb_build_object('email', known.email, 'personalEmail', known.email) end
      from known where person.id = known.id`.execute(trx);
    for (const notice of done.flatMap(({ notices }) => notices))
      await notifyStaff(trx, notice, { once: true });
    await sql`
      with ${locked(done.map(({ row }) => row))}
      update crm_delivery set sent = crm_delivery.sent || told.sent, tries = 0,
        due_since = case when crm_delivery.revision = told.revision then null else coalesce(due_since, now()) end,
        due_at = case when crm_delivery.revision = told.revision then null else now() end
      from ${told} join locked using (person_id) where crm_delivery.person_id = told.person_id`.execute(trx);
  });
}

/**
 * A person whose data are not sent to HubSpot until staff send them again, or a correction, a merge or new details cause that.
 */
export interface Refused {
  personId: number;
  reason: string;
}

/** The beginning of the reason for a person with a contact id that HubSpot never had. */
export const UNKNOWN_CONTACT = 'HubSpot does not know contact';
/** The reason for a person who has no contact any more, and no details with which one could be created. */
export const NO_CONTACT =
  'HubSpot has no contact of this join, and without details none can be created. If it was deleted there, restore it, and send the join again. Or say which contact is the same person.';

/** Records that these persons are not sent to HubSpot, with the reasons. Staff can put them back into the queue. */
export async function refuse(deps: Deps, refused: readonly Refused[]): Promise<void> {
  if (refused.length === 0) return;
  await sql`
    with ${locked(refused)}
    update crm_delivery set refusal = refused.reason
    from json_to_recordset(${JSON.stringify(refused)}::json) as refused ("personId" bigint, reason text) join locked on person_id = "personId"
    where crm_delivery.person_id = "personId"`.execute(deps.database);
}

/**
 * Makes persons of a batch due again after `retryAfterMs`. The try counts only if one of them may have caused a failure
 * (`perhapsRecord`). Persons with counted tries wait at least for the time of an exponential backoff.
 */
export async function postpone(
  deps: Deps,
  rows: readonly Delivery[],
  { retryAfterMs = 0, perhapsRecord = false }: Partial<CrmUnavailable> = {},
): Promise<void> {
  if (rows.length === 0) return;
  const counted = sql<number>`(tries - ${perhapsRecord ? 0 : 1})`;
  await sql`
    with ${locked(rows)}
    update crm_delivery set tries = ${counted}, due_at = now() + make_interval(secs =>
      greatest(${retryAfterMs / 1000}::float, case when ${counted} > 0 then ${backoff(counted, BACKOFF)} end))
    from locked where crm_delivery.person_id = locked.person_id and due_at > now()`.execute(deps.database);
}

export const idsOf = (rows: readonly Pick<Delivery, 'personId'>[]) => rows.map(({ personId }) => personId);

/**
 * SQL for a common table expression `locked` that locks the deliveries of persons in the order of their ids, to avoid deadlocks.
 */
export function locked(rows: readonly Pick<Delivery, 'personId'>[]): RawBuilder<unknown> {
  return sql`locked as (select person_id from crm_delivery where person_id = any(${idsOf(rows)}::bigint[])
    order by person_id for no key update)`;
}

/**
 * Forgets which values about purchases were sent, if the contact has no paid join left. HubSpot keeps the values. `persons` is
 * SQL for ids.
 */
export async function forgetSent(trx: Kysely<Tables>, persons: RawBuilder<unknown>): Promise<void> {
  await sql`
    update crm_delivery set sent = sent - ${[...joinFields]}::text[] from person owner
    where owner.id = crm_delivery.person_id and owner.id in ${persons} and not exists (
      select from join_session join person on person.id = join_session.person_id
      where paid_at is not null and (person.id = owner.id or person.found_contact_id = owner.contact_id))`.execute(
    trx,
  );
}
