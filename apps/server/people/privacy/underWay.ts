import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../../platform/database/types.ts';
import { hasEnded } from '../../session/members.ts';
import { isUnseen } from '../../session/proof.ts';

/** How long (minutes) a change of an intent may still be in flight to Stripe. */
const CHANGE_MINUTES = 5;

/**
 * SQL for the reasons why the query's `session` may not be erased now, such as a payment or a review that has not ended: an array
 * of texts, empty if there are none. An open intent is not a reason, because the erasure cancels it first.
 */
export const underWay: RawBuilder<string[]> = sql`array_remove(array[
  case when session.state = 'paying' or session.intent_changing_since > now() - make_interval(mins => ${sql.lit(CHANGE_MINUTES)})
    then 'it is being paid at this moment' end,
  case when exists (select from refund join payment using (intent_id)
      where session_uuid = session.uuid and refund.status in ('due', 'pending'))
    then 'a refund of it is not made yet' end,
  case when exists (select from payment where session_uuid = session.uuid and dispute = 'open')
    then 'a payment of it is disputed' end,
  case when session.state = 'paid' and exists (select from document
      where session_uuid = session.uuid and kind = 'transcript' and review = 'open' and not ${isUnseen}) and not ${hasEnded('session.uuid')}
    then 'its transcript waits for a decision' end,
  case when exists (select from event_retry join payment on payment.session_uuid = session.uuid
      where event ->> 'intentId' = intent_id)
    then 'an event of Stripe about it was not acted on yet' end], null)`;

/** Returns one sentence for each reason why one of these joins may not be erased now. */
export async function refusalsOf(database: Kysely<Tables>, joins: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ uuid: string; reasons: string[] }>`
    select uuid, ${underWay} as reasons from join_session session where uuid = any(${joins}::uuid[]) order by uuid`.execute(
    database,
  );
  return rows.flatMap(({ uuid, reasons }) =>
    reasons.map((reason) => `Join ${uuid} is not erased: ${reason}.`),
  );
}
