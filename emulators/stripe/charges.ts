import type Stripe from 'stripe';
import { cardFeeCents, moveMoney } from './balance.ts';
import { type Call, emit, mergeMetadata, orNull, require } from './call.ts';
import { newId } from './ids.ts';
import type { Intent } from './intent-states.ts';
import { given, page } from './lists.ts';
import type { PaymentMethod } from './payment-methods.ts';
import type { ApiObject } from './store.ts';
import { checkLength } from './texts.ts';

export type Charge = Stripe.Charge & ApiObject;

export interface Decline {
  code: string;
  message: string;
  decline_code: string;
}

/** Records a charge of an intent. With `decline`, the charge has failed for that reason. */
export function insertCharge(
  call: Call,
  intent: Intent,
  method: PaymentMethod,
  authenticated: boolean,
  decline?: Decline,
): Charge {
  const id = newId('ch');
  const taken = decline
    ? null
    : moveMoney(call, {
        type: 'charge',
        category: 'charge',
        amount: intent.amount,
        currency: intent.currency,
        source: id,
        description: intent.description,
        fee: { amount: cardFeeCents(intent.amount), description: 'Stripe processing fees' },
      });
  const charge: Charge = {
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: decline ? 0 : intent.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: taken?.id ?? null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'EMULATED SOCIETY',
    captured: !decline,
    created: call.now,
    currency: intent.currency,
    customer: intent.customer as string | null,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: decline?.code ?? null,
    failure_message: decline?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcome(decline),
    paid: !decline,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: { type: 'card', card: cardDetails(intent, method, authenticated) },
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: decline ? null : `${call.baseUrl}/receipts/${id}`,
    refunded: false,
    review: null,
    shipping: intent.shipping,
    source: null,
    source_transfer: null,
    statement_descriptor: intent.statement_descriptor,
    statement_descriptor_suffix: intent.statement_descriptor_suffix,
    status: decline ? 'failed' : 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
  call.store.insert(charge);
  return charge;
}

function outcome(decline: Decline | undefined): Stripe.Charge.Outcome {
  return {
    advice_code: null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: decline ? 'declined_by_network' : 'approved_by_network',
    reason: decline?.decline_code ?? null,
    risk_level: 'normal',
    risk_score: 20,
    seller_message: decline
      ? 'The bank did not return any further details with this decline.'
      : 'Payment complete.',
    type: decline ? 'issuer_declined' : 'authorized',
  };
}

function cardDetails(
  intent: Intent,
  method: PaymentMethod,
  authenticated: boolean,
): Stripe.Charge.PaymentMethodDetails.Card {
  const { card } = method;
  return {
    amount_authorized: intent.amount,
    authorization_code: null,
    brand: card.brand,
    checks: {
      address_line1_check: method.billing_details.address?.line1 ? 'pass' : null,
      address_postal_code_check: method.billing_details.address?.postal_code ? 'pass' : null,
      cvc_check: card.wallet ? null : 'pass',
    },
    country: card.country,
    electronic_commerce_indicator: null,
    exp_month: card.exp_month,
    exp_year: card.exp_year,
    fingerprint: card.fingerprint!,
    funding: card.funding,
    installments: null,
    last4: card.last4,
    mandate: null,
    network: card.brand,
    network_transaction_id: null,
    regulated_status: 'unregulated',
    three_d_secure: authenticated
      ? {
          authentication_flow: 'challenge',
          electronic_commerce_indicator: '05',
          exemption_indicator: null,
          result: 'authenticated',
          result_reason: null,
          transaction_id: newId('3ds'),
          version: '2.2.0',
        }
      : null,
    transaction_link_id: null,
    wallet: card.wallet as Stripe.Charge.PaymentMethodDetails.Card['wallet'],
  };
}

export function retrieveCharge(call: Call): ApiObject {
  return require(call, 'charge', call.ids.id!, 'id');
}

/**
 * Changes a charge's metadata and description. These changes are not copied to the charge's intent, and changes of the intent are
 * not copied to an existing charge.
 */
export function updateCharge(call: Call): ApiObject {
  const { params } = call;
  const charge = require<Charge>(call, 'charge', call.ids.id!, 'id');
  checkLength(params.description, 'charge description', 'description');
  const updated: Charge = {
    ...charge,
    metadata: mergeMetadata(charge.metadata, params.metadata),
    ...(params.description !== undefined && { description: orNull(params.description) as string | null }),
  };
  call.store.save(updated);
  const { metadata, description } = charge;
  emit(call, 'charge.updated', updated, { metadata, description });
  return updated;
}

export function listCharges(call: Call): object {
  return page(call, 'charge', '/v1/charges', given(call.params, 'customer', 'payment_intent'));
}
