import { createHash, timingSafeEqual } from 'node:crypto';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { readStanding } from '../session/standing.ts';
import { duplicatesOf } from './duplicates.ts';
import { lookAtPayment, recordedEnd } from './lookAtPayment.ts';

const UNKNOWN_PAYMENT = 'This payment does not belong to this join.';

/** The return page's report. What it says of the outcome is not believed: Stripe is asked. */
export async function handlePaymentReturn(
  deps: Deps,
  uuid: string,
  { paymentIntent, paymentIntentClientSecret }: ParsedBody<'postPayment'>,
): Promise<Data<'postPayment'>> {
  const payment = await deps.database
    .selectFrom('payment')
    .select(['client_secret', 'status'])
    .where('intent_id', '=', paymentIntent)
    .where('session_uuid', '=', uuid)
    .executeTakeFirst();
  if (!payment || !isSame(payment.client_secret, paymentIntentClientSecret))
    throw new Refusal(404, UNKNOWN_PAYMENT);
  const status =
    recordedEnd(payment.status) ??
    (await lookAtPayment(deps, paymentIntent, 'fresh')).outcome ??
    'processing';
  const [duplicate] = status === 'refunded' ? await duplicatesOf(deps, { intentId: paymentIntent }) : [];
  const goesOn = status === 'succeeded' || status === 'processing';
  return {
    status,
    paymentIntent,
    refunded: duplicate ?? null,
    goOn: goesOn ? null : ((await readStanding(deps, uuid))?.goOn ?? null),
  };
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
