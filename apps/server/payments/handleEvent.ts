import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { followPayment } from '../refunds/followPayment.ts';
import type { ProviderEvent } from '../stripe/provider.ts';
import { noteFailure } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';
import { namedOrder } from './namedOrder.ts';
import { settlePaying } from './settlePaying.ts';

/**
 * Acts on what Stripe reports, by webhook or fetched. Whether the event is about a payment of ours; those of other apps
 * or environments on the same account are none of our business. Throws when it could not be acted on: try it again.
 */
export async function handleEvent(deps: Deps, event: ProviderEvent): Promise<boolean> {
  const { id, type, intentId } = event;
  if (intentId === null) return false;
  if (!type.startsWith('payment_intent.')) {
    // Refunds and disputes do not carry the intent's metadata: known payments are ours.
    if (!(await isKnown(deps, intentId))) return false;
    if (await isHandled(deps, id)) return true;
    await followPayment(deps, intentId);
  } else {
    const named = namedOrder(deps, event);
    if (!named) return false;
    if (await isHandled(deps, id)) return true;
    if (type === 'payment_intent.succeeded' || type === 'payment_intent.canceled')
      await confirmPayment(deps, intentId);
    else if (type === 'payment_intent.payment_failed') {
      const { failedChargeId, createdAt: at } = event;
      const intent = await deps.payments.retrieveIntent(intentId);
      await noteFailure(deps, intent, failedChargeId === null ? null : { id: failedChargeId, at });
      if (named.kind === 'join') await settlePaying(deps, named.uuid, 'failed', event.createdAt);
    }
  }
  await noteHandled(deps, id);
  return true;
}

/** An event is not acted on again, whoever reports it. */
export async function noteHandled({ database }: Deps, id: string): Promise<void> {
  await database
    .insertInto('stripe_event')
    .values({ id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function isHandled(deps: Deps, id: string): Promise<boolean> {
  const { rows } = await sql`select from stripe_event where id = ${id}`.execute(deps.database);
  return rows.length > 0;
}

async function isKnown(deps: Deps, intentId: string): Promise<boolean> {
  const { rows } = await sql`select from payment where intent_id = ${intentId}`.execute(deps.database);
  return rows.length > 0;
}
