import { sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';

/**
 * Returns the erased joins that `subject` identifies: by a join's uuid, or by the id of one of its payments or refunds. Changes
 * of their memberships can no longer be sent to HubSpot.
 */
export async function erasedJoins(database: Database, subject: string): Promise<string[]> {
  const { rows } = await sql<{ uuid: string }>`
    select distinct session.uuid from join_session session
    join payment on payment.session_uuid = session.uuid left join refund using (intent_id)
    where erased_at is not null
      and ${subject} in (session.uuid::text, payment.intent_id, refund.uuid::text, refund.stripe_id)`.execute(
    database,
  );
  return rows.map(({ uuid }) => uuid);
}
