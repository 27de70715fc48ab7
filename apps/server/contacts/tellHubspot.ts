import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/** SQL: a part of `update join_session set …` that makes a join due to be sent to HubSpot. */
export const hubspotIsToHear = sql`profile_revision = profile_revision + 1, crm_next_try_at = now()`;

/** Makes a join due to be sent to HubSpot. To be called in the transaction that changes the join. */
export async function tellHubspot(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  await sql`
    update join_session set ${hubspotIsToHear}, updated_at = now() where uuid = ${sessionUuid}`.execute(trx);
}
