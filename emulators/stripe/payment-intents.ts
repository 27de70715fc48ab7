import type Stripe from 'stripe';
import { type Call, emit, mergeMetadata, orNull, require } from './call.ts';
import { ApiError, invalid, refused } from './errors.ts';
import { newId, token } from './ids.ts';
import { cardTypes, checkAmount } from './intent-rules.ts';
import { assertMayBe, type Intent, type IntentSecrets, unexpectedState } from './intent-states.ts';
import { given, page } from './lists.ts';
import {
  findPaymentMethod,
  makePaymentMethod,
  type PaymentMethod,
  type PaymentMethodData,
} from './payment-methods.ts';
import { type Confirmation, pay } from './payments.ts';
import type { ApiObject } from './store.ts';
import { checkEmail, checkLength, checkReturnUrl, checkStatementSuffix } from './texts.ts';

const KEPT = ['description', 'receipt_email', 'statement_descriptor', 'statement_descriptor_suffix'] as const;

export const UPDATE_PARAMS = [
  'allowed_payment_method_types',
  'amount',
  'currency',
  'customer',
  ...KEPT,
  'expand',
  'metadata',
  'payment_method',
  'payment_method_data',
  'setup_future_usage',
  'shipping',
];

export const CONFIRM_PARAMS = [
  'error_on_requires_action',
  'expand',
  'off_session',
  'payment_method',
  'payment_method_data',
  'receipt_email',
  'return_url',
  'setup_future_usage',
  'shipping',
  'use_stripe_sdk',
];

/** Parameters that are valid only when the intent is confirmed in the same call. */
const WITH_CONFIRM = ['error_on_requires_action', 'off_session', 'return_url', 'use_stripe_sdk'];

export const CREATE_PARAMS = [...UPDATE_PARAMS, 'automatic_payment_methods', 'confirm', ...WITH_CONFIRM];

export function createPaymentIntent(call: Call): ApiObject {
  const { params } = call;
  checkAmount(params.amount as number, params.currency as string);
  for (const name of WITH_CONFIRM) {
    if (params[name] !== undefined && params.confirm !== true) {
      throw invalid(`The parameter \`${name}\` can only be given together with confirm=true.`, name);
    }
  }
  if (params.automatic_payment_methods && params.allowed_payment_method_types) {
    throw invalid(
      'You may only specify one of these parameters: automatic_payment_methods, allowed_payment_method_types.',
      'automatic_payment_methods',
    );
  }
  const id = newId('pi');
  const types = cardTypes(params.allowed_payment_method_types);
  const automatic = params.automatic_payment_methods as
    | Stripe.PaymentIntent.AutomaticPaymentMethods
    | undefined;
  const intent: Intent = {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: (types ?? null) as Stripe.PaymentIntent['allowed_payment_method_types'],
    amount: params.amount as number,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    // Since API version 2023-08-16, a request without payment method types gets the types that the account has turned on.
    automatic_payment_methods: types
      ? null
      : { allow_redirects: 'always', ...(automatic ?? { enabled: true }) },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_secret_${token(25)}`,
    confirmation_method: 'automatic',
    created: call.now,
    currency: params.currency as string,
    customer: null,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: { installments: null, mandate_options: null, network: null, request_three_d_secure: 'automatic' },
    },
    payment_method_types: types ?? ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  };
  const filled = fill(call, intent);
  call.store.insert(filled);
  emit(call, 'payment_intent.created', filled);
  return params.confirm === true ? confirm(call, filled) : filled;
}

export function retrievePaymentIntent(call: Call): ApiObject {
  return intentOf(call);
}

export function updatePaymentIntent(call: Call): ApiObject {
  const { params } = call;
  const intent = intentOf(call);
  const amount = params.amount as number | undefined;
  if (amount !== undefined || params.currency !== undefined) {
    checkAmount(amount ?? intent.amount, (params.currency as string) ?? intent.currency);
  }
  // Once the payment is in progress or over, only the metadata and the description may be changed.
  const onlyNotes = Object.keys(params).every((name) => ['metadata', 'description', 'expand'].includes(name));
  if (!onlyNotes) assertMayBe('updated', intent);
  const updated = fill(call, intent);
  call.store.save(updated);
  return updated;
}

export function confirmPaymentIntent(call: Call): ApiObject {
  const intent = intentOf(call);
  assertMayBe('confirmed', intent);
  return confirm(call, fill(call, intent));
}

export function cancelPaymentIntent(call: Call): ApiObject {
  const intent = intentOf(call);
  assertMayBe('canceled', intent);
  const canceled: Intent = {
    ...intent,
    canceled_at: call.now,
    cancellation_reason: (call.params.cancellation_reason as Intent['cancellation_reason']) ?? null,
    next_action: null,
    processing: null,
    status: 'canceled',
  };
  call.store.save(canceled);
  emit(call, 'payment_intent.canceled', canceled);
  return canceled;
}

export function listPaymentIntents(call: Call): object {
  return page(call, 'payment_intent', '/v1/payment_intents', given(call.params, 'customer'));
}

/**
 * Returns the intent in the path. A browser must also send the intent's client secret. With a wrong secret, the answer is as if
 * the intent did not exist: 404 for a browser, 400 for a server.
 */
export function intentOf(call: Call): Intent {
  const intent = require<Intent>(call, 'payment_intent', call.ids.id!, 'intent');
  const secret = call.params.client_secret;
  if (
    call.fromBrowser
      ? secret !== intent.client_secret
      : secret !== undefined && secret !== intent.client_secret
  ) {
    throw new ApiError(call.fromBrowser ? 404 : 400, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such payment_intent: '${intent.id}'`,
      param: 'intent',
    });
  }
  return intent;
}

/** Returns the intent with the request's changes. Does not save it. */
function fill(call: Call, intent: Intent): Intent {
  const { params } = call;
  checkTexts(call, intent);
  const filled: Intent = { ...intent, metadata: mergeMetadata(intent.metadata, params.metadata) };
  if (params.amount !== undefined) filled.amount = params.amount as number;
  if (params.currency !== undefined) filled.currency = params.currency as string;
  for (const name of KEPT)
    if (params[name] !== undefined) filled[name] = orNull(params[name]) as string | null;
  if (params.setup_future_usage !== undefined) {
    filled.setup_future_usage = orNull(params.setup_future_usage) as Intent['setup_future_usage'];
  }
  if (params.shipping !== undefined) filled.shipping = orNull(params.shipping) as Intent['shipping'];
  if (params.allowed_payment_method_types !== undefined) {
    const types = cardTypes(params.allowed_payment_method_types)!;
    filled.allowed_payment_method_types = types as Stripe.PaymentIntent['allowed_payment_method_types'];
    filled.payment_method_types = types;
    filled.automatic_payment_methods = null;
  }
  if (params.customer !== undefined) {
    const { id } = require(call, 'customer', params.customer as string, 'customer');
    if (intent.customer !== null && intent.customer !== id)
      throw unexpectedState(
        intent,
        'You cannot modify `customer` on a PaymentIntent once it already has been set. To fulfill a payment with a different Customer, cancel this PaymentIntent and create a new one.',
      );
    filled.customer = id;
  }
  const method = methodGiven(call);
  if (method) {
    assertBelongs(method, filled);
    filled.payment_method = method.id;
    if (filled.status === 'requires_payment_method') filled.status = 'requires_confirmation';
  }
  return filled;
}

function checkTexts({ params }: Call, intent: Intent): void {
  checkEmail(params.receipt_email, 'receipt_email');
  checkLength(params.description, 'intent description', 'description');
  checkReturnUrl(params.return_url);
  checkStatementSuffix(params.statement_descriptor_suffix);
  // Stripe refuses this parameter since 2024:
  // https://support.stripe.com/questions/use-of-the-statement-descriptor-parameter-on-paymentintents-for-card-charges
  if (orNull(params.statement_descriptor) !== null && intent.payment_method_types.includes('card'))
    throw invalid(
      'The `statement_descriptor` parameter is not supported for PaymentIntents that take cards. Use `statement_descriptor_suffix` instead.',
      'statement_descriptor',
    );
}

function methodGiven(call: Call): PaymentMethod | undefined {
  const { payment_method: id, payment_method_data: data } = call.params;
  if (id !== undefined && data !== undefined) {
    throw invalid(
      'You may only specify one of these parameters: payment_method, payment_method_data.',
      'payment_method',
    );
  }
  if (data !== undefined) return makePaymentMethod(call, data as PaymentMethodData);
  return id === undefined || id === '' ? undefined : findPaymentMethod(call, id as string, 'payment_method');
}

function assertBelongs(method: PaymentMethod, intent: Intent): void {
  if (!method.customer || method.customer === intent.customer) return;
  throw refused(
    intent.customer
      ? `The payment method supplied (${method.id}) belongs to a different Customer. Provide the Customer it belongs to in the \`customer\` parameter.`
      : `The PaymentMethod ${method.id} belongs to the Customer ${method.customer}. Please include the Customer in the \`customer\` parameter on the PaymentIntent.`,
    undefined,
    { param: 'payment_method' },
  );
}

/** Confirms an intent. `intent` already has the changes of the request, and is not saved yet. */
function confirm(call: Call, intent: Intent): ApiObject {
  const { params } = call;
  if (!intent.payment_method) {
    throw unexpectedState(
      call.store.find<Intent>(intent.id)!,
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
    );
  }
  const returnUrl = params.return_url as string | undefined;
  const offSession = params.off_session !== undefined && params.off_session !== false;
  const mayRedirect = intent.automatic_payment_methods?.allow_redirects !== 'never';
  if (!call.fromBrowser && !returnUrl && !offSession && mayRedirect) {
    throw refused(
      'This PaymentIntent is configured to accept payment methods that may redirect your customer off of your page, ' +
        'so you must provide a `return_url`. To accept none of those, set `automatic_payment_methods[allow_redirects]` ' +
        'to `never` when creating the PaymentIntent.',
    );
  }
  if (offSession && !intent.customer) {
    throw invalid('off_session payments need a customer whose payment method was saved.', 'off_session');
  }
  const confirmation: Confirmation = {
    offSession,
    returnUrl,
    useSdk: params.use_stripe_sdk === true || (call.fromBrowser && params.use_stripe_sdk !== false),
    errorOnAction: params.error_on_requires_action === true,
  };
  call.store.setHidden(intent.id, {
    offSession,
    returnUrl: returnUrl ?? '',
  } satisfies Partial<IntentSecrets>);
  return pay(call, intent, confirmation);
}
