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
 * How a try to pay ended.
 * - `paid`: it succeeded, with its receipt.
 * - `refunded`: somebody else had paid before, and all of it goes back.
 * - `failed`: nothing was charged. `errors` are those of what was typed, by field.
 * - `unknown`: it is not known yet, and can be asked again.
 * - `changed`: the order has to be loaded and looked at again.
 */
export type Ended =
  | { is: 'paid'; receipt: NonNullable<Answered<'reportPayPage'>['receipt']> }
  | { is: 'refunded' }
  | { is: 'failed' | 'unknown' | 'changed'; message: string; errors?: Record<string, string> };

/** What is typed, and the order on the screen. */
export interface Wanted {
  token: string;
  revision: number;
  email: string;
  hasGuardianConsent: boolean;
}

/** The delays (ms) between polls while the bank decides: half a minute. */
const POLL_DELAYS_MS = [1000, 2000, 4000, 8000, 15_000];
/** After this time (ms) an answer is taken for lost, and asked for again. */
const ANSWER_MS = 15_000;
/** After this time (ms) no poll is begun. */
const MOST_MS = 40_000;

/**
 * Pays the order with the card in the form. The payer's name is that of the billing address. If it is not known how the last try
 * ended, asks for that first.
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
 * Asks the server how a payment ended, whatever the card provider told this page. `refusal`: what the provider said if it refused the
 * payment. What the tab kept of the payment ends once it is settled.
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
