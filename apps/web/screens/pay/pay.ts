import type { Stripe, StripeElements } from '@stripe/stripe-js';
import { ApiError, messageOf } from '#client/failures.ts';
import type { Answered, Body } from '#contract/schemas.ts';
import { BANK_DECIDES, fallback, OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { poll } from '#ui/poll.ts';
import { call } from '../../lib/api.ts';
import { payReturn, payTry } from '../../lib/session.ts';

/**
 * How a try to pay ended.
 * - `paid`: it succeeded, with its receipt.
 * - `refunded`: somebody else had paid before, and all of it goes back.
 * - `failed`: nothing was charged, or it is not known yet. `errors` are those of what was typed, by field.
 * - `changed`: the order has to be loaded and looked at again.
 */
export type Ended =
  | { is: 'paid'; receipt: NonNullable<Answered<'reportPayPage'>['receipt']> }
  | { is: 'refunded' }
  | { is: 'failed' | 'changed'; message: string; errors?: Record<string, string> };

/** What is typed, and the order on the screen. */
export interface Wanted {
  token: string;
  revision: number;
  email: string;
  hasGuardianConsent: boolean;
}

/** The delays (ms) between polls while the bank decides: half a minute. */
const POLL_DELAYS_MS = [1000, 2000, 4000, 8000, 15_000];

/** Pays the order with the card in the form. The payer's name is that of the billing address. */
export async function pay(
  { token, ...wanted }: Wanted,
  { stripe, elements }: { stripe: Stripe; elements: StripeElements },
): Promise<Ended> {
  try {
    const { error: fault } = await elements.submit();
    if (fault) return failed(fault.message);
    const address = await elements.getElement('address')!.getValue();
    const last = payTry.recall();
    const before = last?.token === token ? last.clientSecret : '';
    const body = { ...wanted, name: address.value.name, clientSecret: before };
    const { clientSecret } = await call('beginPayPage', { params: { token }, body, quiet: true });
    payTry.keep({ token, clientSecret });
    const { error } = await stripe.confirmPayment({
      elements,
      clientSecret,
      redirect: 'if_required',
      confirmParams: { return_url: window.location.origin + window.location.pathname },
    });
    const paymentIntent = clientSecret.split('_secret_')[0]!;
    const returned = { paymentIntent, paymentIntentClientSecret: clientSecret, redirectStatus: '' };
    payReturn.keep(returned);
    return await settle(returned, error ? (error.message ?? fallback.payment) : null);
  } catch (error) {
    const { status, errors } = error instanceof ApiError ? error : ({} as Partial<ApiError>);
    const message = messageOf(error, fallback.payment);
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
  const answer = await poll(
    () => call('reportPayPage', { body, quiet: true }).catch(() => null),
    (now) => now !== null && now.status !== 'processing',
    (tries) => POLL_DELAYS_MS[tries],
    { page: document },
  );
  if (!answer) return failed(OUTCOME_UNKNOWN);
  if (answer.status === 'processing') return failed(BANK_DECIDES);
  payReturn.drop();
  if (answer.status === 'refunded' || answer.status === 'succeeded') payTry.drop();
  if (answer.status === 'refunded') return { is: 'refunded' };
  if (answer.status === 'succeeded' && answer.receipt) return { is: 'paid', receipt: answer.receipt };
  return failed(refusal ?? fallback.payment);
}
