import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { countWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { refusalFor } from '../session/standing.ts';
import { cancelErased, cancelIntent } from './cancelIntent.ts';
import { tooManyDeclined } from './cardFailures.ts';
import type { Deps } from './deps.ts';
import { intentRequest } from './intentRequest.ts';
import { countingFailures } from './providerFailures.ts';
import { type Order, totalChanged } from './readOrder.ts';

/**
 * Opens an intent for the order. The customer for the upgrade is created only after the payment, so that the joiner waits for one
 * call only. The idempotency key contains the session, the number of the session's try to pay (`attempt`), the count of failed
 * calls and a hash of the request:
 * - A call of the joiner that is repeated after a crash or by a second tab gets the same intent. A changed request (a corrected
 *   email) gets another.
 * - Stripe replays a failure under the same key for a day, so each failed call changes the key. If a failed call did create an
 *   intent, that intent is cancelled when its event is handled (catchUp.ts).
 *
 * `payer`: the name of somebody who pays by a pay link, and the guardian consent sentence to which they agreed; null if the
 * joiner pays.
 */
export async function openIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  email: string | null,
  payer: { name: string; consent: string | null } | null = null,
): Promise<Intent> {
  await refuseTooMany(deps, order);
  const attempt = order.attempts + 1;
  const asked = intentRequest(deps, uuid, order, email, payer?.name ?? null);
  // Two payers who enter the same name and email must not share an intent: one of them may be the joiner.
  const whose = payer ? randomUUID() : '';
  const digest = createHash('sha256')
    .update(JSON.stringify(asked) + whose)
    .digest('base64url');
  const key = `${deps.environment}-${uuid}-join-${attempt}-${order.providerFailures}-${digest.slice(0, 16)}`;
  const intent = await countingFailures(deps, uuid, order.providerFailures, () =>
    deps.payments.createIntent({ ...asked, customerId: null, idempotencyKey: key }),
  );
  const { rows: inserted } = await sql`
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, receipt_email, saves_card,
      by_pay_link, payer_name, payer_consent, payer_consent_at)
    select ${intent.id}, uuid, 'join', ${attempt}::int, 'open', ${intent.clientSecret}, '', ${order.totalCents}::int, ${order.revision}::int,
      ${email}, ${asked.saveCard}::boolean, ${payer !== null}::boolean, ${payer?.name ?? null}::text, ${payer?.consent ?? null}::text,
      case when ${payer?.consent ?? null}::text is not null then now() end
    from join_session where uuid = ${uuid} and erased_at is null for key share
    on conflict do nothing returning intent_id`.execute(deps.database);
  if (inserted.length > 0) return intent;
  const { rows } = await sql<{ intent_id: string | null }>`
    select intent_id from join_session left join payment on session_uuid = uuid and kind = 'join' and status = 'open'
    where uuid = ${uuid} and erased_at is null`.execute(deps.database);
  if (!rows[0]) {
    await cancelErased(deps, intent.id);
    throw await refusalFor(deps, 'createPaymentIntent', uuid);
  }
  // Another tab has opened an intent first. The same idempotency key gives both tabs the same intent; a different intent is
  // cancelled here.
  if (rows[0].intent_id === intent.id) return intent;
  await cancelIntent(deps, intent.id);
  throw totalChanged(order.totalCents);
}

/** Limits the number of new intents, because somebody who tests stolen cards needs many. */
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
