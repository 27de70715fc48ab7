import { isDeepStrictEqual } from 'node:util';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import {
  type CrmField,
  type CrmValues,
  type FieldRules,
  type FieldValue,
  joinFields,
  knownOfSeveral,
  propertiesToSend,
} from '#core/crmFields.ts';
import { purchasesOf } from '#core/purchases.ts';
import type { PaidOrder } from '#core/refunds.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { tellStaff } from '../notices/tellStaff.ts';
import type { Tables } from '../platform/database/types.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import type { CrmUnavailable } from '../providers/hubspot/errors.ts';
import { fromJoin, knownOf, MEMBER } from '../providers/hubspot/properties.ts';
import { alikeTo, toldWith } from '../session/alike.ts';
import { followMoved } from '../session/followMoved.ts';
import { holdsBought, joinHolds, personOf } from '../session/members.ts';
import { isProof } from '../session/proof.ts';
import { crmId, isOfContact, whose } from './crmId.ts';
import { hubspotIsToHear } from './tellHubspot.ts';

/** HubSpot's largest batch. */
const BATCH = 100;
const LONGEST_BACKOFF_SECONDS = 60;
/** How many times a join may fail before it is sent in smaller batches. */
const FULL_TRIES = 2;

/**
 * A join that is to be sent to HubSpot. `whose` decides how it is written:
 * - `named`: an invitation, a link or staff named the contact, or this join created it. The contact is updated.
 * - `shared`: the contact has the join's email, but is not proven to be the joiner. Only fields about the purchase are written, and
 *   only over blanks and over values that this join wrote.
 * - `new`: the join has no contact yet (after a school's code or a self-nomination, which do not prove who the joiner is). A
 *   contact is created, unless HubSpot already has a contact with the join's email.
 */
export interface DueJoin {
  uuid: string;
  whose: 'named' | 'shared' | 'new';
  /** HubSpot's id of the contact; null if the join has none yet. */
  crm_id: string | null;
  /** Whether this join created the contact. */
  is_own: boolean;
  state: string;
  details: StudentDetails | null;
  /** The values that were last sent to HubSpot. For a shared contact, only those that this join wrote. */
  crm_known: CrmValues;
  /** Whether the contact is also the proven contact of other paid joins. */
  has_others: boolean;
  /** Whether another paid join with the same proven contact holds a membership. */
  others_hold: boolean;
  profile_revision: number;
  created_at: Date;
  paid_at: Date | null;
  amount_cents: number | null;
  status: 'member' | 'former' | null;
  holds_upgrade: boolean;
  /** Whether another join may have sent the status `member` that the contact has in HubSpot: see {@link mayBeTheirStatus}. */
  may_be_their_status: boolean;
  orders: Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>[] | null;
  transcript_at: Date | null;
  /** Whether the named contact may have been a member in HubSpot already when the join was paid: see {@link mayHaveBeenMember}. */
  may_have_been_member: boolean;
  /** Whether the join holds a membership or upgrade, but lacks the student details that creating a contact needs. */
  is_nameless: boolean;
}

/**
 * SQL: whether a membership is held by the person of `session`, by likely the same ones, or by others who are written into the same
 * contact. If so, the status in HubSpot is `member`, even if the membership of this join has ended.
 */
const payerHolds = sql`exists (
    select from ${toldWith(sql`session.person_id`)} as payer (id)
    join membership held on held.person_id = payer.id and held.type = 'membership' and held.is_held)`;
/**
 * SQL: a subquery with three columns.
 * - `others`: the paid joins, other than `session`, whose proven contact is the contact of `session`.
 * - `joins`: the joins whose purchases are summed up for HubSpot: the `others`, and also `session` if `session` is `named` or
 *   there are no others.
 * - `paid_at`: if `session` is `named`, when its contact last paid by any of these joins; otherwise when `session` was paid.
 */
const joinsOfContact = sql`(
  select others, case when session.whose = 'named' or others = '{}' then session.uuid || others else others end as joins,
    case when session.whose = 'named' then greatest(session.paid_at, last_paid_at) else session.paid_at end as paid_at
  from (
    select coalesce(array_agg(uuid), '{}') as others, max(paid_at) as last_paid_at from join_session other
    where paid_at is not null and other.uuid <> session.uuid
      and other.person_id = ${personOf('session.crm_id')}
  ) as paid)`;
/** SQL: whether one of the `others` of {@link joinsOfContact} holds a membership. */
const othersHold = sql`exists (
    select from membership held where held.session_uuid = any(others) and held.type = 'membership' and held.is_held)`;
/**
 * SQL: whether another join may have sent the status `member` that a contact has in HubSpot. If so, the status does not prove
 * that the payer of `session` has paid twice. `contactId` is a column's name, `session` a table alias. True in two cases:
 * - The other join merely has the contact's email: the contact is not its proven contact.
 * - The other join has the same payer as `session` and has this proven contact, and the contact holds no membership that was
 *   bought here.
 */
export function mayBeTheirStatus(
  contactId: string | RawBuilder<unknown>,
  session: string,
): RawBuilder<boolean> {
  const inQuery = typeof contactId === 'string' ? sql.ref(contactId) : contactId;
  const toldMember = sql`teller.uuid <> ${sql.ref(`${session}.uuid`)} and teller.crm_known ->> 'membershipStatus' = ${MEMBER}`;
  return sql<boolean>`(exists (
      select from join_session teller join person guest on guest.id = teller.person_id
      where guest.found_contact_id = ${inQuery} and ${toldMember})
    or not ${holdsBought(personOf(inQuery), 'membership')} and exists (
      select from join_session teller
      where teller.person_id = ${personOf(inQuery)} and ${toldMember}
        and teller.person_id in ${alikeTo(sql.ref(`${session}.person_id`))}))`;
}

/** The mirror's copy of a contact counts as up to date if it was read at most this many minutes before the payment. */
const FRESH_MINUTES = 10;
/**
 * SQL: whether the contact of `session` may have been a member in HubSpot already when the join was paid: the mirror has the
 * status `member`, or the mirror's copy was out of date, as in an outage of HubSpot. False in any case if this join has already
 * sent a status to the contact, or if another join has sent the status `member`.
 */
const mayHaveBeenMember = sql`(session.paid_at is not null and not crm_known ? 'membershipStatus'
  and exists (select from person where person.id = session.person_id and not made_contact
    and (is_member or fetched_at is null or fetched_at < session.paid_at - make_interval(mins => ${FRESH_MINUTES})))
  and not exists (select from join_session teller
    where teller.person_id in (select session.person_id union all select id from person where found_contact_id = session.crm_id)
      and teller.uuid <> session.uuid and teller.crm_known ->> 'membershipStatus' = ${MEMBER}))`;

/**
 * SQL: the columns of a {@link DueJoin}, for a query with `session` (a join session with its `whose` and `crm_id`) and {@link
 * joinsOfContact}. Purchases are those of all joins of the contact together, since HubSpot has one amount for a contact. Only a
 * join that bought a membership sends a status. Any other join could overwrite the status of somebody whom staff have made a member
 * by hand.
 */
const columns = sql`session.uuid, whose, crm_id, whose = 'named' and (select made_contact from person where person.id = session.person_id) as is_own, state,
  coalesce(case when state = 'paid' then (select person.details from person where person.id = session.person_id) end, details) as details,
  crm_known, cardinality(others) > 0 as has_others, ${othersHold} as others_hold, profile_revision, created_at, person.paid_at,
  (select sum(greatest(0, amount_cents - refunded_cents - coalesce((select sum(refund.amount_cents) from refund
      where refund.intent_id = payment.intent_id and is_dispute and refund.status = 'succeeded'), 0)))::int
    from payment where session_uuid = any(joins) and status = 'succeeded') as amount_cents,
  (select case when bool_or(is_held) or ${othersHold} or ${payerHolds} then 'member' else 'former' end
    from membership where session_uuid = session.uuid and type = 'membership' having count(*) > 0) as status,
  exists (select from membership where session_uuid = any(joins) and type = 'membership_upgrade' and is_held) as holds_upgrade,
  ${mayBeTheirStatus('session.crm_id', 'session')} as may_be_their_status,
  (select json_agg(json_build_object('lines', items, 'amountCents', amount_cents, 'refunds', coalesce((
      select json_agg(json_build_object('amountCents', refund.amount_cents, 'status', refund.status, 'lines', refund.lines))
      from refund where refund.intent_id = bought.intent_id), '[]')) order by is_held, succeeded_at)
    from (select intent_id, payment.amount_cents, items, succeeded_at,
        exists (select from membership where payment_intent = intent_id and is_held) as is_held
      from payment join order_snapshot using (session_uuid, kind, revision)
      where session_uuid = any(joins) and status = 'succeeded') as bought) as orders,
  (select min(created_at) from document where session_uuid = any(joins) and ${isProof}) as transcript_at,
  whose = 'named' and ${mayHaveBeenMember} as may_have_been_member,
  details is null and erased_at is null
    and exists (select from membership where session_uuid = session.uuid and is_held) as is_nameless`;

/**
 * Takes a batch of due joins with the same kind of contact (`whose`). Taking a join postpones it by a minute, so that it is due
 * again if this process dies. A join that failed repeatedly is taken in ever smaller batches, and finally alone: a join that
 * HubSpot cannot process must not delay others.
 */
export async function takeDue(deps: Deps): Promise<(DueJoin & { size: number })[]> {
  const { rows } = await sql<DueJoin & { size: number }>`
    with first as (
      select ${whose} as whose, ceil(${BATCH} / power(5, greatest(0, crm_attempts - ${FULL_TRIES})))::int as size from join_session
      where profile_revision <> crm_revision and crm_refusal is null and crm_next_try_at <= now()
      order by crm_next_try_at limit 1
    ), due as (
      select uuid from join_session
      where profile_revision <> crm_revision and crm_refusal is null and crm_next_try_at <= now()
        and ${whose} = (select whose from first)
      order by crm_next_try_at limit (select size from first) for no key update skip locked
    ), session as (
      update join_session set crm_next_try_at = now() + interval '1 minute', crm_attempts = crm_attempts + 1
      from due where join_session.uuid = due.uuid
      returning join_session.*, ${whose} as whose, ${crmId} as crm_id
    )
    select ${columns}, (select size from first) from session cross join lateral ${joinsOfContact} as person`.execute(
    deps.database,
  );
  return rows.map((row) => ({ ...asShown(row), size: row.size }));
}

/**
 * Returns the join with the values that HubSpot is known to have, in the form's spelling ("Texas" for "TX"). Otherwise a value
 * that the joiner has not changed would be sent because HubSpot spells it differently.
 */
function asShown(row: DueJoin): DueJoin {
  return { ...row, crm_known: { ...row.crm_known, ...knownOf(row.crm_known) } };
}

/** Reads joins, whether they are due or not. A join that does not exist is left out. */
async function readJoins(deps: Deps, uuids: readonly string[]): Promise<DueJoin[]> {
  const { rows } = await sql<DueJoin>`
    with session as (select *, ${whose} as whose, ${crmId} as crm_id from join_session where uuid = any(${uuids}::uuid[]))
    select ${columns} from session cross join lateral ${joinsOfContact} as person`.execute(deps.database);
  return rows.map(asShown);
}

/** Reads one join, whether it is due or not; null if there is none. */
export async function readJoin(deps: Deps, uuid: string): Promise<DueJoin | null> {
  return (await readJoins(deps, [uuid]))[0] ?? null;
}

/** The properties to send to HubSpot for a join, and the values to record once HubSpot has them. */
export interface Planned {
  row: DueJoin;
  properties: Record<string, string>;
  /** The values, by field, that HubSpot has after the write. */
  known: CrmValues;
  /** A notice to staff; null if there is none. The same notice about a join is written only once. */
  notice: { kind: string; message: string } | null;
}

/** A join (`row`) and the contact into which it is written. `isOwn`: whether this join created that contact. */
export interface ContactOfJoin {
  row: DueJoin;
  contactId: string;
  isOwn: boolean;
}

/**
 * Returns the uuids of the joins in `sent` whose values have changed since they were read, because another join of the same
 * contact has changed. These joins must be sent again: another server may have sent the new values already, and the old values
 * may have overwritten them because they arrived in HubSpot later.
 */
async function overtaken(deps: Deps, sent: readonly Planned[]): Promise<string[]> {
  const rows = new Map(sent.map(({ row }) => [row.uuid, row]));
  return (await readJoins(deps, [...rows.keys()])).flatMap((now) => {
    const row = rows.get(now.uuid)!;
    const isUnchanged = isDeepStrictEqual(valuesOf({ ...now, crm_known: row.crm_known }), valuesOf(row));
    return isUnchanged ? [] : [now.uuid];
  });
}

/**
 * Records that joins were sent to HubSpot, in the revision that was sent. A join that has changed meanwhile stays due, and a join
 * that was {@link overtaken} becomes due again. Also, in the same transaction:
 * - HubSpot's status of a contact whose join has sent one says no more than our memberships.
 * - A status that a join in `sent` has written is also recorded in the other joins with this proven contact that have sent a
 *   status. Otherwise such a join would assume that HubSpot still has its own status, and would not send it again.
 * - Notices are written, the same text only once for a join.
 * - Another join that was written into this contact only because of its email becomes due again in three cases:
 *   1. That join holds a membership, and the contact has become a former member.
 *   2. That join has sent purchases, and a proven paid join is in `sent`. That join must then empty its values.
 *   3. That join is paid, and a join in `sent` has emptied a property, into which that join may now write its own value.
 */
export async function delivered(deps: Deps, sent: readonly Planned[]): Promise<void> {
  if (sent.length === 0) return;
  const statusProperty = deps.society.crm.fields.membershipStatus.property ?? '';
  const rows = sent.map(({ row, properties, known, notice }) => {
    // The status to write into the mirror. If HubSpot already had the status `member`, that status was not sent, but the mirror
    // gets it nevertheless: another join of the same payer may keep the contact a member.
    const status = properties[statusProperty] ?? (known.membershipStatus === MEMBER ? MEMBER : undefined);
    return {
      uuid: row.uuid,
      revision: row.profile_revision,
      known,
      contact: row.crm_id,
      is_status_told: status !== undefined && row.whose !== 'shared',
      has_ended: status !== undefined && status !== MEMBER,
      written: properties[statusProperty] ?? null,
      is_proven_sale: row.whose === 'named' && row.paid_at !== null,
      has_emptied: row.whose === 'shared' && Object.values(properties).includes(''),
      kind: notice?.kind,
      message: notice?.message,
    };
  });
  const again = await overtaken(deps, sent);
  const contacts = sql`any(${rows.map(({ contact }) => contact)}::text[])`;
  await deps.database.transaction().execute(async (trx) => {
    await lockInOrder(
      trx,
      sql`uuid in (select unnest(${rows.map(({ uuid }) => uuid)}::uuid[]) union all select uuid from join_session where ${isOfContact(contacts)})`,
    );
    await sql`select from person where contact_id = ${contacts} order by id for no key update`.execute(trx);
    await sql`update join_session set ${hubspotIsToHear} where uuid = any(${again}::uuid[])`.execute(trx);
    await sql`
    with sent as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json)
        as sent (uuid uuid, revision integer, known jsonb, contact text, is_status_told boolean, has_ended boolean, is_proven_sale boolean, has_emptied boolean, kind text, message text)
    ), mirrored as (
      update person set is_member = false from sent join join_session using (uuid)
      where person.contact_id = sent.contact and sent.is_status_told and profile_revision = sent.revision
    ), told as (
      insert into staff_notice (kind, session_uuid, message)
      select kind, uuid, message from sent
      where kind is not null
        and not exists (select from staff_notice earlier
          where earlier.session_uuid = sent.uuid and earlier.kind = sent.kind and earlier.message = sent.message)
    ), beside as (
      update join_session other set ${hubspotIsToHear} from sent, person guest
      where guest.id = other.person_id and guest.found_contact_id = sent.contact
        and other.uuid not in (select uuid from sent)
        and (sent.has_ended and ${joinHolds('other.uuid', 'membership')}
          or has_emptied and other.paid_at is not null
          or is_proven_sale and exists (
            select from jsonb_each_text(other.crm_known) as told where key = any(${ofProvenAlone}::text[]) and value <> ''))
    )
    update join_session set crm_revision = sent.revision, crm_known = crm_known || sent.known, crm_attempts = 0, crm_next_try_at = now()
    from sent where join_session.uuid = sent.uuid`.execute(trx);
    await sql`
      update join_session other set crm_known = crm_known || jsonb_build_object('membershipStatus', written)
      from json_to_recordset(${JSON.stringify(rows)}::json) as sent (uuid uuid, contact text, written text)
      where written is not null and other.person_id = ${personOf('sent.contact')}
        and crm_known ? 'membershipStatus' and other.uuid <> sent.uuid`.execute(trx);
  });
}

/**
 * Locks joins in the order of their uuids. A caller that also locks contacts must lock the joins first. Payments lock in this
 * order, too, so deadlocks cannot occur.
 */
async function lockInOrder(trx: Transaction<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await sql`select from join_session where ${which} order by uuid for no key update`.execute(trx);
}

/**
 * A join that will not be sent until staff have acted on `reason`. `notice` is a notice to staff; absent if staff learn of the
 * join in another way.
 */
export interface Refused {
  uuid: string;
  reason: string;
  notice?: { kind: string; message: string };
}

/** Records that these joins are not sent to HubSpot, with the reasons. Staff can put such joins back into the queue. */
export async function refuse(deps: Deps, refused: readonly Refused[]): Promise<void> {
  if (refused.length === 0) return;
  await deps.database.transaction().execute(async (trx) => {
    await lockInOrder(trx, sql`uuid = any(${refused.map(({ uuid }) => uuid)}::uuid[])`);
    await sql`
      update join_session set crm_refusal = refused.reason
      from json_to_recordset(${JSON.stringify(refused)}::json) as refused (uuid uuid, reason text)
      where join_session.uuid = refused.uuid`.execute(trx);
    for (const { uuid, notice } of refused)
      if (notice) await tellStaff(trx, uuid, notice.kind, notice.message);
  });
}

/**
 * Records the contact of each join. If the join created the contact, the contact is the join's person, who takes over what the mirror
 * has read of it; if another person's join had created it, it was merely found. A found contact is recorded only if the join has not
 * changed since it was sent: a corrected email may lead to another contact. The recorded values of {@link joinFields} are cleared,
 * since they were sent to another contact. The paid joins of a contact that was found become due: its status counts one more person.
 */
export async function noteContacts(deps: Deps, contacts: readonly ContactOfJoin[]): Promise<void> {
  if (contacts.length === 0) return;
  const rows = contacts.map(({ row, contactId, isOwn }) => ({
    uuid: row.uuid,
    contact_id: contactId,
    is_own: isOwn,
    revision: row.profile_revision,
  }));
  await deps.database.transaction().execute(async (trx) => {
    const uuids = rows.map(({ uuid }) => uuid);
    const ofContacts = isOfContact(sql`any(${contacts.map(({ contactId }) => contactId)}::text[])`);
    await lockInOrder(
      trx,
      sql`uuid in (select unnest(${uuids}::uuid[]) union all select uuid from join_session where ${ofContacts})`,
    );
    const { rows: noted } = await sql<{
      uuid: string;
      personId: number;
      contactId: string;
      isOwn: boolean;
      before: string | null;
    }>`
    with noted as (
      update join_session set crm_known = crm_known - ${joinFields}::text[]
      from json_to_recordset(${JSON.stringify(rows)}::json) as noted (uuid uuid, contact_id text, is_own boolean, revision integer)
      where join_session.uuid = noted.uuid and (noted.is_own or profile_revision = noted.revision)
      returning noted.uuid, person_id, noted.contact_id, noted.is_own)
    select noted.uuid, person_id as "personId", noted.contact_id as "contactId", person.contact_id as before,
      is_own and not exists (
        select from person other where other.contact_id = noted.contact_id and other.made_contact and other.id <> person_id) as "isOwn"
    from noted join person on person.id = person_id`.execute(trx);
    for (const { uuid, personId, contactId, isOwn, before } of noted) {
      if (!isOwn)
        await sql`
          with found as (
            update person set found_contact_id = ${contactId} where id = ${personId} and found_contact_id is distinct from ${contactId}
            returning id)
          update join_session set ${hubspotIsToHear}
          where ${isOfContact(sql`${contactId}`)} and paid_at is not null and person_id <> all(select id from found)
            and exists (select from found)`.execute(trx);
      else if (before !== contactId) await becomeContact(trx, personId, { uuid, contactId, before });
    }
  });
}

/**
 * Makes a contact that the join `uuid` has created its person. `before` is the person's former contact, which HubSpot has deleted: its
 * id goes on naming the person.
 */
async function becomeContact(
  trx: Transaction<Tables>,
  personId: number,
  { uuid, contactId, before }: { uuid: string; contactId: string; before: string | null },
): Promise<void> {
  const { rows } = await sql<{
    id: number;
    profile: string;
    email: string | null;
    words: string;
    fetched_at: Date | null;
  }>`
    update person set contact_id = null, merged_into = ${personId}, likeness = null where contact_id = ${contactId} and id <> ${personId}
    returning id, profile::text, email, words, fetched_at`.execute(trx);
  const [read] = rows;
  await sql`
    update person set contact_id = ${contactId}, made_contact = true, found_contact_id = null, deleted_at = null, is_member = false,
      profile = ${read?.profile ?? '{}'}::jsonb, email = ${read?.email ?? null}, fetched_at = ${read?.fetched_at ?? null},
      words = words || ${read ? ` ${read.words}` : ''}
    where id = ${personId}`.execute(trx);
  if (read) {
    await sql`
      update person set merged_into = ${personId}, profile = '{}', email = null, words = ''
      where id = ${read.id} or merged_into = ${read.id}`.execute(trx);
    await sql`update join_session set person_id = ${personId} where person_id = ${read.id}`.execute(trx);
    await followMoved(trx, sql`(${read.id})`);
    for (const table of ['invitation', 'document'] as const)
      await sql`update ${sql.table(table)} set person_id = ${personId} where person_id = ${read.id}`.execute(
        trx,
      );
  }
  // Other paid joins of the person have sent their values to the former contact, or to none.
  await sql`
    update join_session set crm_known = crm_known - ${joinFields}::text[], ${hubspotIsToHear}
    where person_id = ${personId} and paid_at is not null and uuid <> ${uuid}`.execute(trx);
  if (before !== null)
    await sql`insert into person (contact_id, deleted_at, merged_into) values (${before}, now(), ${personId})`.execute(
      trx,
    );
}

/** Puts joins of a batch back: they are due immediately, so that the next batch takes them. */
export async function later(deps: Deps, rows: readonly DueJoin[]): Promise<void> {
  if (rows.length === 0) return;
  const these = sql`uuid = any(${rows.map(({ uuid }) => uuid)}::uuid[])`;
  await deps.database.transaction().execute(async (trx) => {
    await lockInOrder(trx, these);
    await sql`update join_session set crm_next_try_at = now() where ${these}`.execute(trx);
  });
}

/**
 * Postpones joins with exponential backoff. Each time that a join is taken counts as an attempt, and a join with many attempts is
 * sent in smaller batches. If none of these joins can have caused the failure (`perhapsRecord` is false), this attempt does not
 * count.
 */
export async function postpone(
  deps: Deps,
  rows: readonly DueJoin[],
  { retryAfterMs, perhapsRecord }: Pick<CrmUnavailable, 'retryAfterMs' | 'perhapsRecord'>,
): Promise<void> {
  const these = sql`uuid = any(${rows.map(({ uuid }) => uuid)}::uuid[])`;
  await deps.database.transaction().execute(async (trx) => {
    await lockInOrder(trx, these);
    await sql`
      update join_session set crm_attempts = crm_attempts - ${perhapsRecord ? 0 : 1}, crm_next_try_at = now() + make_interval(secs =>
        greatest(${retryAfterMs / 1000}::float, least(${LONGEST_BACKOFF_SECONDS}, power(2, least(crm_attempts, 10))) * (0.5 + random() / 2)))
      where ${these} and profile_revision <> crm_revision and crm_next_try_at > now()`.execute(trx);
  });
}

/**
 * Purchase fields. If a contact has a proven join, only its proven joins send these fields. A join that merely has the contact's
 * email takes back the values that it sent while the contact had no proven join.
 */
const ofProvenAlone: readonly CrmField[] = ['membership', 'upgrade', 'donation', 'items', 'amountPaid'];

/**
 * Returns the values, by field, that a join sends to HubSpot. Special cases:
 * - If this join merely has the contact's email and the contact has proven joins, this join sends only the status and the time of
 *   payment of its payer. Purchases that this join sent before are replaced by those of the proven joins, or emptied.
 * - If another proven join of the contact holds a membership, the stage is `paid`, whatever this join's state is.
 */
export function valuesOf(row: DueJoin): FieldValue[] {
  const values = fromJoin({
    details: row.details,
    state: row.others_hold ? 'paid' : row.state,
    bought: purchasesOf(row.orders ?? [], row.holds_upgrade),
    amountCents: row.amount_cents,
    paidAt: row.paid_at,
    status: row.status,
    transcriptAt: row.transcript_at,
    known: row.crm_known,
  });
  if (row.whose !== 'shared' || !row.has_others) return values;
  const said = ofProvenAlone.filter((field) => row.crm_known[field]);
  return [
    ...values.filter(({ field }) => field === 'membershipStatus' || field === 'paidAt'),
    ...said.map((field) => ({ field, value: values.find((told) => told.field === field)?.value ?? '' })),
  ];
}

/** HubSpot's built-in property for a contact's email. HubSpot validates the format of this property only. */
export const EMAIL = 'email';

/**
 * Returns the properties to write for a join that may update its contact. If the join created its contact and the joiner has
 * corrected the email, the properties include HubSpot's built-in `email`. `present` are the contact's properties in HubSpot; null
 * if they were not read.
 */
export function propertiesOfNamed(
  fields: FieldRules,
  row: DueJoin,
  values: FieldValue[],
  present: CrmContact['properties'] | null,
): Record<string, string> {
  const properties = propertiesToSend(fields, values, knownFor(fields, row, present), present);
  const isCorrected = row.is_own && (fields.personalEmail.property ?? '') in properties;
  return isCorrected && row.details
    ? { ...properties, [EMAIL]: row.details.personalEmail.toLowerCase() }
    : properties;
}

/**
 * Returns the values, by field, that HubSpot is known to have. `present` are the contact's properties in HubSpot; null if they were
 * not read.
 */
function knownFor(
  fields: FieldRules,
  row: DueJoin,
  present: Record<string, string | null | undefined> | null,
): CrmValues {
  return row.has_others && present ? knownOfSeveral(fields, row.crm_known, present) : row.crm_known;
}
