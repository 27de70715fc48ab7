import { sql } from 'kysely';
import { reach, takeTurn } from '../database/schedule.ts';
import type { Deps } from '../deps.ts';
import type { ProviderEvent } from '../stripe/provider.ts';
import { webhookEvents } from '../stripe/webhookEvents.ts';
import { cancelIntent } from './cancelIntent.ts';
import { confirmPayment, intentOf, unwritten } from './confirmPayment.ts';
import { handleEvent } from './handleEvent.ts';

const TASK = 'events';
const EVERY_SECONDS = 120;
/** Events may show up a little out of the order of their times. */
const OVERLAP_MS = 600_000;
/** One that cannot be acted on for as long as Stripe itself would try keeps the others waiting no longer. */
const PATIENCE_MS = 3 * 86_400_000;
/** Younger than this, the call that makes an intent may still be about to write its row. */
const UNWRITTEN_MS = 300_000;

/**
 * Fetches what a lost webhook would have told, every two minutes by one of all processes: payments, refunds and
 * disputes. And gives up intents whose making was cut off between Stripe and our row. Returns how many it acted on.
 */
export async function catchUpOnEvents(deps: Deps): Promise<number> {
  const turn = await takeTurn(deps.database, TASK, EVERY_SECONDS);
  if (!turn) return 0;
  const horizon = turn.at.getTime() - PATIENCE_MS;
  const since = Math.max(horizon, (turn.reachedAt?.getTime() ?? horizon) - OVERLAP_MS);
  let acted = 0;
  let stuckAt = Number.POSITIVE_INFINITY;
  for await (const events of pages(
    deps.payments.listEvents(['payment_intent.created', ...webhookEvents], new Date(since)),
  )) {
    const handled = await handledOf(deps, events);
    const written = await writtenOf(deps, events);
    for (const event of events) {
      if (handled.has(event.id) || event.intentId === null) continue;
      const isCreation = event.type === 'payment_intent.created';
      if (isCreation && (written.has(event.intentId) || !intentOf(deps, event))) continue;
      try {
        const age = turn.at.getTime() - event.createdAt.getTime();
        if (isCreation && age < UNWRITTEN_MS) {
          // Looked at again next time.
          stuckAt = Math.min(stuckAt, event.createdAt.getTime());
          continue;
        }
        if (isCreation ? await giveUpUnwritten(deps, event.intentId) : await handleEvent(deps, event))
          acted++;
      } catch (error) {
        stuckAt = Math.min(stuckAt, event.createdAt.getTime());
        deps.log.error({ err: error, event: event.id }, 'an event could not be acted on');
      }
    }
  }
  await reach(deps.database, TASK, new Date(Math.min(turn.at.getTime(), stuckAt)));
  await sql`delete from stripe_event where handled_at < now() - interval '35 days'`.execute(deps.database);
  return acted;
}

/**
 * An intent of ours at Stripe that no row names: its maker died in between, and nobody has its secret. One that was
 * charged (an upgrade) is confirmed; any other is written as cancelled, so that its attempt counts, and cancelled.
 */
export async function giveUpUnwritten(deps: Deps, intentId: string): Promise<boolean> {
  const intent = await deps.payments.retrieveIntent(intentId);
  const of = intentOf(deps, intent);
  if (!of) return false;
  if (intent.status !== 'succeeded' && intent.status !== 'processing') {
    const { rows } = await sql`select from join_session where uuid = ${of.uuid}`.execute(deps.database);
    if (rows.length > 0)
      await deps.database
        .insertInto('payment')
        .values({ ...unwritten(intent, of), status: 'canceled' })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    if (intent.status !== 'canceled') await cancelIntent(deps, intentId);
  }
  await confirmPayment(deps, intentId);
  return true;
}

async function* pages(events: AsyncIterable<ProviderEvent>): AsyncGenerator<ProviderEvent[]> {
  let page: ProviderEvent[] = [];
  for await (const event of events) {
    page.push(event);
    if (page.length < 100) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function handledOf(deps: Deps, events: readonly ProviderEvent[]): Promise<Set<string>> {
  const ids = events.map(({ id }) => id);
  const rows = await deps.database.selectFrom('stripe_event').select('id').where('id', 'in', ids).execute();
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
