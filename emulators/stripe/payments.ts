import type Stripe from 'stripe';
import { type Call, emit } from './call.ts';
import { insertCharge } from './charges.ts';
import { openDispute } from './disputes.ts';
import { ApiError } from './errors.ts';
import { newId } from './ids.ts';
import { type Intent, type IntentSecrets, publicView, unexpectedState } from './intent-states.ts';
import { assertUnused, attach, type CardSecrets, type PaymentMethod } from './payment-methods.ts';
import { openReview, REVIEWING } from './reviews.ts';
import { behaviourOf, declineOf } from './test-cards.ts';

export interface Confirmation {
  offSession: boolean;
  returnUrl: string | undefined;
  /** Whether Stripe.js handles the next action in the page. */
  useSdk: boolean;
  errorOnAction: boolean;
}

/**
 * Makes the payment. The card's issuer asks for authentication, declines or accepts; or the payment stays in `processing`, if a
 * test has set that. Saves the intent and records the events. A decline is thrown as the error 402, after the failed charge and
 * the events were recorded.
 */
export function pay(call: Call, intent: Intent, confirmation: Confirmation): Intent {
  const method = call.store.find<PaymentMethod>(intent.payment_method as string)!;
  if (!method.customer) assertUnused(call, method);
  const secrets = call.store.hidden<CardSecrets>(method.id);
  const { authentication } = behaviourOf(secrets.number!);
  const setUp = method.customer !== null && secrets.setUp === true;

  if (authentication && confirmation.offSession && !(authentication === 'unless_set_up' && setUp)) {
    throw decline(call, intent, method, 'authentication_required');
  }
  if (authentication && !confirmation.offSession) {
    if (confirmation.errorOnAction) throw decline(call, intent, method, 'authentication_required');
    return askForAuthentication(call, intent, confirmation);
  }
  return charge(call, intent, method, false);
}

/** Continues a payment after its authentication passed or failed. */
export function finishAuthentication(call: Call, intent: Intent, passed: boolean): Intent {
  if (intent.status !== 'requires_action') {
    throw unexpectedState(
      intent,
      `This PaymentIntent has a status of ${intent.status} and asks for no authentication.`,
    );
  }
  const method = call.store.find<PaymentMethod>(intent.payment_method as string)!;
  if (passed)
    return orFailed(call, intent.id, () => charge(call, { ...intent, next_action: null }, method, true));
  return fail(call, intent, {
    type: 'invalid_request_error',
    code: 'payment_intent_authentication_failure',
    message:
      'The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new ' +
      'PaymentMethod to attempt to fulfill this PaymentIntent again.',
    payment_method: method,
  });
}

/** Returns the name of the setting by which a test keeps all payments, or those of one intent, in `processing`. */
export function processingOf(intentId?: string): string {
  return intentId === undefined ? 'processing' : `processing ${intentId}`;
}

/**
 * Returns the name of the setting that decides where the bank asks for authentication of this intent: in a frame, or on the
 * bank's own page.
 */
export function authenticationOf(intentId: string): string {
  return `authentication ${intentId}`;
}

/** Settles an intent that a test has kept in `processing`: its payment succeeds or, if there is a `reason`, is declined. */
export function settle(call: Call, intent: Intent, reason: string | undefined): Intent {
  if (intent.status !== 'processing') throw unexpectedState(intent, 'This PaymentIntent is not processing.');
  const method = call.store.find<PaymentMethod>(intent.payment_method as string)!;
  const settled = { ...intent, processing: null };
  if (reason === undefined) return succeed(call, settled, method, false);
  decline(call, settled, method, reason);
  return call.store.find<Intent>(intent.id)!;
}

/** Runs `work`. After a decline, returns the failed intent and does not throw, since no request waits for the answer. */
function orFailed(call: Call, id: string, work: () => Intent): Intent {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 402) throw error;
    return call.store.find<Intent>(id)!;
  }
}

function askForAuthentication(call: Call, intent: Intent, { useSdk, returnUrl }: Confirmation): Intent {
  const url = `${call.baseUrl}/authenticate/${intent.id}?client_secret=${intent.client_secret}`;
  const isFramed = useSdk && call.store.setting(authenticationOf(intent.id)) !== 'redirect';
  const next: Stripe.PaymentIntent.NextAction =
    returnUrl && !isFramed
      ? { type: 'redirect_to_url', redirect_to_url: { return_url: returnUrl, url } }
      : {
          type: 'use_stripe_sdk',
          use_stripe_sdk: { type: 'three_d_secure_redirect', source: newId('src'), stripe_js: url },
        };
  const asking: Intent = {
    ...intent,
    last_payment_error: null,
    next_action: next,
    status: 'requires_action',
  };
  call.store.save(asking);
  emit(call, 'payment_intent.requires_action', asking);
  return asking;
}

function charge(call: Call, intent: Intent, method: PaymentMethod, authenticated: boolean): Intent {
  const secrets = call.store.hidden<CardSecrets>(method.id);
  const reason = secrets.declines ?? behaviourOf(secrets.number!).decline;
  if ([processingOf(), processingOf(intent.id)].some((name) => call.store.setting(name) === 'hold')) {
    const processing: Intent = {
      ...intent,
      last_payment_error: null,
      next_action: null,
      processing: null,
      status: 'processing',
    };
    call.store.save(processing);
    emit(call, 'payment_intent.processing', processing);
    return processing;
  }
  if (reason) throw decline(call, intent, method, reason);
  return succeed(call, intent, method, authenticated);
}

function succeed(call: Call, intent: Intent, method: PaymentMethod, authenticated: boolean): Intent {
  let charged = insertCharge(call, intent, method, authenticated);
  const review = call.store.setting(REVIEWING) === 'hold' ? openReview(call, intent, charged) : null;
  if (review) {
    const outcome = { ...charged.outcome!, risk_level: 'elevated', type: 'manual_review' };
    charged = { ...charged, outcome, review: review.id };
    call.store.save(charged);
  }
  const succeeded: Intent = {
    ...intent,
    review: review?.id ?? null,
    amount_received: intent.amount,
    last_payment_error: null,
    latest_charge: charged.id,
    next_action: null,
    status: 'succeeded',
  };
  call.store.save(succeeded);
  if (intent.customer && intent.setup_future_usage) {
    if (!method.customer) attach(call, method, intent.customer as string);
  } else if (!method.customer) {
    const kept = intent.setup_future_usage !== null;
    call.store.setHidden(method.id, { used: true, kept } satisfies Partial<CardSecrets>);
  }
  if (authenticated && intent.setup_future_usage)
    call.store.setHidden(method.id, { setUp: true } satisfies Partial<CardSecrets>);
  emit(call, 'charge.succeeded', charged);
  emit(call, 'payment_intent.succeeded', succeeded);
  if (review) emit(call, 'review.opened', review);
  if (behaviourOf(call.store.hidden<CardSecrets>(method.id).number!).disputed)
    openDispute(call, charged.id, {});
  return succeeded;
}

/** Records a declined charge and returns the error for it. */
function decline(call: Call, intent: Intent, method: PaymentMethod, reason: string): ApiError {
  const why = declineOf(reason);
  const charged = insertCharge(call, intent, method, false, why);
  emit(call, 'charge.failed', charged);
  const error = { type: 'card_error' as const, charge: charged.id, ...why, payment_method: method };
  const failed = fail(call, { ...intent, latest_charge: charged.id }, error);
  return new ApiError(402, { ...error, payment_intent: call.fromBrowser ? publicView(failed) : failed });
}

function fail(call: Call, intent: Intent, error: Stripe.PaymentIntent.LastPaymentError): Intent {
  const failed: Intent = {
    ...intent,
    last_payment_error: error,
    next_action: null,
    payment_method: null,
    processing: null,
    status: 'requires_payment_method',
  };
  call.store.save(failed);
  call.store.setHidden(intent.id, { method: '' } satisfies Partial<IntentSecrets>);
  emit(call, 'payment_intent.payment_failed', failed);
  return failed;
}
