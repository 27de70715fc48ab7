import { callApi, intentIdOf, type PublicIntent, type Result, type StripeJsError } from './api.ts';
import { authenticate } from './authentication.ts';
import { IntegrationError } from './dom.ts';
import { Elements, type ElementsOptions } from './elements.ts';

interface ConfirmParams {
  return_url?: string;
  receipt_email?: string;
  payment_method?: string;
  setup_future_usage?: string;
  shipping?: object;
  payment_method_data?: { billing_details?: Record<string, unknown> };
}

interface ConfirmOptions {
  elements?: Elements;
  clientSecret?: string;
  confirmParams?: ConfirmParams;
  redirect?: 'always' | 'if_required';
}

type IntentResult = Result<'paymentIntent', PublicIntent>;

/** The object that `Stripe(publishableKey)` returns: the part of Stripe.js that takes a card payment. */
class StripeJs {
  readonly #key: string;

  constructor(key: string) {
    if (!/^pk_test_/.test(key))
      throw new IntegrationError('The emulator takes the publishable key of a test account.');
    this.#key = key;
  }

  elements(options: ElementsOptions): Elements {
    return new Elements(this.#key, options);
  }

  async confirmPayment(options: ConfirmOptions): Promise<IntentResult> {
    const { elements, confirmParams = {}, redirect = 'always' } = options;
    const clientSecret = options.clientSecret ?? elements?.clientSecret;
    if (!clientSecret) throw new IntegrationError('stripe.confirmPayment(): a clientSecret is needed.');
    if (redirect === 'always' && !confirmParams.return_url) {
      throw new IntegrationError(
        'stripe.confirmPayment(): confirmParams.return_url is needed unless redirect is if_required.',
      );
    }
    if (elements) {
      const { error } = await elements.submit();
      if (error) return { error };
    }
    const { payment_method_data: data, ...rest } = confirmParams;
    const confirmed = await this.#confirm(
      clientSecret,
      rest,
      elements?.payer && ((path, params) => elements.send(path, params, data?.billing_details)),
    );
    if (confirmed.error || redirect === 'if_required') return confirmed;
    return leaveFor(confirmed.paymentIntent, confirmParams.return_url!);
  }

  /** Confirms an intent with a saved payment method. */
  async confirmCardPayment(
    clientSecret: string,
    data: {
      payment_method?: string;
      receipt_email?: string;
      return_url?: string;
      setup_future_usage?: string;
    } = {},
    options: { handleActions?: boolean } = {},
  ): Promise<IntentResult> {
    if (data.payment_method !== undefined && typeof data.payment_method !== 'string') {
      throw new IntegrationError(
        'The emulator does not stand in for card Elements: confirm with confirmPayment.',
      );
    }
    return this.#confirm(clientSecret, data, undefined, options.handleActions !== false);
  }

  /** Asks for the authentication that an intent needs. */
  async handleNextAction({ clientSecret }: { clientSecret: string }): Promise<IntentResult> {
    const found = await this.retrievePaymentIntent(clientSecret);
    if (found.error) return found;
    if (found.paymentIntent.status !== 'requires_action') {
      return {
        error: {
          type: 'invalid_request_error',
          code: 'payment_intent_unexpected_state',
          message: `handleNextAction: the PaymentIntent supplied is not in the requires_action state, but ${found.paymentIntent.status}.`,
          payment_intent: found.paymentIntent,
        },
      };
    }
    return settle(found.paymentIntent);
  }

  async retrievePaymentIntent(clientSecret: string): Promise<IntentResult> {
    const path = `payment_intents/${intentIdOf(clientSecret)}`;
    return intentResult(await callApi<PublicIntent>(this.#key, 'GET', path, { client_secret: clientSecret }));
  }

  async createPaymentMethod(options: {
    elements?: Elements;
    params?: ConfirmParams['payment_method_data'];
  }): Promise<Result<'paymentMethod', object>> {
    const { elements, params } = options;
    if (!elements?.payment)
      throw new IntegrationError('stripe.createPaymentMethod(): elements with a payment Element are needed.');
    const { error } = await elements.submit();
    if (error) return { error };
    const made = await elements.send<object>('payment_methods', {}, params?.billing_details);
    return made.error ? { error: made.error } : { paymentMethod: made.value };
  }

  async createToken(): Promise<never> {
    throw new IntegrationError('The emulator does not stand in for tokens: use a payment method.');
  }

  registerAppInfo(): void {}

  _registerWrapper(): void {}

  /** Sends the confirmation, from the card's frame if there is one, and handles the intent's next action. */
  async #confirm(
    clientSecret: string,
    params: object,
    sendCard?: (path: string, params: object) => Promise<Result<'value', PublicIntent>>,
    handleActions = true,
  ): Promise<IntentResult> {
    const path = `payment_intents/${intentIdOf(clientSecret)}/confirm`;
    const sent = { ...params, use_stripe_sdk: true, client_secret: clientSecret };
    const answer = sendCard ? sendCard(path, sent) : callApi<PublicIntent>(this.#key, 'POST', path, sent);
    const confirmed = intentResult(await answer);
    if (confirmed.error || confirmed.paymentIntent.status !== 'requires_action' || !handleActions)
      return confirmed;
    return settle(confirmed.paymentIntent);
  }
}

/**
 * Asks the cardholder for authentication, and returns the outcome. If the bank asks on its own page, redirects there; the promise
 * then never resolves.
 */
async function settle(intent: PublicIntent): Promise<IntentResult> {
  if (intent.next_action?.type === 'redirect_to_url') {
    window.location.assign(intent.next_action.redirect_to_url!.url);
    return new Promise(() => {});
  }
  const answered = await authenticate(intent);
  if (answered.error) return { error: answered.error };
  const { value } = answered;
  const failure = value.status === 'requires_payment_method' ? value.last_payment_error : null;
  if (!failure) return { paymentIntent: value };
  const error: StripeJsError = { ...failure, payment_intent: value };
  if (failure.code === 'payment_intent_authentication_failure') {
    error.message =
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.';
  }
  return { error };
}

function intentResult(result: Result<'value', PublicIntent>): IntentResult {
  return result.error ? { error: result.error } : { paymentIntent: result.value };
}

/**
 * Redirects to the return URL with the parameters that Stripe appends. The promise never resolves, since the browser leaves the
 * page.
 */
function leaveFor(intent: PublicIntent, returnUrl: string): Promise<never> {
  const url = new URL(returnUrl, window.location.href);
  url.searchParams.set('payment_intent', intent.id);
  url.searchParams.set('payment_intent_client_secret', intent.client_secret);
  url.searchParams.set('redirect_status', intent.status === 'processing' ? 'pending' : intent.status);
  window.location.assign(url);
  return new Promise(() => {});
}

Object.assign(window, {
  // Can be called with and without `new`, like Stripe.js. `version` is the release train of the API.
  Stripe: Object.assign(
    function Stripe(key: string): StripeJs {
      return new StripeJs(key);
    },
    { version: 'endive' },
  ),
});
