import type Stripe from 'stripe';
import { type Call, require } from './call.ts';
import { invalid } from './errors.ts';
import { newId } from './ids.ts';
import { given, page } from './lists.ts';
import type { ApiObject, Condition } from './store.ts';

export type BalanceTransaction = Stripe.BalanceTransaction & ApiObject;

/** Returns the fee of a card payment: 2.9 % and 30 cents (https://stripe.com/pricing). A refund does not give the fee back. */
export function cardFeeCents(amountCents: number): number {
  return Math.round((amountCents * 29) / 1000) + 30;
}

/** The fee for opening a dispute. Winning the dispute does not return it (https://stripe.com/pricing). */
export const DISPUTE_FEE_CENTS = 1500;

/** One movement of the account's money: `amount` cents for `source`, less `fee` cents. */
interface Movement {
  type: 'adjustment' | 'charge' | 'payout' | 'payout_failure' | 'refund' | 'refund_failure' | 'stripe_fee';
  /** The reporting category (https://docs.stripe.com/reports/reporting-categories). */
  category:
    | 'charge'
    | 'dispute'
    | 'dispute_reversal'
    | 'fee'
    | 'payout'
    | 'payout_reversal'
    | 'refund'
    | 'refund_failure';
  amount: number;
  currency: string;
  source: string | null;
  description: string | null;
  fee?: { amount: number; description: string };
}

/** The hidden data of a balance transaction: the id of the payout that included it. The API never shows it. */
interface PaidOut {
  payout: string;
}

/** Records a movement of money as a balance transaction. The money is in the available balance at once. */
export function moveMoney(call: Call, movement: Movement): BalanceTransaction {
  const { amount, currency, fee } = movement;
  const transaction: BalanceTransaction = {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: call.now,
    balance_type: 'payments',
    created: call.now,
    currency,
    description: movement.description,
    exchange_rate: null,
    fee: fee?.amount ?? 0,
    fee_details: fee
      ? [
          {
            amount: fee.amount,
            application: null,
            currency,
            description: fee.description,
            type: 'stripe_fee',
          },
        ]
      : [],
    net: amount - (fee?.amount ?? 0),
    reporting_category: movement.category,
    source: movement.source,
    status: 'available',
    type: movement.type,
  };
  call.store.insert(transaction);
  return transaction;
}

/** Returns the sum of all balance transactions, in cents. All of it is available at once. */
export function retrieveBalance(call: Call): object {
  const totals = new Map([['usd', 0]]);
  for (const { net, currency } of transactions(call, []))
    totals.set(currency, (totals.get(currency) ?? 0) + net);
  const amounts = [...totals].map(([currency, amount]) => ({
    amount,
    currency,
    source_types: { card: amount },
  }));
  const none = [...totals].map(([currency]) => ({ amount: 0, currency, source_types: { card: 0 } }));
  return { object: 'balance', available: amounts, livemode: false, pending: none };
}

export function retrieveBalanceTransaction(call: Call): ApiObject {
  return require(call, 'balance_transaction', call.ids.id!, 'id');
}

/**
 * Lists balance transactions, newest first. They can be filtered by type, by the object that moved the money, and by the
 * automatic payout that included them, once that payout is reconciled.
 */
export function listBalanceTransactions(call: Call): object {
  const filters = given(call.params, 'type', 'source');
  const id = call.params.payout as string | undefined;
  if (id !== undefined) {
    const payout = require<Stripe.Payout & ApiObject>(call, 'payout', id, 'payout');
    if (!payout.automatic)
      throw invalid(
        'Balance transaction history can only be filtered on automatic transfers, not manual.',
        'payout',
      );
    if (payout.reconciliation_status !== 'completed')
      throw invalid(
        'The transactions of this payout are not ready to be listed yet.',
        'payout',
        'payout_reconciliation_not_ready',
      );
    filters.push(leftWith(id));
  }
  return page(call, 'balance_transaction', '/v1/balance_transactions', filters);
}

/** Returns the transactions of one currency that no payout has included yet. */
export function notPaidOut(call: Call, currency: string): BalanceTransaction[] {
  return transactions(call, [
    {
      sql: "json_extract(hidden, '$.payout') is null and json_extract(body, '$.currency') = ?",
      values: [currency],
    },
  ]);
}

export function markPaidOut(call: Call, transaction: BalanceTransaction, payout: string): void {
  call.store.setHidden(transaction.id, { payout } satisfies PaidOut);
}

function leftWith(payout: string): Condition {
  return { sql: "json_extract(hidden, '$.payout') = ?", values: [payout] };
}

function transactions(call: Call, where: readonly Condition[]): BalanceTransaction[] {
  return call.store.select('balance_transaction', where, -1) as BalanceTransaction[];
}
