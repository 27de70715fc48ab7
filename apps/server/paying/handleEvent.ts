import { sql } from 'kysely';
import type { ProviderEvent } from '../providers/stripe/provider.ts';
import type { WebhookEvent } from '../providers/stripe/webhookEvents.ts';
import { noteFailure } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';
import type { Deps } from './deps.ts';
import { namedOrder } from './namedOrder.ts';
import { followPayment } from './refunds/followPayment.ts';
import { settlePaying } from './settlePaying.ts';

type Handler = (deps: Deps, event: ProviderEvent, intentId: string) => Promise<unknown>;

const confirm: Handler = (deps, _, intentId) => confirmPayment(deps, intentId);
/**
 * Handles refunds and disputes. Stripe may report them before the payment itself, so an unconfirmed payment is confirmed first.
 */
const follow: Handler = async (deps, _, intentId) => {
  const { rows } = await sql`
    select from payment where intent_id = ${intentId} and status in ('open', 'canceled')`.execute(
    deps.database,
  );
  if (rows.length > 0) await confirmPayment(deps, intentId);
  await followPayment(deps, intentId);
};

/** The handler for each type of event that the webhook is registered for. */
const handlers: Record<WebhookEvent, Handler> = {
  'payment_intent.succeeded': confirm,
  'payment_intent.canceled': confirm,
  'payment_intent.payment_failed': noteFailedCard,
  'charge.refunded': follow,
  'charge.refund.updated': follow,
  'refund.created': follow,
  'refund.updated': follow,
  'refund.failed': follow,
  'charge.dispute.created': follow,
  'charge.dispute.updated': follow,
  'charge.dispute.closed': follow,
  'charge.dispute.funds_withdrawn': follow,
  'charge.dispute.funds_reinstated': follow,
};

/**
 * Handles an event of Stripe, received by webhook or fetched in the background. Returns whether the event has a type that is
 * handled and is about a payment of ours. Other events, such as those of other apps or environments on the same Stripe account,
 * are ignored. Throws if the handling failed and must be retried.
 */
export async function handleEvent(deps: Deps, event: ProviderEvent): Promise<boolean> {
  const { id, type, intentId } = event;
  const handle = Object.hasOwn(handlers, type) ? handlers[type as WebhookEvent] : undefined;
  if (intentId === null || !handle || !(await isOurs(deps, event, intentId))) return false;
  if (await isHandled(deps, id)) return true;
  await handle(deps, event, intentId);
  await noteHandled(deps, id);
  return true;
}

/**
 * Whether the event is about a payment of ours. Events about refunds and disputes lack the intent's metadata, so such an event is
 * ours if we have a payment row for its intent.
 */
async function isOurs(deps: Deps, event: ProviderEvent, intentId: string): Promise<boolean> {
  if (event.type.startsWith('payment_intent.')) return namedOrder(deps, event) !== null;
  const { rows } = await sql`select from payment where intent_id = ${intentId}`.execute(deps.database);
  return rows.length > 0;
}

async function noteFailedCard(deps: Deps, event: ProviderEvent, intentId: string): Promise<void> {
  const { failedChargeId, createdAt } = event;
  const order = namedOrder(deps, event)!;
  const intent = await deps.payments.retrieveIntent(intentId);
  await noteFailure(deps, intent, failedChargeId === null ? null : { id: failedChargeId, at: createdAt });
  if (order.kind === 'join') await settlePaying(deps, order.uuid, 'failed', createdAt);
}

/** Records that an event was handled, so that it is not handled again. */
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
