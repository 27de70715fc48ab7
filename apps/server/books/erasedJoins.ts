import { sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';

/**
 * Returns the erased joins of which `subject` is the id, or of a payment or refund of theirs: HubSpot can no longer be told about
 * changes of their memberships.
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
