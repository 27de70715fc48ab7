import type { Stripe, StripeElements } from '@stripe/stripe-js';
import { ApiError, messageOf, Unsent } from '#client/failures.ts';
import { within } from '#client/within.ts';
import type { Answered, Body } from '#contract/schemas.ts';
import { PAYER_OUTCOME_UNKNOWN } from '#core/payLink.ts';
import { BANK_DECIDES, fallback, NO_ANSWER } from '#core/sentences.ts';
import { poll } from '#ui/poll.ts';
import { answerOrPaid } from '../../lib/answerOrPaid.ts';
import { call } from '../../lib/api.ts';
import { payReturn, payTry } from '../../lib/session.ts';

/**
 * The outcome of a try to pay.
 * - `paid`: it succeeded, with its receipt.
 * - `refunded`: the payment bought nothing, for example because somebody else had paid before, and is refunded in full.
 * - `failed`: nothing was charged. `errors` are about the typed values, by field.
 * - `unknown`: the outcome is not known yet, and can be asked for again.
 * - `changed`: the order has changed, and has to be loaded and shown again.
 */
export type Ended =
  | { is: 'paid'; receipt: NonNullable<Answered<'reportPayPage'>['receipt']> }
  | { is: 'refunded' }
  | { is: 'failed' | 'unknown' | 'changed'; message: string; errors?: Record<string, string> };

/** The typed values, and the revision of the order on the screen. */
export interface Wanted {
  token: string;
  revision: number;
  email: string;
  hasGuardianConsent: boolean;
}

/** The delays (ms) between polls while the bank decides: half a minute in all. */
const POLL_DELAYS_MS = [1000, 2000, 4000, 8000, 15_000];
/** After this time (ms) without an answer, the server is asked again. */
const ANSWER_MS = 15_000;
/** After this time (ms) no further poll is started. */
const MOST_MS = 40_000;

/**
 * Pays the order with the card in the form. The payer's name is taken from the billing address. If the outcome of the last try is
 * not known, it is asked for first.
 */
export async function pay(
  { token, ...wanted }: Wanted,
  { stripe, elements }: { stripe: Stripe; elements: StripeElements },
): Promise<Ended> {
  try {
    const unsettled = payReturn.recall();
    const before = unsettled && (await settle(unsettled, null));
    if (before && before.is !== 'failed') return before;
    const { error: fault } = await elements.submit();
    if (fault) return failed(fault.message);
    const address = await elements.getElement('address')!.getValue();
    const last = payTry.recall();
    const lastSecret = last?.token === token ? last.clientSecret : '';
    const body = { ...wanted, name: address.value.name, clientSecret: lastSecret };
    const { clientSecret } = await call('beginPayPage', { params: { token }, body, quiet: true });
    payTry.keep({ token, clientSecret });
    const confirmed = stripe.confirmPayment({
      elements,
      clientSecret,
      redirect: 'if_required',
      confirmParams: { return_url: window.location.origin + window.location.pathname },
    });
    const { error } = await answerOrPaid(confirmed, async (signal) => {
      const { status } = await call('getPayPage', { params: { token }, quiet: true, signal });
      return status === 'paid';
    });
    const paymentIntent = clientSecret.split('_secret_')[0]!;
    const returned = { paymentIntent, paymentIntentClientSecret: clientSecret, redirectStatus: '' };
    payReturn.keep(returned);
    return await settle(returned, error ? (error.message ?? fallback.payment) : null);
  } catch (error) {
    const { status, errors } = error instanceof ApiError ? error : ({} as Partial<ApiError>);
    const message = messageOf(error, error instanceof Unsent ? NO_ANSWER : fallback.payment);
    return {
      is: status === 409 || status === 404 ? 'changed' : 'failed',
      message,
      ...(errors && { errors }),
    };
  }
}

const failed = (message: string = fallback.payment): Ended => ({ is: 'failed', message });

/**
 * Asks the server for the outcome of a payment, whatever the card provider answered to this page. `refusal`: the provider's
 * message if it refused the payment. Once the payment is settled, the tab's `payReturn` is removed, and `payTry` too unless the
 * payment failed.
 */
export async function settle(
  { paymentIntent, paymentIntentClientSecret }: Body<'postPayment'>,
  refusal: string | null,
): Promise<Ended> {
  const body = { paymentIntent, paymentIntentClientSecret };
  const ask = (signal: AbortSignal) => call('reportPayPage', { body, quiet: true, signal });
  const last = Date.now() + MOST_MS;
  const answer = await poll(
    () => within(ask, undefined, ANSWER_MS).catch(() => null),
    (now) => now !== null && now.status !== 'processing',
    (tries) => (Date.now() < last ? POLL_DELAYS_MS[tries] : undefined),
    { page: document },
  );
  if (!answer) return { is: 'unknown', message: PAYER_OUTCOME_UNKNOWN };
  if (answer.status === 'processing') return { is: 'unknown', message: BANK_DECIDES };
  payReturn.drop();
  if (answer.status === 'refunded' || answer.status === 'succeeded') payTry.drop();
  if (answer.status === 'refunded') return { is: 'refunded' };
  if (answer.status === 'succeeded' && answer.receipt) return { is: 'paid', receipt: answer.receipt };
  return failed(refusal ?? fallback.payment);
}
