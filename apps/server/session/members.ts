import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { BaseFacts, Holdings, SaleRefusal } from '#core/people.ts';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { isProven } from './alike.ts';

/** The sentence for a member who uses an invite code or a signed link, and is not charged a second time. */
export const ALREADY_MEMBER =
  'This invitation belongs to someone who is already a member, so there is nothing to pay. Please contact us if you think this is a mistake.';
/** The refusal of a membership to somebody who is a member. */
export const alreadyMember = () => new Refusal(409, ALREADY_MEMBER, { code: 'already_member' });
/** The refusal of an upgrade to somebody who is not a member. */
const UPGRADE_FOR_MEMBERS =
  'This upgrade is for members only, and we have no record of your membership. Please join first, or contact us if you think this is a mistake.';

type MembershipType = 'membership' | 'membership_upgrade';

/** A column name, or an SQL expression. */
type Column = string | RawBuilder<unknown>;

function inQuery(column: Column): RawBuilder<unknown> {
  return typeof column === 'string' ? sql.ref(column) : column;
}

/**
 * SQL for the id of the person with a contact id or, if that person was merged, of the one they were merged into; null if there
 * is none.
 */
export function personOf(contactId: Column): RawBuilder<number | null> {
  return sql<
    number | null
  >`(select coalesce(named.merged_into, named.id) from person named where named.contact_id = ${inQuery(contactId)})`;
}

/**
 * SQL for the id of the person into whom a person was merged, otherwise their own. Only a join that is being paid still refers to
 * a merged person.
 */
export function presentPerson(personId: Column): RawBuilder<number> {
  return sql<number>`(select coalesce(present.merged_into, present.id) from person present where present.id = ${inQuery(personId)})`;
}

/** SQL for whether a person holds a purchase of this `type`: a membership or an upgrade. `personId` is a column name or SQL. */
export function holdsBought(personId: Column, type: MembershipType): RawBuilder<boolean> {
  return isHeld('person_id', personId, type);
}

/** SQL for whether a join's own purchase of this `type` (a membership or an upgrade) is held. `sessionUuid` is a column name. */
export function joinHolds(sessionUuid: string, type: MembershipType): RawBuilder<boolean> {
  return isHeld('session_uuid', sessionUuid, type);
}

function isHeld(by: 'person_id' | 'session_uuid', column: Column, type: MembershipType): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from membership as held
    where held.${sql.ref(by)} = ${inQuery(column)} and held.type = ${sql.lit(type)} and held.is_held)`;
}

/**
 * SQL for a subquery of at most one row: the membership that the query's `session` bought. If it is missing or void, a held
 * membership that the person bought by another join.
 */
export const baseMembership: RawBuilder<unknown> = sql`(
  select * from (
    select 1 as place, membership.* from membership
    where session_uuid = session.uuid and type = 'membership' and standing <> 'void'
    union all
    select 2, membership.* from membership
    where person_id = session.person_id and type = 'membership' and is_held and session_uuid <> session.uuid
  ) as memberships order by place limit 1)`;

/** SQL for the processing fee (cents) with which {@link baseMembership} was sold; null if there is none. */
export const membershipFee: RawBuilder<number | null> = sql`(
  select processing_fee_cents from payment as paid join order_snapshot using (session_uuid, kind, revision)
  where paid.intent_id = (select payment_intent from ${baseMembership} as base))`;

/**
 * SQL for the {@link BaseFacts} of an upgrade. `upgrade` is the query's name for its row of `membership`. The person of an erased
 * join is unknown.
 */
export function baseFacts(upgrade: string): RawBuilder<BaseFacts> {
  const [join, person] = [`${upgrade}.session_uuid`, `${upgrade}.person_id`];
  // With a limit, PostgreSQL does not read all memberships at once when it is asked about many joins.
  const isHeldByJoin = sql`(select true where ${joinHolds(join, 'membership')} limit 1) is not null`;
  return sql<BaseFacts>`json_build_object('isHeldByJoin', ${isHeldByJoin}, 'holdings', ${holdings(person)},
    'wasBoughtHere', exists (select from membership as base where base.type = 'membership'
      and (base.session_uuid = ${sql.ref(join)} or base.person_id = ${sql.ref(person)})))`;
}

/**
 * SQL for whether a join's membership has ended; for an upgrade by link, whether the upgrade has. False if the join has bought
 * nothing. `sessionUuid` is a column name.
 */
export function hasEnded(sessionUuid: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from membership as bought where bought.session_uuid = ${sql.ref(sessionUuid)}
    having not coalesce(bool_or(bought.is_held) filter (where bought.type = 'membership'), bool_or(bought.is_held)))`;
}

/** SQL for whether a join has a membership that was refunded or whose refund is under way. `sessionUuid` is a column name. */
export function isReturned(sessionUuid: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from membership as returned
    where returned.session_uuid = ${sql.ref(sessionUuid)} and returned.type = 'membership' and returned.standing = 'refunded')`;
}

/** SQL for the {@link Holdings} of a person; null if there is none. `personId` is a column name or SQL. */
export function holdings(personId: Column): RawBuilder<Holdings | null> {
  return sql<Holdings | null>`(
    select json_build_object('holdsMembership', coalesce(held.membership, false), 'holdsUpgrade', coalesce(held.upgrade, false),
      'isMemberAtHubspot', holder.is_member, 'isMadeByJoin', holder.made_contact, 'hasPaidProven', exists (
        select from join_session proven where proven.person_id = holder.id and proven.state = 'paid' and ${isProven('proven')}))
    from person holder, lateral (
      select bool_or(type = 'membership') as membership, bool_or(type = 'membership_upgrade') as upgrade
      from membership where person_id = holder.id and is_held) as held
    where holder.id = ${inQuery(personId)})`;
}

/** SQL for the {@link holdings} of a join's joiner. `session` is the query's name for `join_session`. */
export function joinerHoldings(session: string): RawBuilder<Holdings> {
  return sql<Holdings>`${holdings(presentPerson(`${session}.person_id`))}`;
}

export function refusedSale(refusal: SaleRefusal): Refusal {
  return refusal === 'held already' ? alreadyMember() : new Refusal(409, UPGRADE_FOR_MEMBERS);
}

/**
 * Makes HubSpot's membership status of a person count no more. To be called when a membership that was bought here begins or
 * ends: from then on HubSpot gets the status from us.
 */
export async function forgetStatus(trx: Kysely<Tables>, personId: number): Promise<void> {
  await sql`update person set is_member = false where id = ${personId}`.execute(trx);
}

/**
 * SQL for whether the links in letters may still open the query's `session`. False if the join is erased, or if it is paid and no
 * membership or upgrade that it bought is held.
 */
export const hasNotEnded = sql<boolean>`(session.erased_at is null and (session.state <> 'paid'
    or exists (select from membership as held where held.session_uuid = session.uuid and held.is_held)))`;
