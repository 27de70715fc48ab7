import { sql } from 'kysely';
import type { JoinSessionState } from '#core/joinSession.ts';
import type { Deps } from '../deps.ts';
import { confirmPayment } from './confirmPayment.ts';

/** How long a begun payment may go without a word from the page before its order opens again, in seconds. */
const SILENT_SECONDS = 60;
/** The same while the bank waits for the cardholder's authentication. */
const AUTHENTICATION_SECONDS = 180;

/**
 * Asks Stripe how a begun payment stands and brings the session to that state: paid when it succeeded, an open order
 * when it came to nothing, still paying while its outcome is open. `hasFailed`: the page has seen it fail.
 */
export async function settlePaying(
  deps: Deps,
  uuid: string,
  { hasFailed = false } = {},
): Promise<JoinSessionState | null> {
  const { rows } = await sql<{ state: JoinSessionState; intent_id: string | null; seconds: number }>`
    select state, intent_id, extract(epoch from now() - paying_since)::float as seconds
    from join_session left join payment on session_uuid = uuid and kind = 'join' and payment.status = 'open'
    where uuid = ${uuid}`.execute(deps.database);
  const session = rows[0];
  if (!session) return null;
  if (session.state !== 'paying') return session.state;
  if (session.intent_id !== null) {
    const status = await confirmPayment(deps, session.intent_id);
    if (status === 'succeeded') return 'paid';
    if (status === 'processing') return 'paying';
    if (status === 'requires_action' && session.seconds < AUTHENTICATION_SECONDS) return 'paying';
    if (status !== 'canceled' && !hasFailed && session.seconds < SILENT_SECONDS) return 'paying';
  }
  await deps.database
    .updateTable('join_session')
    .set({ state: 'ordering', paying_since: null, updated_at: sql`now()` })
    .where('uuid', '=', uuid)
    .where('state', '=', 'paying')
    .execute();
  return 'ordering';
}
