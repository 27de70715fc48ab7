import type Stripe from 'stripe';
import { ApiError } from './errors.ts';
import type { ApiObject } from './store.ts';

export type Intent = Stripe.PaymentIntent & ApiObject;

/** Data of an intent's confirmation, which the API never shows. */
export interface IntentSecrets {
  offSession: boolean;
  returnUrl: string;
  method: string;
}

/** The statuses in which each action on an intent is allowed (https://docs.stripe.com/payments/paymentintents/lifecycle). */
const ALLOWED = {
  // An intent in `processing` cannot be canceled here. The API allows that only "in rare cases"
  // (https://docs.stripe.com/api/payment_intents/cancel), and none of the emulated cards makes such a case.
  canceled: ['requires_payment_method', 'requires_capture', 'requires_confirmation', 'requires_action'],
  confirmed: ['requires_payment_method', 'requires_confirmation', 'requires_action'],
  updated: ['requires_payment_method', 'requires_confirmation', 'requires_action'],
} as const;

/** Throws `payment_intent_unexpected_state`, with the intent, when the intent's status forbids the action. */
export function assertMayBe(done: keyof typeof ALLOWED, intent: Intent): void {
  if ((ALLOWED[done] as readonly string[]).includes(intent.status)) return;
  const verb = { canceled: 'cancel', confirmed: 'confirm', updated: 'update' }[done];
  if (done === 'confirmed' && intent.status === 'succeeded') {
    throw unexpectedState(
      intent,
      'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.',
    );
  }
  throw unexpectedState(
    intent,
    `You cannot ${verb} this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with ` +
      `one of the following statuses may be ${done}: ${ALLOWED[done].join(', ')}.`,
  );
}

export function unexpectedState(intent: Intent, message: string): ApiError {
  return new ApiError(400, {
    type: 'invalid_request_error',
    code: 'payment_intent_unexpected_state',
    message,
    payment_intent: intent,
  });
}

/** Fields of an intent that a browser may see with the client secret. */
const PUBLIC = [
  'id',
  'object',
  'allowed_payment_method_types',
  'amount',
  'amount_details',
  'automatic_payment_methods',
  'canceled_at',
  'cancellation_reason',
  'capture_method',
  'client_secret',
  'confirmation_method',
  'created',
  'currency',
  'description',
  'excluded_payment_method_types',
  'last_payment_error',
  'livemode',
  'next_action',
  'payment_method',
  'payment_method_configuration_details',
  'payment_method_types',
  'processing',
  'receipt_email',
  'setup_future_usage',
  'shipping',
  'source',
  'status',
];

/** Returns the intent as a browser sees it: no customer, no metadata, no charge. */
export function publicView(intent: ApiObject): ApiObject {
  return Object.fromEntries(Object.entries(intent).filter(([name]) => PUBLIC.includes(name))) as ApiObject;
}
