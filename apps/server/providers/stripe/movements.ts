import type Stripe from 'stripe';
import type { Movement } from '#core/ledger.ts';

/** A transaction of the account's balance, with its charge or refund. Amounts are cents. */
export interface BalanceMovement extends Movement {
  id: string;
  createdAt: Date;
  currency: string;
  netCents: number;
  /** The charge that was paid, refunded or disputed; null if there is none, as for a payout. */
  charge: { intentId: string | null; amountCents: number; metadata: Record<string, string> } | null;
  /**
   * The refund that the transaction is about; null if there is none. `uuid` is the uuid of our refund row; null if the refund was
   * made elsewhere, in Stripe's Dashboard, for example.
   */
  refund: { id: string; uuid: string | null } | null;
}

/** The fields that Stripe must expand for {@link readMovement}: the transaction's source, and that source's charge. */
export const movementSources = ['data.source.charge'];

export function readMovement(transaction: Stripe.BalanceTransaction): BalanceMovement {
  const { source, fee_details: fees } = transaction;
  return {
    id: transaction.id,
    createdAt: new Date(transaction.created * 1000),
    category: transaction.reporting_category,
    description: transaction.description,
    currency: transaction.currency,
    grossCents: transaction.amount,
    feeCents: transaction.fee,
    netCents: transaction.net,
    feeDescription: fees.map(({ description, type }) => description ?? type).join(', ') || null,
    charge: chargeOf(source),
    refund: isOfKind<Stripe.Refund>(source, 'refund')
      ? { id: source.id, uuid: source.metadata?.refund ?? null }
      : null,
  };
}

type Source = Stripe.BalanceTransaction['source'];

function chargeOf(source: Source): BalanceMovement['charge'] {
  const charge = isOfKind<Stripe.Charge>(source, 'charge')
    ? source
    : isOfKind<Stripe.Refund>(source, 'refund') || isOfKind<Stripe.Dispute>(source, 'dispute')
      ? source.charge
      : null;
  if (charge === null || typeof charge === 'string') return null;
  const { payment_intent: intent, amount: amountCents, metadata } = charge;
  return { intentId: typeof intent === 'string' ? intent : (intent?.id ?? null), amountCents, metadata };
}

function isOfKind<T extends { object: string }>(source: Source, kind: T['object']): source is Source & T {
  return typeof source === 'object' && source?.object === kind;
}

/**
 * Whether Stripe can list a payout's transactions: only if the payout is automatic and has neither failed nor been cancelled, and
 * Stripe has finished reconciling it. Before that Stripe answers `payout_reconciliation_not_ready`.
 */
export function tellsItsMovements({ automatic, status, reconciliation_status }: Stripe.Payout): boolean {
  return automatic && reconciliation_status === 'completed' && status !== 'failed' && status !== 'canceled';
}
