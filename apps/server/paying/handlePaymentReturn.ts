import { createHash, timingSafeEqual } from 'node:crypto';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import { type Holding, isHeldIn } from '#core/holding.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { readStanding } from '../session/standing.ts';
import type { Deps } from './deps.ts';
import { duplicatesOf } from './duplicates.ts';
import { lookAtPayment, recordedEnd } from './lookAtPayment.ts';

export const UNKNOWN_PAYMENT = 'This payment does not belong to this registration.';

/**
 * Handles the return page's report about a payment. The outcome in the report is not trusted: Stripe is asked. `isItsBrowser` is
 * whether the caller's browser counts as the browser that paid: it has to hold the join. The client secret alone does not
 * suffice, because anybody who knew the uuid before the payment could ask for it.
 */
export async function handlePaymentReturn(
  deps: Deps,
  uuid: string,
  { paymentIntent, paymentIntentClientSecret, holding }: ParsedBody<'postPayment'> & { holding: Holding },
): Promise<{ data: Data<'postPayment'>; isItsBrowser: boolean }> {
  const payment = await deps.database
    .selectFrom('payment')
    .innerJoin('join_session', 'uuid', 'session_uuid')
    .select(['client_secret', 'status', 'proven_at'])
    .where('intent_id', '=', paymentIntent)
    .where('session_uuid', '=', uuid)
    .executeTakeFirst();
  // An erased join has an empty client secret, which must not match an empty secret from the caller.
  if (!payment?.client_secret || !isSameSecret(payment.client_secret, paymentIntentClientSecret))
    throw new Refusal(404, UNKNOWN_PAYMENT);
  const status =
    recordedEnd(payment.status) ??
    (await lookAtPayment(deps, paymentIntent, 'fresh')).outcome ??
    'processing';
  const [duplicate] = status === 'refunded' ? await duplicatesOf(deps, { intentId: paymentIntent }) : [];
  const goesOn = status === 'succeeded' || status === 'processing';
  const goOn = goesOn ? null : ((await readStanding(deps, uuid))?.goOn ?? null);
  return {
    data: { status, paymentIntent, refunded: duplicate ?? null, goOn },
    isItsBrowser: isHeldIn(holding, { isProven: payment.proven_at !== null }),
  };
}

/** Compares two client secrets in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
