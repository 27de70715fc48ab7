import { sql } from 'kysely';
import { notifyStaff } from '../letters/notifyStaff.ts';
import { cancelErased, cancelIntent } from '../paying/cancelIntent.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { handleEvent, noteHandled } from '../paying/handleEvent.ts';
import { namedOrder } from '../paying/namedOrder.ts';
import { unwritten } from '../paying/paymentRow.ts';
import { backoff } from '../platform/database/backoff.ts';
import { reach, takeTurn } from '../platform/database/schedule.ts';
import { inPages } from '../platform/inPages.ts';
import type { ProviderEvent } from '../providers/stripe/provider.ts';
import { webhookEvents } from '../providers/stripe/webhookEvents.ts';
import { BackgroundFailures } from './backgroundFailures.ts';
import type { Deps } from './deps.ts';

/** An event of Stripe as it is stored in the database, in JSON. */
type StoredEvent = Omit<ProviderEvent, 'createdAt'> & { createdAt: string };

/** The name of this task's row in `schedule`. */
export const EVENTS_TASK = 'events';
/**
 * Ten minutes. Stripe allows a quiet account 10,000 reads a month (https://docs.stripe.com/rate-limits), and this list takes 4,320
 * of them.
 */
const EVERY_SECONDS = 600;
/**
 * Each run lists the events from this long (ms) before the previous run, because an event may appear in Stripe's list a little
 * late.
 */
const OVERLAP_MS = 600_000;
/** How far back (ms) the first run lists events: three days. Stripe itself retries a webhook for as long. */
const FIRST_MS = 3 * 86_400_000;
/** While an intent is younger than this (ms), the call that created it may still be about to insert its payment row. */
const UNWRITTEN_MS = 300_000;
/**
 * How long (seconds) a failed event waits for its first retry, and at most for each later one. After RETRY_DAYS it is given up.
 */
const BACKOFF = { first: 120, longest: 3_600 };
const RETRY_DAYS = 3;
const RETRIES_A_TURN = 100;

/**
 * Acts on events about payments, refunds and disputes whose webhook was lost. Retries the stored events whose retry is due. Every
 * ten minutes, in one process at a time, also fetches the new events from Stripe. Returns how many events it handled. An event
 * that fails or has to wait is stored for a retry and does not delay the next event. Also gives up intents that exist at Stripe
 * but have no row here ({@link giveUpUnwritten}).
 */
export async function catchUpOnEvents(deps: Deps): Promise<number> {
  const failures = new BackgroundFailures();
  const retried = await tryAgain(deps, failures);
  const fetched = await fetchEvents(deps, failures);
  await failures.report(deps, 'events of Stripe could not be acted on');
  return retried + fetched;
}

async function fetchEvents(deps: Deps, failures: BackgroundFailures): Promise<number> {
  const turn = await takeTurn(deps.database, EVENTS_TASK, EVERY_SECONDS);
  if (!turn) return 0;
  const since = turn.reachedAt ? turn.reachedAt.getTime() - OVERLAP_MS : turn.at.getTime() - FIRST_MS;
  let acted = 0;
  for await (const events of inPages(
    deps.payments.listEvents(['payment_intent.created', ...webhookEvents], new Date(since)),
  )) {
    const known = await knownOf(deps, events);
    const written = await writtenOf(deps, events);
    for (const event of events) {
      if (known.has(event.id) || event.intentId === null) continue;
      const isCreation = event.type === 'payment_intent.created';
      if (isCreation && (written.has(event.intentId) || !namedOrder(deps, event))) continue;
      const writtenBy = event.createdAt.getTime() + UNWRITTEN_MS;
      if (isCreation && writtenBy > turn.at.getTime()) {
        await keepForLater(deps, event, 0, new Date(writtenBy));
        continue;
      }
      try {
        if (await act(deps, event)) acted++;
      } catch (error) {
        failures.add(error, event.id);
        await keepForLater(deps, event, 1, new Date(turn.at.getTime() + BACKOFF.first * 1_000));
      }
    }
  }
  await reach(deps.database, EVENTS_TASK, turn.at);
  await sql`delete from stripe_event where handled_at < now() - interval '35 days'`.execute(deps.database);
  return acted;
}

function act(deps: Deps, event: ProviderEvent): Promise<boolean> {
  return event.type === 'payment_intent.created' && event.intentId !== null
    ? giveUpUnwritten(deps, event.intentId)
    : handleEvent(deps, event);
}

async function keepForLater(deps: Deps, event: ProviderEvent, attempts: number, at: Date): Promise<void> {
  await deps.database
    .insertInto('event_retry')
    .values({ id: event.id, event: JSON.stringify(event), attempts, next_try_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Retries the stored events. Events that still fail after three days are deleted, with one notice for all of them. */
async function tryAgain(deps: Deps, failures: BackgroundFailures): Promise<number> {
  const { rows } = await sql<{ id: string; event: StoredEvent; is_last: boolean }>`
    with due as (
      select id from event_retry where next_try_at <= now() order by next_try_at limit ${RETRIES_A_TURN} for update skip locked
    )
    update event_retry retry set attempts = attempts + 1,
      next_try_at = now() + make_interval(secs => ${backoff(sql<number>`attempts + 1`, BACKOFF)})
    from due where retry.id = due.id
    returning retry.id, event, created_at < now() - make_interval(days => ${RETRY_DAYS}::int) as is_last`.execute(
    deps.database,
  );
  let acted = 0;
  const givenUp: { id: string; event: StoredEvent }[] = [];
  for (const { id, event, is_last } of rows) {
    try {
      if (await tryOnce(deps, { ...event, createdAt: new Date(event.createdAt) })) acted++;
    } catch (error) {
      failures.add(error, id);
      if (!is_last) continue;
      await noteHandled(deps, id);
      givenUp.push({ id, event });
    }
    await deps.database.deleteFrom('event_retry').where('id', '=', id).execute();
  }
  await notifyOfGivenUp(deps, givenUp);
  return acted;
}

async function notifyOfGivenUp(
  deps: Deps,
  givenUp: readonly { id: string; event: StoredEvent }[],
): Promise<void> {
  const [first] = givenUp;
  if (!first) return;
  const { id, event } = first;
  const isAlone = givenUp.length === 1 && event.intentId !== null;
  await notifyStaff(deps.database, {
    kind: 'event_given_up',
    subject: null,
    params: { event: id, type: event.type, count: givenUp.length, days: RETRY_DAYS },
    remedy: isAlone ? { do: 'settle', subject: event.intentId! } : { do: 'reconcile' },
  });
}

async function tryOnce(deps: Deps, event: ProviderEvent): Promise<boolean> {
  // An event `payment_intent.created` needs handling only if the intent has no payment row ({@link giveUpUnwritten}).
  if (event.type === 'payment_intent.created' && (await writtenOf(deps, [event])).size > 0) return false;
  return act(deps, event);
}

/**
 * Handles an intent of ours that exists at Stripe and has no payment row, because the process died before inserting the row:
 * nobody has the intent's client secret. After a restore, also handles an intent whose row has another order. Returns false if
 * the intent is not ours.
 * - An intent that has succeeded (for an upgrade) is confirmed. While the bank is deciding, nothing is done.
 * - Any other intent is cancelled at Stripe, and recorded as cancelled, so that it counts as a try to pay. If the join is erased
 *   or not in the database, the intent is only cancelled at Stripe.
 */
export async function giveUpUnwritten(deps: Deps, intentId: string): Promise<boolean> {
  const intent = await deps.payments.retrieveIntent(intentId);
  const named = namedOrder(deps, intent);
  if (!named) return false;
  if (intent.status !== 'succeeded' && intent.status !== 'processing') {
    const { rows } = await sql`
      select from join_session where uuid = ${named.uuid} and erased_at is null`.execute(deps.database);
    if (rows.length === 0) {
      await cancelErased(deps, intentId);
      return true;
    }
    await deps.database
      .insertInto('payment')
      .values({ ...unwritten(intent, named), status: 'canceled' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    if (intent.status !== 'canceled') await cancelIntent(deps, intentId);
  }
  await confirmPayment(deps, intentId);
  return true;
}

/** Returns the ids of the given events that were handled already or are stored for a retry. */
async function knownOf(deps: Deps, events: readonly ProviderEvent[]): Promise<Set<string>> {
  const ids = events.map(({ id }) => id);
  const rows = await deps.database
    .selectFrom('stripe_event')
    .select('id')
    .where('id', 'in', ids)
    .union(deps.database.selectFrom('event_retry').select('id').where('id', 'in', ids))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

async function writtenOf(deps: Deps, events: readonly ProviderEvent[]): Promise<Set<string>> {
  const ids = events.flatMap(({ intentId }) => intentId ?? []);
  if (ids.length === 0) return new Set();
  const rows = await deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('intent_id', 'in', ids)
    .execute();
  return new Set(rows.map(({ intent_id }) => intent_id));
}
