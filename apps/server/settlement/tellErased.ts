import { sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import { notToldOfErased } from '../refunds/membershipStanding.ts';

/**
 * If `subject` is the id of an erased join, or of its payment or refund, prints that the join is erased: HubSpot can no longer be
 * told about changes of its membership.
 */
export async function tellErased(database: Database, subject: string): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select distinct session.uuid from join_session session
    join payment on payment.session_uuid = session.uuid left join refund using (intent_id)
    where erased_at is not null
      and ${subject} in (session.uuid::text, payment.intent_id, refund.uuid::text, refund.stripe_id)`.execute(
    database,
  );
  for (const { uuid } of rows) console.log(notToldOfErased(uuid));
}
