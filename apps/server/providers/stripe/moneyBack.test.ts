import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { readMoneyBack } from './moneyBack.ts';

const moved = (amount: number, currency = 'usd') => ({ amount, currency });
type Moved = ReturnType<typeof moved>;

const disputes: [status: Stripe.Dispute['status'], moved: Moved[], dispute: string | null, cents: number][] =
  [
    ['lost', [moved(-6500)], 'lost', 6500],
    ['lost', [moved(-6500), moved(1200)], 'lost', 5300],
    ['lost', [moved(-6500), moved(6500)], null, 0],
    ['lost', [], 'lost', 6500],
    ['lost', [moved(-9100, 'cad')], 'lost', 6500],
    ['prevented', [moved(-6500)], 'lost', 6500],
    ['prevented', [moved(-9100, 'cad'), moved(9100, 'cad')], null, 0],
    ['prevented', [], null, 0],
    ['won', [moved(-6500), moved(6500)], null, 0],
    ['needs_response', [moved(-6500)], 'open', 0],
    ['under_review', [moved(-6500)], 'open', 0],
    ['appeal_needs_response', [moved(-6500)], 'open', 0],
    ['appeal_under_review', [moved(-6500)], 'open', 0],
    ['warning_needs_response', [], null, 0],
    ['warning_under_review', [], null, 0],
    ['warning_closed', [], null, 0],
  ];
for (const [status, transactions, dispute, cents] of disputes)
  test(`a dispute that is ${status} and moved ${JSON.stringify(transactions)} took ${cents}`, () => {
    const one = { id: 'du_1', status, amount: 6500, currency: 'usd', balance_transactions: transactions };
    assert.deepEqual(readMoneyBack([], [one as Stripe.Dispute]), {
      refunds: [],
      dispute,
      lost: cents > 0 ? [{ id: 'du_1', amountCents: cents }] : [],
    });
  });
