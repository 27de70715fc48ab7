import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/**
 * SQL: when a join that changes now is to be sent to HubSpot. Now, unless a server is sending the join (dueJoins.ts counts an
 * attempt when it takes a join): then when that server is done, at the latest after a minute. Two servers must not send one join at
 * once, since the older values could reach HubSpot last.
 */
export const dueFromNow = sql`(case when crm_attempts > 0 and crm_next_try_at > now()
  then least(crm_next_try_at, now() + interval '1 minute') else now() end)`;

/**
 * SQL: the `crm_attempts` of a join that begins anew, as after a correction. Not 0 while a server may be sending the join, since
 * {@link dueFromNow} recognises such a join by its attempts.
 */
export const attemptsAnew = sql`(case when crm_next_try_at > now() then crm_attempts else 0 end)`;

/** SQL: a part of `update join_session set …` that makes a join due to be sent to HubSpot. */
export const hubspotIsToHear = sql`profile_revision = profile_revision + 1, crm_next_try_at = ${dueFromNow}`;

/** Makes a join due to be sent to HubSpot. To be called in the transaction that changes the join. */
export async function tellHubspot(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  await sql`
    update join_session set ${hubspotIsToHear}, updated_at = now() where uuid = ${sessionUuid}`.execute(trx);
}
