import { sql } from 'kysely';
import { repeat } from '../background.ts';
import type { Deps } from '../deps.ts';
import { UnexpectedState } from '../stripe/provider.ts';
import { confirmPayment, markCanceled } from './confirmPayment.ts';
import { settlePaying } from './settlePaying.ts';

const INTERVAL_MS = 60_000;
const BATCH = 20;
/** A begun payment that nobody reported is asked about this often; one that was never begun, hourly. */
const BEGUN_MINUTES = 5;
const IDLE_MINUTES = 60;
/** An open intent older than this is given up: cancelled in Stripe. */
const ABANDONED_HOURS = 24;

export function startSweeping(deps: Deps): () => Promise<void> {
  return repeat('sweep payments', INTERVAL_MS, deps.log, async () => ({
    more: (await sweepPayments(deps)) === BATCH,
  }));
}

/**
 * Settles what nobody reported: a browser closed after paying, a webhook that never came, a refund that a crash kept
 * from being made; and cancels what was abandoned. A success always confirms, however late. Returns how many intents
 * it asked Stripe about; another process takes others.
 */
export async function sweepPayments(deps: Deps): Promise<number> {
  const { rows } = await sql<{
    intent_id: string;
    session_uuid: string;
    kind: 'join' | 'upgrade';
    is_abandoned: boolean;
  }>`
    with due as (
      select intent_id from payment join join_session on uuid = session_uuid
      where status in ('open', 'refund_due') and checked_at < now() - make_interval(mins =>
        case when state = 'paying' or kind = 'upgrade' or status = 'refund_due' then ${BEGUN_MINUTES}::int else ${IDLE_MINUTES}::int end)
      order by checked_at limit ${BATCH} for update of payment skip locked
    )
    update payment set checked_at = now() from due where payment.intent_id = due.intent_id
    returning payment.intent_id, session_uuid, kind, created_at < now() - make_interval(hours => ${ABANDONED_HOURS}) as is_abandoned`.execute(
    deps.database,
  );
  for (const payment of rows) {
    try {
      await settle(deps, payment);
    } catch (error) {
      // One that cannot be settled now must not keep the others waiting.
      deps.log.error({ err: error, intent: payment.intent_id }, 'a payment could not be settled');
    }
  }
  return rows.length;
}

async function settle(
  deps: Deps,
  {
    intent_id,
    session_uuid,
    kind,
    is_abandoned,
  }: { intent_id: string; session_uuid: string; kind: 'join' | 'upgrade'; is_abandoned: boolean },
): Promise<void> {
  const outcome = await confirmPayment(deps, intent_id);
  const isOpen =
    outcome === 'requires_payment_method' ||
    outcome === 'requires_confirmation' ||
    outcome === 'requires_action';
  if (isOpen && is_abandoned) {
    try {
      await deps.payments.cancelIntent(intent_id);
      await markCanceled(deps.database, intent_id);
    } catch (error) {
      // Paid in this very moment: the next round confirms it.
      if (!(error instanceof UnexpectedState)) throw error;
    }
  }
  if (kind === 'join') await settlePaying(deps, session_uuid, 'look');
}
