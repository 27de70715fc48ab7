import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { hasLine } from './orderLines.ts';

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

/** SQL for the present id of a contact: the id of the contact into which it was merged, otherwise its own. */
export function presentId(contactId: string | RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`coalesce((select merged_into from contact as merged where merged.id = ${contactId}), ${contactId})`;
}

/**
 * SQL for the id of a join's proven contact: the contact that the join created in HubSpot, or the contact that an invitation, a
 * signed link or staff named; null if there is none. `session` is the query's name for the `join_session` table.
 */
export function contactOfJoin(session: string): RawBuilder<string | null> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  return presentId(
    sql`case when ${of('owns_hubspot_contact')} then ${of('hubspot_contact_id')} else ${of('contact_id')} end`,
  );
}

/**
 * SQL for whether a contact is the join's {@link contactOfJoin}. This form of the condition can use indexes, but ignores merges
 * of contacts. `contactId` is a column name or SQL for the contact; `session` is the query's name for the `join_session` table.
 */
export function isContactOfJoin(contactId: Column, session: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  const contact = inQuery(contactId);
  return sql`(${of('contact_id')} = ${contact}
    or (${of('hubspot_contact_id')} = ${contact} and ${of('owns_hubspot_contact')}))`;
}

/**
 * SQL for whether a contact holds a purchase of this `type`: a membership or an upgrade that was bought here. `contactId` is a
 * column name or SQL.
 */
export function holdsBought(contactId: Column, type: MembershipType): RawBuilder<boolean> {
  return isHeld('contact_id', contactId, type);
}

/** SQL for whether a join's own purchase of this `type` (a membership or an upgrade) is held. `sessionUuid` is a column name. */
export function joinHolds(sessionUuid: string, type: MembershipType): RawBuilder<boolean> {
  return isHeld('session_uuid', sessionUuid, type);
}

function isHeld(
  by: 'contact_id' | 'session_uuid',
  column: Column,
  type: MembershipType,
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from membership as held
    where held.${sql.ref(by)} = ${inQuery(column)} and held.type = ${sql.lit(type)} and held.is_held)`;
}

/**
 * SQL for the membership of the query's `session`: the membership that the join bought or, if that is missing or void, a held
 * membership that the join's contact bought by another join. A subquery of at most one row, to be used as a lateral join.
 */
export const baseMembership: RawBuilder<unknown> = sql`(
  select * from (
    select 1 as place, membership.* from membership
    where session_uuid = session.uuid and type = 'membership' and standing <> 'void'
    union all
    select 2, membership.* from membership
    where contact_id = ${contactOfJoin('session')} and type = 'membership' and is_held and session_uuid <> session.uuid
  ) as memberships order by place limit 1)`;

/**
 * SQL for the processing fee (cents) with which the membership of the query's `session` ({@link baseMembership}) was sold; null if
 * there is no membership, or its snapshot has no fee.
 */
export const membershipFee: RawBuilder<number | null> = sql`(
  select processing_fee_cents from payment as paid join order_snapshot using (session_uuid, kind, revision)
  where paid.intent_id = (select payment_intent from ${baseMembership} as base))`;

/**
 * SQL for whether an upgrade has a base: the join that bought the upgrade holds a membership, or the upgrade's contact is a member.
 * `upgrade` is the query's name for the upgrade's row of `membership`.
 */
export function holdsBase(upgrade: string): RawBuilder<boolean> {
  return sql<boolean>`(${joinHolds(`${upgrade}.session_uuid`, 'membership')} or ${isMemberNow(`${upgrade}.contact_id`)})`;
}

/**
 * SQL for whether the base of an upgrade has ended and no other membership has replaced the base. A base that was not bought here
 * does not count. `upgrade` is the query's name for the upgrade's row of `membership`.
 */
export function hasLostBase(upgrade: string): RawBuilder<boolean> {
  const session = sql.ref(`${upgrade}.session_uuid`);
  const contact = sql.ref(`${upgrade}.contact_id`);
  return sql<boolean>`(not ${holdsBase(upgrade)} and (
    exists (select from membership as base where base.session_uuid = ${session} and base.type = 'membership')
    or exists (select from membership as base where base.contact_id = ${contact} and base.type = 'membership')
    or exists (select from join_session as teller join membership as base on base.session_uuid = teller.uuid
      where teller.hubspot_contact_id = ${contact} and base.type = 'membership' and not base.is_held)))`;
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
 * SQL for whether a contact is a member: it holds a membership that was bought here, or the mirror's `is_member` is true. If a
 * membership that was bought here has ended, the functions in contacts/ keep `is_member` false, even while HubSpot does not know
 * that it has ended. For a join's joiner, use {@link isJoinerMember}. `contactId` is a column name.
 */
export function isMemberNow(contactId: string): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(contactId)} or ${holdsBought(contactId, 'membership')})`;
}

/**
 * SQL for whether a join's joiner is a member. HubSpot's status counts only for a contact that an invitation, a link or staff
 * named. If the join created the contact, a sibling with the same email who paid first may have caused the status. `session` is
 * the query's name for the `join_session` table.
 */
export function isJoinerMember(session: string): RawBuilder<boolean> {
  const named = presentId(sql.ref(`${session}.contact_id`));
  return sql<boolean>`(${isMemberByMirror(named)} or ${holdsBought(contactOfJoin(session), 'membership')})`;
}

/** SQL for whether a contact is a member only according to the mirror, which may be out of date. */
export function isMemberByMirrorAlone(contactId: Column): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(contactId)} and not ${holdsBought(contactId, 'membership')})`;
}

function isMemberByMirror(contactId: Column): RawBuilder<boolean> {
  return sql<boolean>`coalesce((select mirrored.is_member from contact as mirrored where mirrored.id = ${inQuery(contactId)}), false)`;
}

export type SaleRefusal = 'held already' | 'not a member';

/**
 * SQL for the reason why a contact may not buy a membership or upgrade (`type`); null if the contact may buy it. `contactId` is a
 * column name.
 */
export function saleRefusal(type: MembershipType, contactId: string): RawBuilder<SaleRefusal | null> {
  return refusalOf(type, holdsBought(contactId, 'membership_upgrade'), isMemberNow(contactId));
}

/**
 * SQL for the reason why a join's order may not be sold to its joiner; null if it may be sold. `session` is the query's name for
 * the `join_session` table.
 */
export function orderRefusal(session: string): RawBuilder<SaleRefusal | null> {
  const holdsUpgrade = holdsBought(contactOfJoin(session), 'membership_upgrade');
  const refusal = (type: MembershipType) => refusalOf(type, holdsUpgrade, isJoinerMember(session));
  return sql`case when ${hasLine({ type: 'membership_upgrade' })} then ${refusal('membership_upgrade')}
    when ${hasLine({ type: 'membership' })} then ${refusal('membership')} end`;
}

function refusalOf(
  type: MembershipType,
  holdsUpgrade: RawBuilder<boolean>,
  isMember: RawBuilder<boolean>,
): RawBuilder<SaleRefusal | null> {
  return type === 'membership'
    ? sql`case when ${isMember} then 'held already' end`
    : sql`case when ${holdsUpgrade} then 'held already' when not ${isMember} then 'not a member' end`;
}

export function refusedSale(refusal: SaleRefusal): Refusal {
  return refusal === 'held already' ? alreadyMember() : new Refusal(409, UPGRADE_FOR_MEMBERS);
}

/**
 * Sets the mirror's `is_member` to whether the contact holds a membership that was bought here. To be called in the transaction
 * in which such a membership began or ended. HubSpot is informed later, so HubSpot's status is out of date until then.
 */
export async function mirrorBought(trx: Kysely<Tables>, contactId: string): Promise<void> {
  await sql`update contact set is_member = ${holdsBought('contact.id', 'membership')} where id = ${contactId}`.execute(
    trx,
  );
}
