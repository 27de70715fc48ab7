import { createHash } from 'node:crypto';
import type { Deps } from '../deps.ts';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { cancelIntent } from './cancelIntent.ts';
import { tooManyDeclined } from './cardFailures.ts';
import { intentRequest } from './intentRequest.ts';
import { countingFailures } from './providerFailures.ts';
import { type Order, totalChanged } from './readOrder.ts';

/**
 * Keys come from the session, the attempt and what is asked for, so a call repeated after a crash or by a second tab
 * finds the same intent, and one that asks for something else (a corrected email) is not refused for its key. A failure of
 * Stripe's own, which it would repeat for a day, makes the next call another attempt; what it may have made all the same is
 * cancelled when its event is caught up with. One call, which the joiner waits for: a customer is made where an upgrade is bought.
 */
export async function openIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  email: string | null,
): Promise<Intent> {
  await refuseTooMany(deps, order);
  const attempt = order.attempts + 1;
  const asked = intentRequest(deps, uuid, order, email);
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
  const key = `${deps.environment}-${uuid}-join-${attempt}-${order.providerFailures}-${digest.slice(0, 16)}`;
  const intent = await countingFailures(deps, uuid, order.providerFailures, () =>
    deps.payments.createIntent({ ...asked, customerId: null, idempotencyKey: key }),
  );
  const inserted = await deps.database
    .insertInto('payment')
    .values({
      intent_id: intent.id,
      session_uuid: uuid,
      kind: 'join',
      attempt,
      status: 'open',
      client_secret: intent.clientSecret,
      customer_id: '',
      amount_cents: order.totalCents,
      revision: order.revision,
      receipt_email: email,
      saves_card: order.saveCard,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('intent_id')
    .executeTakeFirst();
  if (inserted) return intent;
  // Somebody else opened one meanwhile (another tab, at another revision): theirs is the one that counts.
  const theirs = await deps.database
    .selectFrom('payment')
    .select(['intent_id'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .where('status', '=', 'open')
    .executeTakeFirst();
  if (theirs?.intent_id === intent.id) return intent;
  await cancelIntent(deps, intent.id);
  throw totalChanged(order.totalCents);
}

/** Limits on new intents: whoever tests stolen cards needs many. */
async function refuseTooMany(deps: Deps, order: Order): Promise<void> {
  if (order.pauseSeconds > 0) throw tooManyDeclined(order.pauseSeconds);
  const { limits } = deps.config;
  if (!limits) return;
  if (order.recentAttempts >= limits.intentsPerSession.count)
    throw new Refusal(429, TOO_MANY, { retryAfter: limits.intentsPerSession.minutes * 60 });
  const { addressHash } = order;
  const perAddress = limits.intentsPerAddress;
  if (addressHash !== null && !(await countWithin(deps.database, 'intents', addressHash, perAddress)))
    throw new Refusal(429, TOO_MANY, { retryAfter: perAddress.minutes * 60 });
}
