import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/**
 * SQL: when a join that changes now is to be sent to HubSpot: usually now. If the join has attempts (`crm_attempts`) and is not
 * due yet, a server may be sending it. Then the join waits until `crm_next_try_at`, but a minute at most: if two servers sent one
 * join at the same time, the older values could reach HubSpot last.
 */
export const dueFromNow = sql`(case when crm_attempts > 0 and crm_next_try_at > now()
  then least(crm_next_try_at, now() + interval '1 minute') else now() end)`;

/**
 * SQL: the `crm_attempts` of a join whose attempts are counted from the beginning again, as after a correction. Not 0 while a
 * server may be sending the join, since {@link dueFromNow} takes attempts above 0 as the sign of that.
 */
export const attemptsAnew = sql`(case when crm_next_try_at > now() then crm_attempts else 0 end)`;

/** SQL: a part of `update join_session set …` that makes a join due to be sent to HubSpot. */
export const hubspotIsToHear = sql`profile_revision = profile_revision + 1, crm_next_try_at = ${dueFromNow}`;

/** Makes a join due to be sent to HubSpot. To be called in the transaction that changes the join. */
export async function tellHubspot(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  await sql`
    update join_session set ${hubspotIsToHear}, updated_at = now() where uuid = ${sessionUuid}`.execute(trx);
}
