import type Stripe from 'stripe';
import { moveMoney } from './balance.ts';
import { type Call, emit, mergeMetadata, require } from './call.ts';
import type { Charge } from './charges.ts';
import { invalid, refused } from './errors.ts';
import { newId } from './ids.ts';
import type { Intent } from './intent-states.ts';
import { given, page } from './lists.ts';
import type { ApiObject } from './store.ts';

type Refund = Stripe.Refund & ApiObject;

export const REFUND_PARAMS = ['amount', 'charge', 'expand', 'metadata', 'payment_intent', 'reason'];

/** Gives back all or part of a charge, in cents; what was given back before counts. */
export function createRefund(call: Call): ApiObject {
  const { params } = call;
  const charge = chargeOf(call);
  const left = charge.amount - charge.amount_refunded;
  if (charge.refunded || left === 0) {
    throw refused(`Charge ${charge.id} has already been refunded.`, 'charge_already_refunded');
  }
  if (charge.disputed) {
    throw refused(`Charge ${charge.id} has been charged back; cannot issue a refund.`, 'charge_disputed');
  }
  const amount = (params.amount as number | undefined) ?? left;
  if (amount < 1)
    throw invalid('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer');
  if (amount > left) {
    throw refused(
      `Refund amount (${dollars(amount)}) is greater than unrefunded amount on charge (${dollars(left)})`,
      undefined,
      { param: 'amount' },
    );
  }
  const id = newId('re');
  const given = moveMoney(call, {
    type: 'refund',
    category: 'refund',
    amount: -amount,
    currency: charge.currency,
    source: id,
    description: `REFUND FOR CHARGE${charge.description ? ` (${charge.description})` : ''}`,
  });
  const refund: Refund = {
    id,
    object: 'refund',
    amount,
    balance_transaction: given.id,
    charge: charge.id,
    created: call.now,
    currency: charge.currency,
    customer: charge.customer as string | null,
    customer_account: null,
    destination_details: { card: { type: 'refund' }, type: 'card' },
    metadata: mergeMetadata({}, params.metadata),
    payment_intent: charge.payment_intent as string | null,
    payment_method: charge.payment_method,
    reason: (params.reason as Refund['reason']) ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  };
  const refunded: Charge = {
    ...charge,
    amount_refunded: charge.amount_refunded + amount,
    refunded: charge.amount_refunded + amount === charge.amount,
  };
  call.store.insert(refund);
  call.store.save(refunded);
  emit(call, 'refund.created', refund);
  emit(call, 'charge.refunded', refunded, {
    amount_refunded: charge.amount_refunded,
    refunded: charge.refunded,
  });
  return refund;
}

function chargeOf(call: Call): Charge {
  const { charge, payment_intent: intentId } = call.params as { charge?: string; payment_intent?: string };
  if ((charge === undefined) === (intentId === undefined)) {
    throw invalid(
      charge === undefined
        ? 'One of the following params should be provided for this request: payment_intent or charge.'
        : 'You may only specify one of these parameters: payment_intent, charge.',
      'charge',
    );
  }
  if (charge !== undefined) {
    const found = require<Charge>(call, 'charge', charge, 'charge');
    if (found.status !== 'succeeded')
      throw refused(`Charge ${found.id} did not succeed and cannot be refunded.`, 'charge_not_refundable');
    return found;
  }
  const intent = require<Intent>(call, 'payment_intent', intentId!, 'payment_intent');
  if (intent.status !== 'succeeded') {
    throw refused(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`);
  }
  return call.store.find<Charge>(intent.latest_charge as string)!;
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

/** The card's bank sends a refund back, weeks later: its money is with the account again, and the payer has none of it. */
export function failRefund(call: Call, id: string): ApiObject {
  const refund = require<Refund>(call, 'refund', id, 'id');
  if (refund.status === 'failed') throw refused('This refund has failed already.');
  const charge = call.store.find<Charge>(refund.charge as string)!;
  const back = moveMoney(call, {
    type: 'refund_failure',
    category: 'refund_failure',
    amount: refund.amount,
    currency: refund.currency,
    source: refund.id,
    description: 'REFUND FAILURE',
  });
  const failed: Refund = {
    ...refund,
    failure_balance_transaction: back.id,
    failure_reason: 'expired_or_canceled_card',
    status: 'failed',
  };
  call.store.save(failed);
  call.store.save({ ...charge, amount_refunded: charge.amount_refunded - refund.amount, refunded: false });
  emit(call, 'refund.failed', failed, { status: refund.status });
  return failed;
}

export function retrieveRefund(call: Call): ApiObject {
  return require(call, 'refund', call.ids.id!, 'id');
}

export function updateRefund(call: Call): ApiObject {
  const refund = require<Refund>(call, 'refund', call.ids.id!, 'id');
  const updated = { ...refund, metadata: mergeMetadata(refund.metadata ?? {}, call.params.metadata) };
  call.store.save(updated);
  emit(call, 'refund.updated', updated, { metadata: refund.metadata });
  return updated;
}

export function listRefunds(call: Call): object {
  return page(call, 'refund', '/v1/refunds', given(call.params, 'charge', 'payment_intent'));
}
