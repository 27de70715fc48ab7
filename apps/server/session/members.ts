import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { hasLine } from './orderLines.ts';

/** Shown to people who came by an invite code or a signed link, instead of charging them again. */
export const ALREADY_MEMBER =
  'This invitation belongs to someone who is already a member, so there is nothing to pay. Please contact us if you think this is a mistake.';
/** Shown instead of selling a membership upgrade to somebody who is not a member. */
const UPGRADE_FOR_MEMBERS =
  'This upgrade is for members only, and we do not know you as a member. Please join first, or contact us if you think this is a mistake.';

type MembershipType = 'membership' | 'membership_upgrade';

/** A column's name, or a value, in a query. */
type Column = string | RawBuilder<unknown>;

function inQuery(column: Column): RawBuilder<unknown> {
  return typeof column === 'string' ? sql.ref(column) : column;
}

/** The present id of a contact: the one that it was merged into, or its own. */
export function presentId(contactId: string | RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`coalesce((select merged_into from contact as merged where merged.id = ${contactId}), ${contactId})`;
}

/**
 * The proven contact of a join: the one that the join created in HubSpot, or the one that an invitation, a signed link or staff
 * named; null for none. `session` is the join session's name in the query.
 */
export function contactOfJoin(session: string): RawBuilder<string | null> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  return presentId(
    sql`case when ${of('owns_hubspot_contact')} then ${of('hubspot_contact_id')} else ${of('contact_id')} end`,
  );
}

/**
 * Whether the contact in a column is the join session's {@link contactOfJoin}, in a form that uses indexes. `session` is the
 * join session's name in the query.
 */
export function isContactOfJoin(contactId: string, session: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${session}.${column}`);
  return sql`(${of('contact_id')} = ${sql.ref(contactId)}
    or (${of('hubspot_contact_id')} = ${sql.ref(contactId)} and ${of('owns_hubspot_contact')}))`;
}

/** Whether the contact in a column holds a membership, or an upgrade, that was bought here. */
export function holdsBought(contactId: Column, type: MembershipType): RawBuilder<boolean> {
  return isHeld('contact_id', contactId, type);
}

/** Whether the join in a column bought a membership, or an upgrade, that is held. */
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
 * The membership that a query's `session` is about: the one that the join bought or, if it bought only an upgrade, the held one of
 * its contact. Use it as a lateral join.
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
 * Whether an upgrade has its base: the upgrade's join holds a membership, or its contact is a member. `upgrade` is the name of the
 * upgrade's `membership` row in the query.
 */
export function holdsBase(upgrade: string): RawBuilder<boolean> {
  return sql<boolean>`(${joinHolds(`${upgrade}.session_uuid`, 'membership')} or ${isMemberNow(`${upgrade}.contact_id`)})`;
}

/**
 * Whether the base of an upgrade has ended and no other membership has replaced it. `upgrade` is the name of the upgrade's
 * `membership` row in the query. Does not see the end of a membership that was not bought here.
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

/** Whether the membership that the join in a column bought was refunded, or its refund is under way. */
export function isReturned(sessionUuid: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from membership as returned
    where returned.session_uuid = ${sql.ref(sessionUuid)} and returned.type = 'membership' and returned.standing = 'refunded')`;
}

/**
 * Whether the contact in a column is a member: it holds a membership that was bought here, or HubSpot says so (the mirror's
 * `is_member`; contacts/ keeps it false where we know that the membership has ended since). Every query about members uses this
 * fragment.
 */
export function isMemberNow(contactId: string): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(contactId)} or ${holdsBought(contactId, 'membership')})`;
}

/**
 * Whether the joiner is a member. HubSpot's status counts only for a contact that an invitation, a link or staff named: for a
 * contact that the join created, it may be that of a sibling with the same email who paid first. `session` is the join session's
 * name in the query.
 */
export function isJoinerMember(session: string): RawBuilder<boolean> {
  const named = presentId(sql.ref(`${session}.contact_id`));
  return sql<boolean>`(${isMemberByMirror(named)} or ${holdsBought(contactOfJoin(session), 'membership')})`;
}

/** Whether a contact is a member only by the mirror, which may be out of date. */
export function isMemberByMirrorAlone(contactId: Column): RawBuilder<boolean> {
  return sql<boolean>`(${isMemberByMirror(contactId)} and not ${holdsBought(contactId, 'membership')})`;
}

function isMemberByMirror(contactId: Column): RawBuilder<boolean> {
  return sql<boolean>`coalesce((select mirrored.is_member from contact as mirrored where mirrored.id = ${inQuery(contactId)}), false)`;
}

export type SaleRefusal = 'held already' | 'not a member';

/** Why the contact in a column may not buy a membership or an upgrade; null when they may. */
export function saleRefusal(type: MembershipType, contactId: string): RawBuilder<SaleRefusal | null> {
  return refusalOf(type, holdsBought(contactId, 'membership_upgrade'), isMemberNow(contactId));
}

/** Why the order in `lines` may not be sold to the joiner; null when it may. `session` is the join session's name in the query. */
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
  return new Refusal(409, refusal === 'held already' ? ALREADY_MEMBER : UPGRADE_FOR_MEMBERS);
}

/**
 * Sets the mirror's `is_member` to whether the contact holds a membership, in the transaction that began or ended one. HubSpot is
 * told later; its status is out of date until then.
 */
export async function mirrorBought(trx: Kysely<Tables>, contactId: string): Promise<void> {
  await sql`update contact set is_member = ${holdsBought('contact.id', 'membership')} where id = ${contactId}`.execute(
    trx,
  );
}
