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
     * Whether the refund is pending because the account's balance is too low. Stripe sends nothing until the balance suffices
     * (https://support.stripe.com/questions/pending-refunds-due-to-insufficient-funds-or-stripe-balance).
     */
    lacksFunds: boolean;
    /**
     * Whether the refund has failed because the payer's card is closed, so that every further refund to it would fail as well.
     */
    isCardClosed: boolean;
    createdAt: Date;
    /** The uuid of our refund row; null if the refund was made elsewhere, in Stripe's Dashboard, for example. */
    uuid: string | null;
    /** Our reason for the refund and its order lines, from the refund's metadata; null if they are missing or do not add up. */
    decided: Decided | null;
  }[];
  dispute: Dispute | null;
  /** The amount that each lost dispute took, with the dispute's id. */
  lost: { id: string; amountCents: number }[];
}

/** Stripe's reasons for a failed refund (https://docs.stripe.com/refunds) that mean that the card is closed permanently. */
const CARD_CLOSED: ReadonlySet<string> = new Set(['expired_or_canceled_card', 'lost_or_stolen_card']);

export function readMoneyBack(
  refunds: readonly Stripe.Refund[],
  disputes: readonly Stripe.Dispute[],
): MoneyBack {
  const lost = disputes
    .map((dispute) => ({ id: dispute.id, amountCents: takenCents(dispute) }))
    .filter(({ amountCents }) => amountCents > 0);
  const isOpen = disputes.some(({ status }) => /^(needs_response|under_review|appeal_.*)$/.test(status));
  return {
    refunds: refunds.map(({ id, amount, status, pending_reason, failure_reason, metadata, created }) => ({
      id,
      amountCents: amount,
      status: status === 'succeeded' || status === 'failed' || status === 'canceled' ? status : 'pending',
      lacksFunds: status === 'pending' && pending_reason === 'insufficient_funds',
      isCardClosed: CARD_CLOSED.has(failure_reason ?? ''),
      createdAt: new Date(created * 1000),
      uuid: metadata?.refund ?? null,
      decided: metadata ? decidedOfMetadata(metadata, amount) : null,
    })),
    // Of several disputes the worst one counts: a lost one before an open one. In both cases the bank has the money.
    dispute: lost.length > 0 ? 'lost' : isOpen ? 'open' : null,
    lost,
  };
}

/**
 * Returns the cents that a dispute took permanently: the cents that its balance transactions withdrew and did not return. They
 * may be less than the disputed amount if a part of the payment was refunded before. A prevented dispute has taken money only if
 * it has such transactions. A lost dispute without transactions, or a dispute whose transactions are in another currency, took
 * the disputed amount.
 */
function takenCents({ status, amount, currency, balance_transactions: moved }: Stripe.Dispute): number {
  if (status !== 'lost' && status !== 'prevented') return 0;
  if (moved.length === 0) return status === 'lost' ? amount : 0;
  const netCents = moved.reduce((sum, transaction) => sum + transaction.amount, 0);
  if (netCents >= 0) return 0;
  return moved.every((transaction) => transaction.currency === currency) ? -netCents : amount;
}
