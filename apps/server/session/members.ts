import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Holdings, SaleRefusal } from '#core/people.ts';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { isOfUnproven } from './alike.ts';

/** The sentence for a member who comes with an invite code or a signed link, and is not charged a second time. */
export const ALREADY_MEMBER =
  'This invitation belongs to someone who is already a member, so there is nothing to pay. Please contact us if you think this is a mistake.';
/** The refusal of a membership to somebody who is a member. */
export const alreadyMember = () => new Refusal(409, ALREADY_MEMBER, { code: 'already_member' });
/** The refusal of an upgrade to somebody who is not a member. */
const UPGRADE_FOR_MEMBERS =
  'This upgrade is for members only, and we do not know you as a member. Please join first, or contact us if you think this is a mistake.';

type MembershipType = 'membership' | 'membership_upgrade';

/** A column name, or an SQL expression. */
type Column = string | RawBuilder<unknown>;

function inQuery(column: Column): RawBuilder<unknown> {
  return typeof column === 'string' ? sql.ref(column) : column;
}

/**
 * SQL for the id of the person whom a contact id names: the person with whom that one was joined, otherwise the person itself; null
 * if there is none.
 */
export function personOf(contactId: Column): RawBuilder<number | null> {
  return sql<
    number | null
  >`(select coalesce(named.merged_into, named.id) from person named where named.contact_id = ${inQuery(contactId)})`;
}

/**
 * SQL for the id of the person with whom a person was joined, otherwise their own id. Only a join that is being paid may still name
 * the former.
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
 * SQL for the membership of the query's `session`: the membership that the join bought or, if that is missing or void, a held
 * membership that its person bought by another join. A subquery of at most one row, to be used as a lateral join.
 */
export const baseMembership: RawBuilder<unknown> = sql`(
  select * from (
    select 1 as place, membership.* from membership
    where session_uuid = session.uuid and type = 'membership' and standing <> 'void'
    union all
    select 2, membership.* from membership
    where person_id = session.person_id and type = 'membership' and is_held and session_uuid <> session.uuid
  ) as memberships order by place limit 1)`;

/**
 * SQL for the processing fee (cents) with which the membership of the query's `session` ({@link baseMembership}) was sold; null if
 * there is no membership, or its snapshot has no fee.
 */
export const membershipFee: RawBuilder<number | null> = sql`(
  select processing_fee_cents from payment as paid join order_snapshot using (session_uuid, kind, revision)
  where paid.intent_id = (select payment_intent from ${baseMembership} as base))`;

/**
 * SQL for whether an upgrade has a base: its person is a member. `upgrade` is the query's name for the upgrade's row of
 * `membership`. For an erased join, only the membership of the same join counts.
 */
export function holdsBase(upgrade: string): RawBuilder<boolean> {
  return sql<boolean>`(${joinHolds(`${upgrade}.session_uuid`, 'membership')} or ${isMemberNow(`${upgrade}.person_id`)})`;
}

/**
 * SQL for whether the base of an upgrade has ended and no other membership has replaced the base. A base that was not bought here
 * does not count. `upgrade` is the query's name for the upgrade's row of `membership`.
 */
export function hasLostBase(upgrade: string): RawBuilder<boolean> {
  return sql<boolean>`(not ${holdsBase(upgrade)} and exists (select from membership as base where base.type = 'membership'
    and (base.session_uuid = ${sql.ref(`${upgrade}.session_uuid`)} or base.person_id = ${sql.ref(`${upgrade}.person_id`)})))`;
}

/**
 * SQL for whether the membership that a join has bought has ended; for an upgrade by link, whether the upgrade has. Staff then
 * have nothing to decide about the join's transcripts. False if the join has bought nothing. `sessionUuid` is a column name.
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

/**
 * SQL for whether a person is a member: holds a membership that was bought here, or HubSpot says so. If a membership that was bought
 * here has ended, the functions in crm/ keep `is_member` false, even while HubSpot does not know that it has ended. For a
 * join's joiner, use {@link isJoinerMember}. `personId` is a column name or SQL.
 */
export function isMemberNow(personId: Column): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(personId)} or ${holdsBought(personId, 'membership')})`;
}

/**
 * SQL for whether a join's joiner is a member. HubSpot's status counts only for a contact that an invitation, a link or staff
 * named. If a join created the contact, a sibling with the same email who paid first may have caused the status. `session` is the
 * query's name for the `join_session` table.
 */
export function isJoinerMember(session: string): RawBuilder<boolean> {
  const personId = presentPerson(`${session}.person_id`);
  return sql<boolean>`(${isMemberByMirror(personId, sql`and not mirrored.made_contact`)} or ${holdsBought(personId, 'membership')})`;
}

/**
 * SQL for whether a code or a link that sells a membership to a person is refused, since they are a member. What was bought does not
 * count while it is not proven whose it is ({@link isOfUnproven}). `personId` is a column name or SQL.
 */
export function isProvenMember(personId: Column): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(personId)} or ${holdsBought(personId, 'membership')} and not ${isOfUnproven(inQuery(personId))})`;
}

/** SQL for whether a person is a member only according to HubSpot, which may be out of date. */
export function isMemberByMirrorAlone(personId: Column): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(personId)} and not ${holdsBought(personId, 'membership')})`;
}

function isMemberByMirror(personId: Column, and: RawBuilder<unknown> = sql``): RawBuilder<boolean> {
  return sql<boolean>`coalesce((select mirrored.is_member from person as mirrored where mirrored.id = ${inQuery(personId)} ${and}), false)`;
}

/** SQL for what a person holds, and what HubSpot says of them. `personId` is a column name or SQL. */
export function holdings(personId: Column): RawBuilder<Holdings> {
  return holdingsWith(personId, isMemberByMirror(personId));
}

/** SQL for the {@link holdings} of a join's joiner, as {@link isJoinerMember}. `session` is the query's name for `join_session`. */
export function joinerHoldings(session: string): RawBuilder<Holdings> {
  const personId = presentPerson(`${session}.person_id`);
  return holdingsWith(personId, isMemberByMirror(personId, sql`and not mirrored.made_contact`));
}

function holdingsWith(personId: Column, isMemberAtHubspot: RawBuilder<boolean>): RawBuilder<Holdings> {
  return sql<Holdings>`json_build_object('holdsMembership', ${holdsBought(personId, 'membership')},
    'holdsUpgrade', ${holdsBought(personId, 'membership_upgrade')}, 'isMemberAtHubspot', ${isMemberAtHubspot})`;
}

export function refusedSale(refusal: SaleRefusal): Refusal {
  return refusal === 'held already' ? alreadyMember() : new Refusal(409, UPGRADE_FOR_MEMBERS);
}

/**
 * Lets HubSpot's status of a person count no more. To be called in the transaction in which a membership that was bought here began
 * or ended: from then on HubSpot has the status that we tell.
 */
export async function forgetStatus(trx: Kysely<Tables>, personId: number): Promise<void> {
  await sql`update person set is_member = false where id = ${personId}`.execute(trx);
}
