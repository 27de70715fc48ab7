import { sql } from 'kysely';
import { ABANDONED_MINUTES } from '#core/reconciliation.ts';
import { cancelIntent, markCanceled } from '../paying/cancelIntent.ts';
import { lookAtPayment } from '../paying/lookAtPayment.ts';
import { giveBack } from '../paying/refunds/giveBack.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { repeat } from '../platform/background.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { reopenFrozen } from '../session/states.ts';
import { BackgroundFailures } from './backgroundFailures.ts';
import { catchUpOnEvents } from './catchUp.ts';
import type { Deps } from './deps.ts';

const INTERVAL_MS = 60_000;
const BATCH = 20;
/**
 * How often (minutes) Stripe is asked about an open intent. BEGUN_MINUTES: if its payment was begun, or if it is for an upgrade.
 * IDLE_MINUTES: all others.
 */
const BEGUN_MINUTES = 5;
const IDLE_MINUTES = 60;
/** A due refund is retried after this many minutes. The delay doubles with each try, up to the maximum below. */
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
 * Settles payments that nobody reported, as when a browser was closed after paying or a webhook was lost, and cancels abandoned
 * intents. A success is always confirmed, however late. Returns how many intents it took; other processes skip these intents.
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
      order by checked_at limit ${BATCH} for no key update of payment skip locked
    )
    update payment set checked_at = now() from due where payment.intent_id = due.intent_id
    returning payment.intent_id, session_uuid, kind, is_skipped or created_at < now() - make_interval(mins =>
      case when kind = 'upgrade' then ${ABANDONED_MINUTES.upgrade}::int else ${ABANDONED_MINUTES.join}::int end) as is_abandoned`.execute(
    deps.database,
  );
  await each(deps, rows, settle);
  await openLeftOrders(deps);
  return rows.length;
}

/** Reopens orders that have been frozen for minutes without an open payment. */
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
    // The intent belongs to another Stripe account, because our keys were changed. It can never be paid here.
    if (!(error instanceof NotAtStripe)) throw error;
    await markCanceled(deps.database, intent_id);
    return { outcome: 'canceled' };
  });
  const isOpen =
    outcome === 'requires_payment_method' ||
    outcome === 'requires_confirmation' ||
    outcome === 'requires_action';
  // If the intent was paid just now, it cannot be cancelled, and the next run confirms it.
  if (isOpen && is_abandoned) await cancelIntent(deps, intent_id);
  if (kind === 'join') await settlePaying(deps, session_uuid, 'look');
}

/** Makes the due refunds that Stripe has not made yet because of a crash, an outage or a temporary refusal. */
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

/** Handles each row separately, so that the failure of one row does not hold up the other rows. */
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
  await failures.report(deps, 'payments could not be settled');
}
