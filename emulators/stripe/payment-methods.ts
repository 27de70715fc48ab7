import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { type Call, emit, mergeMetadata, require } from './call.ts';
import { address } from './customers.ts';
import { ApiError, invalid, missing, notEmulated, refused } from './errors.ts';
import { newId } from './ids.ts';
import { given, page } from './lists.ts';
import type { Extra } from './shapes.ts';
import type { ApiObject } from './store.ts';
import { behaviourOf, brandOf, declineOf, numberOfTestCard, passesLuhn } from './test-cards.ts';
import { checkEmail } from './texts.ts';

export type PaymentMethod = Stripe.PaymentMethod & ApiObject & { card: Stripe.PaymentMethod.Card };

/** Data of a payment method that the API never shows. */
export interface CardSecrets {
  number: string;
  /** Whether the customer authenticated the card for later payments. */
  setUp: boolean;
  /**
   * Whether the card was charged while it was attached to no customer, or was detached from one. A used card can be charged only
   * while it is attached to a customer.
   */
  used: boolean;
  /** Whether the card was charged with `setup_future_usage`. Only then can a `used` card be attached. */
  kept: boolean;
  /** The decline code with which the issuer answers from now on, as a test has set it. */
  declines: string;
}

/** Card details, which only a browser may send. They are not in the API's published shapes. */
export const CARD_PARAMS: Extra = {
  card: {
    type: 'object',
    properties: {
      number: { type: 'string' },
      exp_month: { type: 'number' },
      exp_year: { type: 'number' },
      cvc: { type: 'string' },
      wallet: { type: 'string' },
    },
    required: ['number', 'exp_month', 'exp_year'],
    additionalProperties: false,
  },
};

interface CardDetails {
  number: string;
  exp_month: number;
  exp_year: number;
  cvc?: string;
  wallet?: string;
}

export interface PaymentMethodData {
  type: string;
  card?: CardDetails | { token: string };
  billing_details?: Partial<Record<'name' | 'email' | 'phone', string>> & { address?: unknown };
  metadata?: unknown;
  allow_redisplay?: 'always' | 'limited' | 'unspecified';
}

/** Makes a card payment method from a test token, or from a card number, which only a browser may send. */
export function makePaymentMethod(call: Call, data: PaymentMethodData): PaymentMethod {
  if (data.type !== 'card') throw notEmulated(`payment methods of type ${data.type}`);
  if (!data.card) throw invalid('Missing required param: card.', 'card', 'parameter_missing');
  if ('token' in data.card) {
    const { token } = data.card;
    const number = token.startsWith('tok_') ? numberOfTestCard(token) : undefined;
    if (!number) throw missing('token', token, 'card[token]');
    return insertCard(call, testCard(call, number), data);
  }
  if (!call.fromBrowser) {
    throw new ApiError(402, {
      type: 'invalid_request_error',
      message:
        'Sending card numbers directly to the API is generally unsafe. Use a test payment method such as pm_card_visa, or Stripe.js.',
    });
  }
  checkCard(call, data.card);
  return insertCard(call, data.card, data);
}

function insertCard(call: Call, card: CardDetails, data: Partial<PaymentMethodData>): PaymentMethod {
  checkEmail(data.billing_details?.email, 'billing_details[email]');
  const brand = brandOf(card.number);
  const method: PaymentMethod = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: data.allow_redisplay ?? 'unspecified',
    billing_details: billingDetails(data.billing_details),
    card: {
      brand,
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: null },
      country: 'US',
      display_brand: brand,
      exp_month: card.exp_month,
      exp_year: card.exp_year,
      fingerprint: createHash('sha256').update(card.number).digest('hex').slice(0, 16),
      funding: 'credit',
      generated_from: null,
      last4: card.number.slice(-4),
      networks: { available: [brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: brand !== 'amex' },
      wallet: card.wallet ? { dynamic_last4: null, google_pay: {}, type: 'google_pay' } : null,
    },
    created: call.now,
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: mergeMetadata({}, data.metadata),
    type: 'card',
  };
  call.store.insert(method);
  call.store.setHidden(method.id, { number: card.number });
  return method;
}

/** Returns the payment method with this id. For a test payment method such as `pm_card_visa`, makes a new payment method. */
export function findPaymentMethod(call: Call, id: string, param: string): PaymentMethod {
  const number = id.startsWith('pm_') ? numberOfTestCard(id) : undefined;
  if (number) return insertCard(call, testCard(call, number), {});
  return require<PaymentMethod>(call, 'payment_method', id, param);
}

function testCard(call: Call, number: string): CardDetails {
  return { number, exp_month: 12, exp_year: new Date(call.now * 1000).getUTCFullYear() + 3 };
}

function checkCard(call: Call, card: CardDetails): void {
  const refuse = (code: string, param: string, message: string) =>
    new ApiError(402, { type: 'card_error', code, param, message });
  if (!passesLuhn(card.number)) throw refuse('incorrect_number', 'number', 'Your card number is incorrect.');
  const today = new Date(call.now * 1000);
  if (card.exp_month < 1 || card.exp_month > 12) {
    throw refuse('invalid_expiry_month', 'exp_month', "Your card's expiration month is invalid.");
  }
  const year = today.getUTCFullYear();
  if (card.exp_year < year || card.exp_year > year + 50) {
    throw refuse('invalid_expiry_year', 'exp_year', "Your card's expiration year is invalid.");
  }
  if (card.exp_year === year && card.exp_month < today.getUTCMonth() + 1) {
    throw refuse('invalid_expiry_month', 'exp_month', "Your card's expiration month is invalid.");
  }
  if (card.wallet !== undefined && card.wallet !== 'google_pay')
    throw notEmulated(`cards of the wallet ${card.wallet}`);
  const digits = brandOf(card.number) === 'amex' ? 4 : 3;
  if (card.cvc !== undefined && !new RegExp(`^\\d{${digits}}$`).test(card.cvc)) {
    throw refuse('invalid_cvc', 'cvc', "Your card's security code is invalid.");
  }
}

function billingDetails(
  given: PaymentMethodData['billing_details'] = {},
): Stripe.PaymentMethod.BillingDetails {
  return {
    address: address(given.address ?? {}),
    email: given.email || null,
    name: given.name || null,
    phone: given.phone || null,
    tax_id: null,
  };
}

export function createPaymentMethod(call: Call): ApiObject {
  if (call.params.type === undefined)
    throw invalid('Missing required param: type.', 'type', 'parameter_missing');
  return makePaymentMethod(call, call.params as unknown as PaymentMethodData);
}

export function retrievePaymentMethod(call: Call): ApiObject {
  return require(call, 'payment_method', call.ids.id!, 'id');
}

export function retrieveCustomerPaymentMethod(call: Call): ApiObject {
  require(call, 'customer', call.ids.id!, 'customer');
  const method = require<PaymentMethod>(call, 'payment_method', call.ids.method!, 'id');
  if (method.customer !== call.ids.id) throw missing('PaymentMethod', method.id, 'id');
  return method;
}

export function attachPaymentMethod(call: Call): ApiObject {
  if (call.params.customer === undefined) {
    throw invalid('Missing required param: customer.', 'customer', 'parameter_missing');
  }
  const { id } = require(call, 'customer', call.params.customer as string, 'customer');
  return keep(call, findPaymentMethod(call, call.ids.id!, 'id'), id);
}

/**
 * Attaches a payment method to a customer as the API call does. Refuses a payment method that is attached already, or whose card
 * the issuer declines.
 */
export function keep(call: Call, method: PaymentMethod, customer: string): PaymentMethod {
  if (method.customer) {
    throw refused('The payment method you provided has already been attached to a customer.');
  }
  // A card's issuer is asked not only for charges, but also when the card is attached. So most cards whose charges would be
  // declined cannot be attached.
  const { decline, authentication, attachable } = behaviourOf(
    call.store.hidden<CardSecrets>(method.id).number!,
  );
  if (decline && !authentication && !attachable)
    throw new ApiError(402, { type: 'card_error', ...declineOf(decline) });
  return attach(call, method, customer);
}

/**
 * Attaches a payment method to a customer. A card that was detached, or charged while unattached without `setup_future_usage`,
 * cannot be attached.
 */
export function attach(call: Call, method: PaymentMethod, customer: string): PaymentMethod {
  if (!call.store.hidden<CardSecrets>(method.id).kept) assertUnused(call, method);
  const attached = { ...method, customer };
  call.store.save(attached);
  emit(call, 'payment_method.attached', attached);
  return attached;
}

export function assertUnused(call: Call, method: PaymentMethod): void {
  if (!call.store.hidden<CardSecrets>(method.id).used) return;
  throw refused(
    'The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment, or was ' +
      'detached from a Customer. It may not be used again. To use a PaymentMethod multiple times, you must attach ' +
      'it to a Customer first.',
  );
}

export function detachPaymentMethod(call: Call): ApiObject {
  const method = require<PaymentMethod>(call, 'payment_method', call.ids.id!, 'id');
  if (!method.customer)
    throw refused(
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    );
  const detached = { ...method, customer: null };
  call.store.save(detached);
  call.store.setHidden(method.id, { used: true, kept: false } satisfies Partial<CardSecrets>);
  emit(call, 'payment_method.detached', detached, { customer: method.customer });
  return detached;
}

export function listPaymentMethods(call: Call): object {
  if (call.params.customer !== undefined)
    require(call, 'customer', call.params.customer as string, 'customer');
  return page(call, 'payment_method', '/v1/payment_methods', [
    { sql: "json_extract(body, '$.customer') is not null", values: [] },
    ...given(call.params, 'customer', 'type'),
  ]);
}

export function listCustomerPaymentMethods(call: Call): object {
  const customer = require(call, 'customer', call.ids.id!, 'customer').id;
  const filters = [...given({ customer }, 'customer'), ...given(call.params, 'type')];
  return page(call, 'payment_method', `/v1/customers/${customer}/payment_methods`, filters);
}
