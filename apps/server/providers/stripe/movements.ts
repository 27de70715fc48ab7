import type Stripe from 'stripe';
import type { Movement } from '#core/ledger.ts';

/** A transaction of the account's balance, with what it belongs to. Amounts are cents. */
export interface BalanceMovement extends Movement {
  id: string;
  createdAt: Date;
  currency: string;
  netCents: number;
  /** The charge that was paid, given back or disputed; null for what is of no payment, as a payout. */
  charge: { intentId: string | null; amountCents: number; metadata: Record<string, string> } | null;
  /** The refund that it is of; `uuid` is our own row's, null when it was made elsewhere. */
  refund: { id: string; uuid: string | null } | null;
}

/** The objects that {@link readMovement} looks into: a refund and a dispute have their charge beside them. */
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

/** Whether a payout took its transactions to the bank, as far as is known, and Stripe can say which. */
export function tellsItsMovements({ automatic, status }: Stripe.Payout): boolean {
  return automatic && status !== 'failed' && status !== 'canceled';
}
