import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { MembershipType } from '#core/product.ts';
import { giveBackCommand, operatorRefund } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';
import { isMemberByMirrorAlone, presentId } from '../session/members.ts';
import { namesNobody } from './crmId.ts';
import { mayBeTheirStatus } from './dueJoins.ts';
import { moveContacts } from './followContacts.ts';
import { type LeftContact, paidJoinsOf } from './takeBack.ts';
import { attemptsAnew, hubspotIsToHear } from './tellHubspot.ts';

/** Thrown if a join cannot be linked. The message is for staff. */
export class NotLinkable extends Error {}

/**
 * Links a paid join to a contact that staff know to be the same person: all values of the join are written to that contact. Only
 * a join without a named contact, or with a named contact that HubSpot does not have, can be linked. If the join had created a
 * contact, paid joins that began by a link to that created contact are moved as well.
 * Throws {@link NotLinkable} if the join cannot be linked. Two of the reasons:
 * - The membership of the join has ended (or its upgrade, if it sold only an upgrade).
 * - The contact is a member in HubSpot, and neither this join nor its payer can be the cause ({@link mayBeTheirStatus}). A refund
 *   of the join would then end a membership that is not the join's.
 * If the join was written into another contact before, first calls `takeBack` with that contact. If the process dies after that,
 * the join still belongs to the old contact and is sent again. Must run while nothing is sent to HubSpot (fence.ts): a server
 * that is just sending the join would afterwards record the old contact again.
 */
export async function linkJoin(
  deps: Deps,
  uuid: string,
  given: string,
  takeBack: (left: LeftContact) => Promise<void>,
): Promise<void> {
  const found = await deps.contacts.refresh(given);
  if (found === 'unavailable') throw new NotLinkable('HubSpot cannot be asked at this moment. Try again.');
  if (found === 'unknown') throw new NotLinkable(`HubSpot knows no contact ${given}.`);
  const idNow = async (id: string) => {
    const { rows } = await sql<{ id: string }>`select ${presentId(id)} as id`.execute(deps.database);
    return rows[0]!.id;
  };
  const contactId = await idNow(given);
  const { contact_id: namedBefore } =
    (await deps.database
      .selectFrom('join_session')
      .select('contact_id')
      .where('uuid', '=', uuid)
      .executeTakeFirst()) ?? {};
  // Reads the contact that was named for the join from HubSpot. If it was deleted there, it may have been restored meanwhile.
  if (namedBefore) await deps.contacts.refresh(namedBefore);
  const planned = await deps.database.transaction().execute((trx) => mayLink(trx, uuid, contactId));
  // If the old contact was merged into the new one, there is nothing to take back.
  if (planned?.left && (await idNow(planned.left.contactId)) !== contactId) await takeBack(planned.left);
  await deps.database.transaction().execute(async (trx) => {
    const link = await mayLink(trx, uuid, contactId);
    if (link === null) return;
    const { named, before, isMoving } = link;
    await sql`update membership set contact_id = ${contactId} where ${isMoving('session_uuid')}`.execute(trx);
    // The new contact has no values of these joins yet, so the record of sent values is cleared and all are sent.
    await sql`
      update join_session set contact_id = ${contactId}, hubspot_contact_id = null, owns_hubspot_contact = null, crm_known = '{}', crm_refusal = null, crm_attempts = ${attemptsAnew},
        ${hubspotIsToHear}, updated_at = now()
      where ${isMoving('uuid')}`.execute(trx);
    // HubSpot does not have the contact that was named for the join. So everything else of that contact moves as well: its invite
    // code, and joins that began by a link to it.
    if (named !== null) await moveContacts(trx, [{ old: named, present: contactId }]);
    // The old contact's remaining paid joins are sent again, so that its amount in HubSpot does not include the moved joins.
    await sql`
      update join_session set ${hubspotIsToHear} where ${paidJoinsOf(sql`${before}`)}`.execute(trx);
    // Makes the documents due to be attached to the new contact (attachDocuments.ts). If the old contact was merged into the new
    // contact, HubSpot has moved the notes, so nothing is due. A contact that HubSpot does not have (`named`) has no notes.
    await sql`
      update document set crm_note_id = null, crm_next_try_at = now()
      where ${isMoving('session_uuid')} and crm_file_id is not null
        and (${named !== null}::boolean or ${presentId(sql`${before}::text`)} <> ${contactId})`.execute(trx);
  });
}

/** The changes by which a join is linked to a contact. */
interface Link {
  /** The contact that was named for the join and that HubSpot does not have; null if none was named. */
  named: string | null;
  /** The contact into which the join was written; null if the join has not been written to HubSpot yet. */
  before: string | null;
  /**
   * SQL: whether a column has the uuid of a join that is moved: the given join, or one that began by a link to the contact that
   * the given join created.
   */
  isMoving: (column: string) => RawBuilder<boolean>;
  /** The values and documents to take back from the contact `before`; null if there is no such contact. */
  left: LeftContact | null;
}

/**
 * Locks the rows that linking changes. Returns the changes; null if the join is linked to this contact. Throws
 * {@link NotLinkable}.
 */
async function mayLink(trx: Kysely<Tables>, uuid: string, contactId: string): Promise<Link | null> {
  // Locks the given join; the paid joins of the contact into which that join was written, which become due again; and all joins
  // of the contact that was named for that join, which may be moved. All transactions lock joins in the order of their uuids, to
  // avoid deadlocks.
  const leaves = sql<string>`(select own.hubspot_contact_id from join_session own where own.uuid = ${uuid})`;
  const names = sql<string>`(select own.contact_id from join_session own where own.uuid = ${uuid})`;
  await sql`
    select from join_session
    where uuid = ${uuid} or ${paidJoinsOf(leaves)} or contact_id = ${names} or hubspot_contact_id = ${names}
    order by uuid for update`.execute(trx);
  const session = await trx
    .selectFrom('join_session')
    .select(['state', 'contact_id', 'hubspot_contact_id', 'owns_hubspot_contact', 'crm_known', 'erased_at'])
    .select(namesNobody.as('names_nobody'))
    .where('uuid', '=', uuid)
    .forUpdate()
    .executeTakeFirst();
  if (!session) throw new NotLinkable(`There is no join ${uuid}.`);
  if (session.erased_at !== null) throw new NotLinkable(`The person of join ${uuid} was erased.`);
  if (session.contact_id === contactId) return null;
  const { contact_id: named } = session;
  if (named !== null && !session.names_nobody)
    throw new NotLinkable(
      `Join ${uuid} is of contact ${named} already: its invitation or link named that contact, or staff have linked it before. It is linked to no other one, since what was written into that contact in place of what stood there cannot be taken back.`,
    );
  if (session.state !== 'paid') throw new NotLinkable(`Join ${uuid} is ${session.state}: nothing was paid.`);
  await trx.selectFrom('contact').select('id').where('id', '=', contactId).forUpdate().execute();
  // `sold` is `membership`, or `membership_upgrade` if the join sold an upgrade alone. Only a membership makes its contact a
  // member.
  const found = await sql<{ sold: MembershipType; holds: boolean; was_member: boolean }>`
    select sold, exists (select from membership where session_uuid = uuid and type = sold and is_held) as holds,
      sold = 'membership' and ${isMemberByMirrorAlone('contact.id')}
        and not coalesce(hubspot_contact_id = contact.id and crm_known ? 'membershipStatus', false)
        and not ${mayBeTheirStatus('contact.id', 'join_session')} as was_member
    from join_session, contact, lateral (
      select coalesce(min(type), 'membership') as sold from membership where session_uuid = uuid) as bought
    where uuid = ${uuid} and contact.id = ${contactId}`.execute(trx);
  const { sold, holds, was_member } = found.rows[0]!;
  if (!holds)
    throw new NotLinkable(`The ${sold === 'membership' ? sold : 'upgrade'} of join ${uuid} has ended.`);
  if (was_member)
    throw new NotLinkable(
      `Contact ${contactId} is a member already, as HubSpot says. Give the join back: ${operatorRefund(uuid, '--upgrade', '--items all')}`,
    );
  const { hubspot_contact_id: before, owns_hubspot_contact: isOwn } = session;
  const byLink = await trx
    .selectFrom('join_session')
    .select(['uuid', 'crm_known'])
    .where('contact_id', '=', isOwn ? before : null)
    .where('paid_at', 'is not', null)
    .execute();
  const moving = [uuid, ...byLink.map((join) => join.uuid)];
  const isMoving = (column: string) => sql<boolean>`${sql.ref(column)} = any(${moving}::uuid[])`;
  // Looks for memberships of the same type, which one contact cannot hold twice: between a moved join and the new contact, and
  // between two moved joins. Two moved joins can hold the same type if contacts were merged and one membership was not moved.
  const { rows } = await sql<{ uuid: string; isThere: boolean; mine: string; type: MembershipType }>`
    select theirs.session_uuid as uuid, theirs.contact_id is not distinct from ${contactId} as "isThere", mine.session_uuid as mine, type
    from membership theirs join membership mine using (type)
    where (theirs.contact_id = ${contactId} or ${isMoving('theirs.session_uuid')}) and theirs.is_held
      and ${isMoving('mine.session_uuid')} and mine.is_held and mine.session_uuid <> theirs.session_uuid
    order by (mine.session_uuid = ${uuid}) desc`.execute(trx);
  if (rows[0]) {
    // If only the upgrade is held twice, only the join's upgrade has to be refunded.
    const isMember = rows.some(({ type }) => type === 'membership');
    throw new NotLinkable(
      `Contact ${contactId} ${rows[0].isThere ? 'holds that already' : 'would hold that twice, the second'} by join ${rows[0].uuid}. Give one of them back: ${isMember ? operatorRefund(uuid, '--upgrade', '--items all') : giveBackCommand(rows[0].mine, ['membership_upgrade'])}`,
    );
  }
  const { rows: documents } = await sql<LeftContact['documents'][number]>`
    select id, crm_file_id as "fileId", crm_note_id as "noteId" from document
    where ${isMoving('session_uuid')} and crm_file_id is not null`.execute(trx);
  const known = [session, ...byLink].map(({ crm_known }) => crm_known);
  const left =
    before === null ? null : { contactId: before, joins: moving, known, isOwn: isOwn === true, documents };
  return { named, before, isMoving, left };
}
