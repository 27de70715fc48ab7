import type Stripe from 'stripe';
import { type Decided, decidedOfMetadata } from '#core/intentText.ts';
import type { Dispute } from '#core/refunds.ts';

/** The refunds and disputes of a payment. */
export interface MoneyBack {
  refunds: {
    id: string;
    amountCents: number;
    status: 'pending' | 'succeeded' | 'failed' | 'canceled';
    /**
     * Whether the refund is pending because the account's balance is too low: Stripe sends nothing until it suffices
     * (https://support.stripe.com/questions/pending-refunds-due-to-insufficient-funds-or-stripe-balance).
     */
    lacksFunds: boolean;
    createdAt: Date;
    /** The uuid of our refund row; null if the refund was made elsewhere, in Stripe's Dashboard, for example. */
    uuid: string | null;
    /** Our reason for the refund and its order lines, from the refund's metadata; null if they are not there. */
    decided: Decided | null;
  }[];
  dispute: Dispute | null;
  /** The amount of each lost dispute, with the dispute's id. */
  lost: { id: string; amountCents: number }[];
}

export function readMoneyBack(
  refunds: readonly Stripe.Refund[],
  disputes: readonly Stripe.Dispute[],
): MoneyBack {
  return {
    refunds: refunds.map(({ id, amount, status, pending_reason, metadata, created }) => ({
      id,
      amountCents: amount,
      status: status === 'succeeded' || status === 'failed' || status === 'canceled' ? status : 'pending',
      lacksFunds: status === 'pending' && pending_reason === 'insufficient_funds',
      createdAt: new Date(created * 1000),
      uuid: metadata?.refund ?? null,
      decided: metadata ? decidedOfMetadata(metadata, amount) : null,
    })),
    dispute: worst(disputes),
    lost: disputes
      .filter(({ status }) => status === 'lost')
      .map(({ id, amount }) => ({ id, amountCents: amount })),
  };
}

/**
 * Returns the worst status among a payment's disputes: `lost`, else `open`. In both the bank has the money. Returns null if there
 * are no disputes, or only early warnings and won disputes.
 */
function worst(disputes: readonly Stripe.Dispute[]): Dispute | null {
  if (disputes.some(({ status }) => status === 'lost')) return 'lost';
  const isOpen = disputes.some(({ status }) => /^(needs_response|under_review|appeal_.*)$/.test(status));
  return isOpen ? 'open' : null;
}
