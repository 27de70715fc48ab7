import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { cancelIntent, markCanceled } from '../payments/cancelIntent.ts';
import { lookAtPayment } from '../payments/lookAtPayment.ts';
import { settlePaying } from '../payments/settlePaying.ts';
import { repeat } from '../platform/background.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { giveBack } from '../refunds/giveBack.ts';
import { reopenFrozen } from '../session/states.ts';
import { BackgroundFailures } from './backgroundFailures.ts';
import { catchUpOnEvents } from './catchUp.ts';

const INTERVAL_MS = 60_000;
const BATCH = 20;
/** A begun payment that nobody reported is asked about this often; one that was never begun, hourly. */
const BEGUN_MINUTES = 5;
const IDLE_MINUTES = 60;
/** An open intent older than this is given up: cancelled in Stripe. An upgrade is on offer for half an hour only. */
const ABANDONED_HOURS = 24;
const UPGRADE_ABANDONED_HOURS = 1;
/** A due refund is tried again after this, doubled with each time that Stripe would not make it, and at most the other. */
const REFUND_MINUTES = 2;
const REFUND_MINUTES_AT_MOST = 360;

export function startSweeping(deps: Deps): () => Promise<void> {
  return repeat('sweep payments', INTERVAL_MS, deps.log, async () => {
    await catchUpOnEvents(deps);
    await sweepRefunds(deps);
    return (await sweepPayments(deps)) === BATCH;
  });
}

/**
 * Settles what nobody reported: a browser closed after paying, a webhook that never came; and cancels what was
 * abandoned. A success always confirms, however late. Returns how many intents it asked Stripe about; another process
 * takes others.
 */
export async function sweepPayments(deps: Deps): Promise<number> {
  const { rows } = await sql<{
    intent_id: string;
    session_uuid: string;
    kind: 'join' | 'upgrade';
    is_abandoned: boolean;
  }>`
    with due as (
      select intent_id, kind = 'upgrade' and upgrade = 'skipped' as is_skipped from payment join join_session on uuid = session_uuid
      where status = 'open' and checked_at < now() - make_interval(mins =>
        case when state = 'paying' or kind = 'upgrade' then ${BEGUN_MINUTES}::int else ${IDLE_MINUTES}::int end)
      order by checked_at limit ${BATCH} for update of payment skip locked
    )
    update payment set checked_at = now() from due where payment.intent_id = due.intent_id
    returning payment.intent_id, session_uuid, kind, is_skipped or created_at < now() - make_interval(hours =>
      case when kind = 'upgrade' then ${UPGRADE_ABANDONED_HOURS}::int else ${ABANDONED_HOURS}::int end) as is_abandoned`.execute(
    deps.database,
  );
  await each(deps, rows, settle);
  await openLeftOrders(deps);
  return rows.length;
}

/** An order that is frozen for a payment which does not exist any more is open again. */
async function openLeftOrders(deps: Deps): Promise<void> {
  await reopenFrozen(
    deps.database,
    sql<boolean>`paying_since < now() - make_interval(mins => ${BEGUN_MINUTES})
      and not exists (select from payment where session_uuid = uuid and kind = 'join' and status = 'open')`,
  );
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
  const { outcome } = await lookAtPayment(deps, intent_id, 'recorded').catch(async (error: unknown) => {
    // Another account's, as after a change of keys: nothing can ever be paid by it here.
    if (!(error instanceof NotAtStripe)) throw error;
    await markCanceled(deps.database, intent_id);
    return { outcome: 'canceled' };
  });
  const isOpen =
    outcome === 'requires_payment_method' ||
    outcome === 'requires_confirmation' ||
    outcome === 'requires_action';
  // Paid in this very moment: the next round confirms it.
  if (isOpen && is_abandoned) await cancelIntent(deps, intent_id);
  if (kind === 'join') await settlePaying(deps, session_uuid, 'look');
}

/** Makes the refunds that were decided and that a crash or an outage kept from being made. */
export async function sweepRefunds(deps: Deps): Promise<void> {
  const { rows } = await sql<{ intent_id: string }>`
    with due as (
      select uuid from refund where status = 'due' and next_try_at <= now()
      order by next_try_at limit ${BATCH} for update skip locked
    ), taken as (
      update refund set next_try_at = now() + make_interval(mins =>
        least(${REFUND_MINUTES}::int * 2 ^ least(attempts, 16), ${REFUND_MINUTES_AT_MOST}::int)::int)
      from due where refund.uuid = due.uuid returning intent_id
    )
    select distinct intent_id from taken`.execute(deps.database);
  await each(deps, rows, async (_, { intent_id }) => void (await giveBack(deps, intent_id)));
}

/** One that cannot be settled now must not keep the others waiting. */
async function each<T extends { intent_id: string }>(
  deps: Deps,
  rows: readonly T[],
  work: (deps: Deps, row: T) => Promise<void>,
): Promise<void> {
  const failures = new BackgroundFailures();
  for (const row of rows) {
    try {
      await work(deps, row);
    } catch (error) {
      failures.add(error, row.intent_id);
    }
  }
  await failures.tell(deps, 'payments could not be settled');
}
