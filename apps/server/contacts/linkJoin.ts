import { type Kysely, sql } from 'kysely';
import type { MembershipType } from '#core/product.ts';
import { giveBackCommand, operatorRefund } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';
import { isMemberByMirrorAlone, personOf } from '../session/members.ts';
import { wordsWith } from '../session/words.ts';
import { namesNobody } from './crmId.ts';
import { mayBeTheirStatus } from './dueJoins.ts';
import { followMoved } from './followContacts.ts';
import { type LeftContact, paidJoinsOf } from './takeBack.ts';
import { attemptsAnew, hubspotIsToHear } from './tellHubspot.ts';

/** Thrown if a join cannot be linked. The message is for staff. */
export class NotLinkable extends Error {}

/**
 * Links a paid join to a contact that staff know to be the same person: the persons of both become one, and all values of the join
 * are written to that contact. Only a join of a person whom no code or link names, or whose contact HubSpot does not have, can be
 * linked. Throws {@link NotLinkable} if the join cannot be linked. Two of the reasons:
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
  const contactId = (await contactNow(deps.database, given))!;
  const { contact_id: namedBefore } =
    (await deps.database
      .selectFrom('join_session')
      .innerJoin('person', 'person.id', 'person_id')
      .select('contact_id')
      .where('uuid', '=', uuid)
      .executeTakeFirst()) ?? {};
  // Reads the join's contact from HubSpot. If it was deleted there, it may have been restored meanwhile.
  if (namedBefore) await deps.contacts.refresh(namedBefore);
  const planned = await deps.database.transaction().execute((trx) => mayLink(trx, uuid, contactId));
  // If the old contact was merged into the new one, there is nothing to take back.
  if (planned?.left && (await contactNow(deps.database, planned.left.contactId)) !== contactId)
    await takeBack(planned.left);
  await deps.database.transaction().execute(async (trx) => {
    const link = await mayLink(trx, uuid, contactId);
    if (link === null) return;
    const { from, into, before, isLost } = link;
    // The new contact has no values of these joins yet, so the record of sent values is cleared and all are sent.
    await sql`
      update join_session set person_id = ${into}, crm_known = '{}', crm_refusal = null, crm_attempts = ${attemptsAnew},
        ${hubspotIsToHear}, updated_at = now()
      where person_id = ${from}`.execute(trx);
    await followMoved(trx, sql`(${from}::bigint)`);
    for (const table of ['invitation', 'document'] as const)
      await sql`update ${sql.table(table)} set person_id = ${into} where person_id = ${from}`.execute(trx);
    await sql`
      update person set details = coalesce(person.details, own.details), likeness = coalesce(own.likeness, person.likeness),
        words = ${wordsWith(sql`own.words`)}
      from person own where own.id = ${from} and person.id = ${into}`.execute(trx);
    await sql`
      update person set merged_into = ${into}, found_contact_id = null, likeness = null, words = ''
      where id = ${from} or merged_into = ${from}`.execute(trx);
    // The remaining paid joins of the contact that was found are sent again, so that its amount in HubSpot does not include the moved
    // joins.
    await sql`update join_session set ${hubspotIsToHear} where ${paidJoinsOf(sql`${before}`)} and person_id <> ${into}`.execute(
      trx,
    );
    // Makes the documents due to be attached to the new contact (attachDocuments.ts). If the old contact was merged into the new
    // contact, HubSpot has moved the notes, so nothing is due. A contact that HubSpot does not have has no notes.
    if (isLost || before === null || (await contactNow(trx, before)) !== contactId)
      await sql`
        update document set crm_note_id = null, crm_next_try_at = now()
        where session_uuid in (select uuid from join_session where person_id = ${into}) and session_uuid = any(${link.joins}::uuid[])
          and crm_file_id is not null`.execute(trx);
  });
}

/** Returns the present id of a contact: that of the contact into which it was merged, otherwise its own. */
async function contactNow(database: Kysely<Tables>, contactId: string): Promise<string | null> {
  const { rows } = await sql<{ contact_id: string | null }>`
    select contact_id from person where id = ${personOf(sql`${contactId}`)}`.execute(database);
  return rows[0]?.contact_id ?? contactId;
}

/** The changes by which a join is linked to a contact. */
interface Link {
  /** The join's person, and the contact's. */
  from: number;
  into: number;
  /** All joins of the join's person. */
  joins: string[];
  /** Whether the join's person has a contact that HubSpot does not have. */
  isLost: boolean;
  /** The contact into which the join was written; null if the join has not been written to HubSpot yet. */
  before: string | null;
  /** The values and documents to take back from the contact `before`; null if there is no such contact. */
  left: LeftContact | null;
}

/**
 * Locks the rows that linking changes. Returns the changes; null if the join is linked to this contact. Throws
 * {@link NotLinkable}.
 */
async function mayLink(trx: Kysely<Tables>, uuid: string, contactId: string): Promise<Link | null> {
  // Locks all joins of the person, and the paid joins of the contact that was found, which become due again. All transactions lock
  // joins in the order of their uuids, to avoid deadlocks.
  const own = sql`(select own.person_id from join_session own where own.uuid = ${uuid})`;
  await sql`
    select from join_session
    where uuid = ${uuid} or person_id = ${own}
      or ${paidJoinsOf(sql`(select found_contact_id from person found where found.id = ${own})`)}
    order by uuid for update`.execute(trx);
  const session = await trx
    .selectFrom('join_session')
    .leftJoin('person', 'person.id', 'person_id')
    .select([
      'state',
      'person_id',
      'contact_id',
      'made_contact',
      'found_contact_id',
      'join_session.erased_at',
    ])
    .select(namesNobody.as('names_nobody'))
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  if (!session) throw new NotLinkable(`There is no join ${uuid}.`);
  const { person_id: from, contact_id: named, made_contact: isOwn, names_nobody: isLost } = session;
  if (session.erased_at !== null || from === null)
    throw new NotLinkable(`The person of join ${uuid} was erased.`);
  const { rows: into } = await sql<{ id: number }>`
    select id from person where id = ${personOf(sql`${contactId}`)} for update`.execute(trx);
  const intoId = into[0]!.id;
  if (from === intoId) return null;
  if (named !== null && !isOwn && !isLost)
    throw new NotLinkable(
      `Join ${uuid} is of contact ${named} already: its invitation or link named that contact, or staff have linked it before. It is linked to no other one, since what was written into that contact in place of what stood there cannot be taken back.`,
    );
  if (session.state !== 'paid') throw new NotLinkable(`Join ${uuid} is ${session.state}: nothing was paid.`);
  // `sold` is `membership`, or `membership_upgrade` if the join sold an upgrade alone. Only a membership makes its contact a
  // member.
  const found = await sql<{ sold: MembershipType; holds: boolean; was_member: boolean }>`
    select sold, exists (select from membership where session_uuid = uuid and type = sold and is_held) as holds,
      sold = 'membership' and ${isMemberByMirrorAlone(sql`${intoId}::bigint`)}
        and not ${mayBeTheirStatus(sql`${contactId}`, 'join_session')} as was_member
    from join_session, lateral (
      select coalesce(min(type), 'membership') as sold from membership where session_uuid = uuid) as bought
    where uuid = ${uuid}`.execute(trx);
  const { sold, holds, was_member } = found.rows[0]!;
  if (!holds)
    throw new NotLinkable(`The ${sold === 'membership' ? sold : 'upgrade'} of join ${uuid} has ended.`);
  if (was_member)
    throw new NotLinkable(
      `Contact ${contactId} is a member already, as HubSpot says. Give the join back: ${operatorRefund(uuid, '--upgrade', '--items all')}`,
    );
  // One person cannot hold two memberships of the same type.
  const { rows } = await sql<{ uuid: string; mine: string; type: MembershipType }>`
    select theirs.session_uuid as uuid, mine.session_uuid as mine, type
    from membership theirs join membership mine using (type)
    where theirs.person_id = ${intoId} and theirs.is_held and mine.person_id = ${from} and mine.is_held
    order by (mine.session_uuid = ${uuid}) desc`.execute(trx);
  if (rows[0]) {
    // If only the upgrade is held twice, only the join's upgrade has to be refunded.
    const isMember = rows.some(({ type }) => type === 'membership');
    throw new NotLinkable(
      `Contact ${contactId} holds that already by join ${rows[0].uuid}. Give one of them back: ${isMember ? operatorRefund(uuid, '--upgrade', '--items all') : giveBackCommand(rows[0].mine, ['membership_upgrade'])}`,
    );
  }
  const joins = await trx
    .selectFrom('join_session')
    .select(['uuid', 'crm_known'])
    .where('person_id', '=', from)
    .execute();
  const uuids = joins.map((join) => join.uuid);
  const { rows: documents } = await sql<LeftContact['documents'][number]>`
    select id, crm_file_id as "fileId", crm_note_id as "noteId" from document
    where session_uuid = any(${uuids}::uuid[]) and crm_file_id is not null`.execute(trx);
  const before = isLost ? null : isOwn ? named : session.found_contact_id;
  const left =
    before === null
      ? null
      : {
          contactId: before,
          joins: uuids,
          known: joins.map(({ crm_known }) => crm_known),
          isOwn: isOwn === true,
          documents,
        };
  return { from, into: intoId, joins: uuids, isLost, before, left };
}
