import type Stripe from 'stripe';
import { markPaidOut, moveMoney, notPaidOut } from './balance.ts';
import { type Call, emit, require } from './call.ts';
import { invalid, refused } from './errors.ts';
import { newId } from './ids.ts';
import { given, page } from './lists.ts';
import type { ApiObject } from './store.ts';

type Payout = Stripe.Payout & ApiObject;

/**
 * Pays out to the account's bank all US dollars that no payout has included yet. The API can list the transactions of an
 * automatic payout once the payout is reconciled, and never those of a manual payout
 * (https://docs.stripe.com/payouts/reconciliation).
 */
export function payOut(call: Call, automatic: boolean): Payout {
  const currency = 'usd';
  const covered = notPaidOut(call, currency);
  const amount = covered.reduce((sum, { net }) => sum + net, 0);
  if (amount < 1) throw invalid('There is nothing to pay out.');
  const id = newId('po');
  const transaction = moveMoney(call, {
    type: 'payout',
    category: 'payout',
    amount: -amount,
    currency,
    source: id,
    description: 'STRIPE PAYOUT',
  });
  const payout: Payout = {
    id,
    object: 'payout',
    amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: call.now,
    automatic,
    balance_transaction: transaction.id,
    created: call.now,
    currency,
    description: 'STRIPE PAYOUT',
    destination: 'ba_emulated',
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    livemode: false,
    metadata: {},
    method: 'standard',
    original_payout: null,
    payout_method: null,
    reconciliation_status: automatic ? 'in_progress' : 'not_applicable',
    reversed_by: null,
    source_type: 'card',
    statement_descriptor: null,
    status: 'paid',
    trace_id: null,
    type: 'bank_account',
  };
  call.store.insert(payout);
  for (const each of [...covered, transaction]) markPaidOut(call, each, id);
  emit(call, 'payout.created', payout);
  emit(call, 'payout.paid', payout);
  return payout;
}

/** Reconciles an automatic payout: the API can list its transactions from now on. */
export function reconcilePayout(call: Call, id: string): Payout {
  const payout = require<Payout>(call, 'payout', id, 'payout');
  if (payout.reconciliation_status !== 'in_progress') throw refused('This payout is not being reconciled.');
  const reconciled: Payout = { ...payout, reconciliation_status: 'completed' };
  call.store.save(reconciled);
  emit(call, 'payout.reconciliation_completed', reconciled);
  return reconciled;
}

/** Fails a payout: the bank sends it back, and its money is in the balance again. */
export function failPayout(call: Call, id: string): Payout {
  const payout = require<Payout>(call, 'payout', id, 'payout');
  if (payout.status === 'failed') throw refused('This payout has failed already.');
  const back = moveMoney(call, {
    type: 'payout_failure',
    category: 'payout_reversal',
    amount: payout.amount,
    currency: payout.currency,
    source: payout.id,
    description: 'STRIPE PAYOUT FAILURE',
  });
  const failed: Payout = {
    ...payout,
    failure_balance_transaction: back.id,
    failure_code: 'account_closed',
    failure_message: 'The bank account has been closed.',
    status: 'failed',
  };
  call.store.save(failed);
  emit(call, 'payout.failed', failed);
  return failed;
}

export function retrievePayout(call: Call): ApiObject {
  return require(call, 'payout', call.ids.id!, 'payout');
}

export function listPayouts(call: Call): object {
  return page(call, 'payout', '/v1/payouts', given(call.params, 'status'));
}
