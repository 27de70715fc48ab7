import type Stripe from 'stripe';
import { DISPUTE_FEE_CENTS, moveMoney } from './balance.ts';
import { type Call, emit, require } from './call.ts';
import type { Charge } from './charges.ts';
import { refused } from './errors.ts';
import { newId } from './ids.ts';
import { given, page } from './lists.ts';
import { disputesOf, failWaitingRefunds } from './refunds.ts';
import type { ApiObject } from './store.ts';

export type Dispute = Stripe.Dispute & ApiObject;

/** How many days the account has to answer a dispute. */
const DAYS_TO_RESPOND = 21;

interface Opening {
  reason?: string;
  /**
   * The disputed amount (cents). When absent, it is all of the charge that was neither refunded nor taken by another dispute. It
   * is at most the charge less what other disputes have taken and not returned. Refunds do not lower this limit.
   */
  amount?: number;
  /** Whether the bank only inquires, and takes no money yet. */
  isInquiry?: boolean;
}

/**
 * Opens a dispute: the cardholder's bank takes back all or part of a charge, and Stripe takes a fee. An inquiry moves no money. A
 * charge can be disputed several times, up to its amount.
 */
export function openDispute(
  call: Call,
  chargeId: string,
  { reason = 'fraudulent', amount: part, isInquiry = false }: Opening,
): Dispute {
  require<Charge>(call, 'charge', chargeId, 'charge');
  if (!isInquiry) failWaitingRefunds(call, chargeId);
  const charge = require<Charge>(call, 'charge', chargeId, 'charge');
  if (charge.status !== 'succeeded')
    throw refused(`Charge ${charge.id} did not succeed and cannot be disputed.`);
  const held = heldCents(disputesOf(call, charge.id));
  const left = charge.amount - charge.amount_refunded - held;
  const amount = part ?? left;
  if (amount > charge.amount - held) throw refused(`Charge ${charge.id} is of less than is disputed.`);
  if (left <= 0)
    throw refused(`Charge ${charge.id} has been refunded or disputed, and cannot be disputed again.`);
  const id = newId('du');
  const dispute: Dispute = {
    id,
    object: 'dispute',
    amount,
    balance_transactions: isInquiry ? [] : [withdraw(call, id, charge, amount)],
    charge: charge.id,
    created: call.now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: NO_EVIDENCE,
    evidence_details: {
      due_by: call.now + DAYS_TO_RESPOND * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: 'manual',
    is_charge_refundable: isInquiry,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent as string | null,
    reason,
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  };
  call.store.insert(dispute);
  call.store.save({ ...charge, disputed: true });
  emit(call, 'charge.dispute.created', dispute);
  if (!isInquiry) emit(call, 'charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** Turns an open inquiry into a dispute: the bank now takes the money (https://docs.stripe.com/disputes/how-disputes-work). */
export function escalateInquiry(call: Call, id: string): Dispute {
  const { charge: chargeId, status } = require<Dispute>(call, 'dispute', id, 'id');
  if (status !== 'warning_needs_response') throw refused(`A dispute that is ${status} does not escalate.`);
  failWaitingRefunds(call, chargeId as string);
  const charge = require<Charge>(call, 'charge', chargeId as string, 'charge');
  const inquiry = require<Dispute>(call, 'dispute', id, 'id');
  const untaken = charge.amount - heldCents(disputesOf(call, charge.id));
  if (untaken <= charge.amount_refunded) throw refused(`Charge ${charge.id} has been refunded or disputed.`);
  const amount = Math.min(inquiry.amount, untaken);
  const dispute: Dispute = {
    ...inquiry,
    amount,
    balance_transactions: [withdraw(call, id, charge, amount)],
    is_charge_refundable: false,
    status: 'needs_response',
  };
  call.store.save(dispute);
  emit(call, 'charge.dispute.updated', dispute, { status });
  emit(call, 'charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

function withdraw(call: Call, disputeId: string, charge: Charge, amount: number) {
  return moveMoney(call, {
    type: 'adjustment',
    category: 'dispute',
    amount: -amount,
    currency: charge.currency,
    source: disputeId,
    description: `Chargeback withdrawal for ${charge.id}`,
    fee: { amount: DISPUTE_FEE_CENTS, description: 'Dispute fee' },
  });
}

/** Returns the cents that disputes have taken and not returned. */
function heldCents(disputes: readonly Stripe.Dispute[]): number {
  return -disputes
    .flatMap((dispute) => dispute.balance_transactions)
    .reduce((sum, { amount }) => sum + amount, 0);
}

/**
 * How disputes end. An inquiry, which has taken no money, can only be closed (`warning_closed`) or prevented. A prevented dispute
 * keeps the money that it has taken, as a lost one does.
 */
export const DISPUTE_ENDINGS = ['won', 'lost', 'prevented', 'warning_closed'] as const;
type DisputeEnding = (typeof DISPUTE_ENDINGS)[number];

/**
 * Closes a dispute by the bank's decision. `won` returns the money to the account. Any other ending returns only what the dispute
 * took beyond the unrefunded part of the charge (https://docs.stripe.com/disputes/how-disputes-work).
 */
export function closeDispute(call: Call, id: string, status: DisputeEnding): Dispute {
  const dispute = require<Dispute>(call, 'dispute', id, 'id');
  if ((DISPUTE_ENDINGS as readonly string[]).includes(dispute.status))
    throw refused('This dispute is already closed.');
  const isInquiry = dispute.status.startsWith('warning_');
  if (status !== 'prevented' && isInquiry !== (status === 'warning_closed'))
    throw refused(`A dispute that is ${dispute.status} does not end as ${status}.`);
  const charge = require<Charge>(call, 'charge', dispute.charge as string, 'charge');
  const others = disputesOf(call, charge.id).filter((each) => each.id !== id);
  const left = charge.amount - charge.amount_refunded - heldCents(others);
  const backCents = isInquiry ? 0 : status === 'won' ? dispute.amount : Math.max(0, dispute.amount - left);
  const reinstated =
    backCents > 0
      ? [
          moveMoney(call, {
            type: 'adjustment',
            category: 'dispute_reversal',
            amount: backCents,
            currency: dispute.currency,
            source: dispute.id,
            description: `Chargeback reversal for ${dispute.charge}`,
          }),
        ]
      : [];
  const closed: Dispute = {
    ...dispute,
    balance_transactions: [...dispute.balance_transactions, ...reinstated],
    is_charge_refundable: isInquiry || status === 'won',
    status,
  };
  call.store.save(closed);
  if (backCents > 0) emit(call, 'charge.dispute.funds_reinstated', closed);
  emit(call, 'charge.dispute.closed', closed);
  return closed;
}

export function retrieveDispute(call: Call): ApiObject {
  return require(call, 'dispute', call.ids.id!, 'id');
}

/** Accepts a dispute on behalf of the account: it is lost (`POST /v1/disputes/:id/close`). */
export function acceptDispute(call: Call): ApiObject {
  return closeDispute(call, call.ids.id!, 'lost');
}

export function listDisputes(call: Call): object {
  return page(call, 'dispute', '/v1/disputes', given(call.params, 'charge', 'payment_intent'));
}

const NO_EVIDENCE: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};
