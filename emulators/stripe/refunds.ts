import type Stripe from 'stripe';
import { moveMoney } from './balance.ts';
import { type Call, emit, mergeMetadata, require } from './call.ts';
import type { Charge } from './charges.ts';
import { invalid, refused } from './errors.ts';
import { newId } from './ids.ts';
import type { Intent } from './intent-states.ts';
import { given, page } from './lists.ts';
import { type ApiObject, fieldIs } from './store.ts';

type Refund = Stripe.Refund & ApiObject;

export const REFUND_PARAMS = ['amount', 'charge', 'expand', 'metadata', 'payment_intent', 'reason'];

/** How requests for a refund are answered. `pending` and `refused` (an error) imitate a Stripe balance that is too low. */
export const REFUND_ANSWERS = ['succeeded', 'pending', 'requires_action', 'refused'] as const;
export type RefundAnswer = (typeof REFUND_ANSWERS)[number];

/** Refunds `amount` cents of a charge; without `amount`, all of the charge that was not refunded earlier. */
export function createRefund(call: Call): ApiObject {
  const { params } = call;
  const charge = chargeOf(call);
  const left = charge.amount - charge.amount_refunded;
  if (charge.refunded || left === 0) {
    throw refused(`Charge ${charge.id} has already been refunded.`, 'charge_already_refunded');
  }
  if (disputesOf(call, charge.id).some((dispute) => !dispute.is_charge_refundable)) {
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
  const answer = (call.store.setting('refunds') as RefundAnswer | undefined) ?? 'succeeded';
  if (answer === 'refused') throw refused('Insufficient funds in your Stripe balance to refund this amount.');
  const refund: Refund = {
    id: newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
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
    ...(answer === 'pending' && { pending_reason: 'insufficient_funds' as const }),
    status: answer,
    transfer_reversal: null,
  };
  const refunded: Charge = {
    ...charge,
    amount_refunded: charge.amount_refunded + amount,
    refunded: charge.amount_refunded + amount === charge.amount,
  };
  const made = answer === 'succeeded' ? withMoney(call, refund) : refund;
  call.store.insert(made);
  call.store.save(refunded);
  emit(call, 'refund.created', made);
  emit(call, 'charge.refunded', refunded, {
    amount_refunded: charge.amount_refunded,
    refunded: charge.refunded,
  });
  return made;
}

/**
 * Returns the disputes of a charge. A charge can be refunded only if each of its disputes has `is_charge_refundable`, as an
 * inquiry and a won dispute have. The charge's own field `disputed` does not decide this, since it stays true forever.
 */
export function disputesOf(call: Call, charge: string): Stripe.Dispute[] {
  return call.store.select('dispute', [fieldIs('charge', charge)], -1) as unknown as Stripe.Dispute[];
}

/**
 * Takes a refund's money from the balance. Returns the refund with the id of the new balance transaction. Called only when a
 * refund succeeds, since a refund that waits for the balance or the payer has taken nothing yet.
 */
function withMoney(call: Call, refund: Refund): Refund {
  const { description } = call.store.find<Charge>(refund.charge as string)!;
  const taken = moveMoney(call, {
    type: 'refund',
    category: 'refund',
    amount: -refund.amount,
    currency: refund.currency,
    source: refund.id,
    description: `REFUND FOR CHARGE${description ? ` (${description})` : ''}`,
  });
  return { ...refund, balance_transaction: taken.id };
}

/**
 * Moves a failed refund's money back into the balance, if it was taken from there. Returns the refund with the id of the new
 * balance transaction.
 */
function withMoneyBack(call: Call, refund: Refund): Refund {
  if (refund.balance_transaction === null) return refund;
  const back = moveMoney(call, {
    type: 'refund_failure',
    category: 'refund_failure',
    amount: refund.amount,
    currency: refund.currency,
    source: refund.id,
    description: 'REFUND FAILURE',
  });
  return { ...refund, failure_balance_transaction: back.id };
}

/**
 * Settles a refund: the bank accepts it or sends it back (possibly days after accepting it), or it is canceled while it waits for
 * the payer. The money of a failed refund returns to the account.
 */
export function settleRefund(
  call: Call,
  id: string,
  status: 'succeeded' | 'failed' | 'canceled',
  failure_reason = 'unknown',
): Refund {
  const refund = require<Refund>(call, 'refund', id, 'id');
  if (refund.status === 'failed' || refund.status === 'canceled')
    throw refused('This refund has ended already.');
  if (status === 'canceled' && refund.status !== 'requires_action')
    throw refused('Only a refund that requires action can be canceled.');
  const { pending_reason: _, ...unchanged } = refund;
  let settled: Refund = { ...unchanged, status };
  if (status === 'failed') settled = withMoneyBack(call, { ...settled, failure_reason });
  if (status === 'succeeded' && settled.balance_transaction === null) settled = withMoney(call, settled);
  call.store.save(settled);
  if (status !== 'succeeded') {
    const charge = call.store.find<Charge>(refund.charge as string)!;
    const amount_refunded = charge.amount_refunded - refund.amount;
    call.store.save({ ...charge, amount_refunded, refunded: false });
  }
  if (status === 'failed') emit(call, 'refund.failed', settled);
  emit(call, 'refund.updated', settled, { status: refund.status });
  emit(call, 'charge.refund.updated', settled, { status: refund.status });
  return settled;
}

/**
 * Fails the refunds that are still waiting when a dispute is opened
 * (https://support.stripe.com/questions/pending-refunds-due-to-insufficient-funds-or-stripe-balance).
 */
export function failWaitingRefunds(call: Call, charge: string): void {
  const refunds = call.store.select('refund', [fieldIs('charge', charge)], -1) as Refund[];
  for (const { id, status } of refunds)
    if (status === 'pending' || status === 'requires_action')
      settleRefund(call, id, 'failed', 'charge_for_pending_refund_disputed');
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
