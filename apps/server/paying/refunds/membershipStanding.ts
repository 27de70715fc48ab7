import { type Kysely, sql } from 'kysely';
import { type BaseFacts, baseOf } from '#core/people.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { giveBack } from '#core/remedy.ts';
import { notifyOfLikelySame } from '../../crm/heldTwice.ts';
import { queueForHubspot } from '../../crm/queuePersonsForHubspot.ts';
import { dueAgain } from '../../letters/dueLetters.ts';
import { endNotices, notifyStaff } from '../../letters/notifyStaff.ts';
import type { Tables } from '../../platform/database/types.ts';
import { alikeTo } from '../../session/alike.ts';
import { baseFacts, forgetStatus } from '../../session/members.ts';
import type { LockedSession } from './followPayment.ts';

/**
 * Updates the standing of the membership that a payment bought, if it has changed, and informs HubSpot. Staff get a notice,
 * unless the membership is refunded by refunds that were all made here. If its join is erased, so that HubSpot cannot be
 * informed, they get one even then. If a membership that has ended would become held again, but its person now holds another
 * membership of the same type, its standing stays, and staff get a notice.
 */
export async function bringStanding(
  trx: Kysely<Tables>,
  session: LockedSession,
  intentId: string,
  standing: MembershipStanding,
): Promise<void> {
  const membership = await trx
    .selectFrom('membership')
    .innerJoin('join_session', 'uuid', 'session_uuid')
    .select(['id', 'type', 'is_held', 'standing', 'erased_at', 'membership.person_id'])
    .where('payment_intent', '=', intentId)
    .executeTakeFirst();
  if (!membership || membership.standing === standing) return;
  const { person_id } = membership;
  const comesBack = (standing === 'active' || standing === 'disputed') && !membership.is_held;
  if (comesBack && person_id !== null) {
    await trx.selectFrom('person').select('id').where('id', '=', person_id).forUpdate().execute();
    const other = await trx
      .selectFrom('membership')
      .select('id')
      .where('person_id', '=', person_id)
      .where('type', '=', membership.type)
      .where('is_held', '=', true)
      .executeTakeFirst();
    if (other)
      return notifyStaff(trx, {
        kind: 'back_again',
        subject: session.uuid,
        params: { intentId },
        remedy: null,
      });
  }
  await trx.updateTable('membership').set({ standing }).where('id', '=', membership.id).execute();
  if (comesBack) await dueAgain(trx, session.uuid, intentId);
  if (membership.type === 'membership' && person_id !== null) await forgetStatus(trx, person_id);
  await queueForHubspot(trx, session.uuid);
  const { type } = membership;
  const isNotTold = membership.erased_at !== null && isHeld(standing) !== membership.is_held;
  await endNotices(trx, ['standing', 'back_again'], { about: { intentId } });
  if (isNotTold || !(standing === 'refunded' && (await isGivenBackHere(trx, intentId))))
    await notifyStaff(trx, {
      kind: 'standing',
      subject: session.uuid,
      params: { intentId, type, standing, isNotTold },
      remedy: null,
    });
  if (comesBack && type === 'membership' && person_id !== null) await notifyOfLikelySame(trx, person_id);
  if (type === 'membership' && !isHeld(standing)) await notifyOfUpgrades(trx, session.uuid);
}

/** Whether no refund of a payment was made outside Induct. */
async function isGivenBackHere(trx: Kysely<Tables>, intentId: string): Promise<boolean> {
  const elsewhere = trx.selectFrom('refund').select('uuid').where('intent_id', '=', intentId);
  return (await elsewhere.where('reason', '=', 'dashboard').executeTakeFirst()) === undefined;
}

/**
 * Returns the other joins with a held membership of the join's person, and of persons who are likely the same, in the order in which
 * they were paid.
 */
export async function othersOfPerson(trx: Kysely<Tables>, uuid: string): Promise<string[]> {
  const { rows } = await sql<{ uuid: string }>`
    select other.uuid from join_session own join join_session other on other.person_id in ${alikeTo(sql`own.person_id`)} and other.uuid <> own.uuid
      join membership on session_uuid = other.uuid and type = 'membership' and is_held
    where own.uuid = ${uuid} order by other.paid_at`.execute(trx);
  return rows.map((other) => other.uuid);
}

async function notifyOfUpgrades(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  for (const uuid of await upgradesAlone(trx, sessionUuid))
    await notifyStaff(trx, {
      kind: 'upgrade_alone',
      subject: uuid,
      params: {},
      remedy: giveBack(uuid, ['membership_upgrade']),
    });
}

/**
 * Returns the joins with an active upgrade whose base membership has ended and was not replaced. A base is a membership that the
 * same join bought, or that was bought for the same person. With `baseSession`, only the bases that this join bought count.
 */
export async function upgradesAlone(
  database: Kysely<Tables>,
  baseSession: string | null = null,
): Promise<string[]> {
  const { rows } = await sql<{ session_uuid: string; base: BaseFacts }>`
    select distinct on (upgrade.session_uuid) upgrade.session_uuid, ${baseFacts('upgrade')} as base
    from membership ended cross join lateral (
      select session_uuid, person_id, type, standing from membership where session_uuid = ended.session_uuid
      union all select session_uuid, person_id, type, standing from membership where person_id = ended.person_id) as upgrade
    where ended.type = 'membership' and not ended.is_held and ${baseSession === null ? sql`true` : sql`ended.session_uuid = ${baseSession}`}
      and upgrade.type = 'membership_upgrade' and upgrade.standing = 'active'`.execute(database);
  return rows.filter(({ base }) => baseOf(base) === 'lost').map(({ session_uuid }) => session_uuid);
}
