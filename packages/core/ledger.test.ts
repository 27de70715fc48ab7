import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  keptAfter,
  type LedgerRefund,
  ledgerEntries,
  ledgerKinds,
  linesLessFee,
  type Movement,
  sumLedger,
} from './ledger.ts';
import type { OrderLine } from './orderLine.ts';
import { productTypes } from './product.ts';

const lines: OrderLine[] = [
  { productId: 3, type: 'membership', name: 'Membership', priceCents: 9500 },
  { productId: 21, type: 'donation', name: 'Donation', priceCents: 2500 },
  { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 },
];
const order = { lines, amountCents: 13_200 };
const movement = (category: string, grossCents: number, feeCents = 0): Movement => ({
  category,
  grossCents,
  feeCents,
  description: null,
  feeDescription: null,
});
const refund = (change: Partial<LedgerRefund>): LedgerRefund => ({
  amountCents: 9000,
  reason: 'requested',
  lines: null,
  keptCents: 4200,
  feeKeptOf: [],
  ...change,
});
const told = (...given: Parameters<typeof ledgerEntries>) =>
  ledgerEntries(...given).map(({ kind, grossCents, feeCents }) => [kind, grossCents, feeCents]);

test('a charge is the lines that were paid, and what it cost a line of its own', () => {
  assert.deepEqual(told(movement('charge', 13_200, 413), order, null), [
    ['dues', 9500, 0],
    ['donation', 2500, 0],
    ['goods', 1200, 0],
    ['stripe fee', 0, 413],
  ]);
});

test('a refund less the processing fee takes back all of the dues and says what is kept', () => {
  const given = [{ line: 0, productId: 3, name: 'Membership', cents: 9000 }];
  const ineligible = refund({ reason: 'ineligible', lines: given });
  assert.deepEqual(told(movement('refund', -9000), order, ineligible), [
    ['dues', -9500, 0],
    ['fee kept', 500, 0],
  ]);
  assert.deepEqual(told(movement('refund_failure', 9000), order, ineligible), [
    ['dues', 9500, 0],
    ['fee kept', -500, 0],
  ]);
  // Asked for, less than the price could go back: that is no fee.
  assert.deepEqual(told(movement('refund', -9000), order, refund({ lines: given })), [['dues', -9000, 0]]);
  assert.deepEqual(
    told(movement('refund', -9000), order, { ...ineligible, keptCents: 0 }),
    [['dues', -9000, 0]],
    'nothing of the payment is kept, so no fee is',
  );
});

test('a refund that names no lines is unassigned, unless it is the whole payment', () => {
  assert.deepEqual(told(movement('refund', -5000), order, refund({ amountCents: 5000 })), [
    ['unassigned', -5000, 0],
  ]);
  assert.deepEqual(told(movement('refund', -13_200), order, null), [
    ['dues', -9500, 0],
    ['donation', -2500, 0],
    ['goods', -1200, 0],
  ]);
  assert.deepEqual(told(movement('refund', -100), null, null), [['unassigned', -100, 0]]);
});

test('disputes, payouts and what Stripe takes of the account have kinds of their own', () => {
  assert.deepEqual(told(movement('dispute', -13_200, 1500), order, null), [
    ['dispute', -13_200, 0],
    ['dispute fee', 0, 1500],
  ]);
  assert.deepEqual(told(movement('dispute_reversal', 13_200), order, null), [['dispute', 13_200, 0]]);
  assert.deepEqual(told(movement('payout', -100), null, null), [['payout', -100, 0]]);
  assert.deepEqual(told(movement('payout_reversal', 100), null, null), [['payout', 100, 0]]);
  assert.deepEqual(told(movement('fee', -250), null, null), [['stripe fee', -250, 0]]);
  assert.deepEqual(told(movement('topup', 700), null, null), [['account', 700, 0]]);
});

test('a charge that is not what its lines come to leaves the difference unassigned', () => {
  assert.deepEqual(told(movement('charge', 13_000), order, null), [
    ['dues', 9500, 0],
    ['donation', 2500, 0],
    ['goods', 1200, 0],
    ['unassigned', -200, 0],
  ]);
});

test('what members pay beyond their dues for a higher membership is booked by itself', () => {
  const upgraded = {
    lines: [{ productId: 10, type: 'membership_upgrade' as const, name: 'Upgrade', priceCents: 4500 }],
    amountCents: 4500,
  };
  assert.deepEqual(told(movement('charge', 4500), upgraded, null), [['upgrade', 4500, 0]]);
});

test("each entry has a name: the product's, else Stripe's words, else the category", () => {
  const named = (change: Partial<Movement>, category: string, cents: number, feeCents = 0) =>
    ledgerEntries({ ...movement(category, cents, feeCents), ...change }, order, null).map(
      ({ product, kind }) => `${kind}: ${product}`,
    );
  assert.deepEqual(named({}, 'charge', 13_200, 413), [
    'dues: Membership',
    'donation: Donation',
    'goods: Lapel Pin',
    'stripe fee: Stripe fee',
  ]);
  assert.deepEqual(named({ feeDescription: 'Card fees' }, 'topup', 0, 7), [
    'account: topup',
    'stripe fee: Card fees',
  ]);
  assert.deepEqual(named({ description: 'Monthly payout' }, 'payout', -100), ['payout: Monthly payout']);
});

test('what Stripe gives back of the fee of a dispute that was won is a fee of the dispute', () => {
  assert.deepEqual(told(movement('dispute_reversal', 13_200, -1500), order, null), [
    ['dispute', 13_200, 0],
    ['dispute fee', 0, -1500],
  ]);
});

test('the sum of a ledger counts its lines and adds up gross and fees', () => {
  const rows = [
    { grossCents: 9500, feeCents: 0 },
    { grossCents: 0, feeCents: 413 },
    { grossCents: -1200, feeCents: 7 },
  ];
  assert.deepEqual(sumLedger(rows), { count: 3, grossCents: 8300, feeCents: 420 });
  assert.deepEqual(sumLedger([]), { count: 0, grossCents: 0, feeCents: 0 });
});

test('what a payment still had counts refunds before, but none that failed', () => {
  const before = [
    { amountCents: 1000, status: 'succeeded' as const, lines: null },
    { amountCents: 9000, status: 'failed' as const, lines: null },
  ];
  assert.equal(keptAfter(13_200, before, { amountCents: 9000 }), 3200);
});

test('whatever is split sums to what it was split of', () => {
  const line = fc.record({
    productId: fc.integer({ min: 1, max: 40 }),
    type: fc.constantFrom(...productTypes),
    name: fc.string(),
    priceCents: fc.integer({ min: 50, max: 1_000_000 }),
  });
  const given = fc.record({
    line: fc.integer({ min: 0, max: 4 }),
    productId: fc.integer({ min: 1, max: 40 }),
    name: fc.string(),
    cents: fc.integer({ min: 1, max: 100_000 }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom('charge', 'refund', 'refund_failure', 'dispute', 'payout', 'fee', 'other_adjustment'),
      fc.integer({ min: -2_000_000, max: 2_000_000 }),
      fc.integer({ min: -5000, max: 5000 }),
      fc.option(fc.record({ lines: fc.array(line, { maxLength: 5 }), amountCents: fc.nat(2_000_000) })),
      fc.option(
        fc.record({
          amountCents: fc.nat(2_000_000),
          reason: fc.constantFrom('ineligible', 'requested', 'dashboard'),
          lines: fc.option(fc.array(given, { maxLength: 4 })),
          keptCents: fc.nat(10_000),
          feeKeptOf: fc.subarray([0, 1, 2]),
        }),
      ),
      (category, gross, fee, paid, back) => {
        const entries = ledgerEntries(movement(category, gross, fee), paid, back);
        assert.equal(
          entries.reduce((sum, { grossCents }) => sum + grossCents, 0),
          gross,
        );
        assert.equal(
          entries.reduce((sum, { feeCents }) => sum + feeCents, 0),
          fee,
        );
        for (const { kind } of entries) assert.ok(ledgerKinds.includes(kind));
      },
    ),
  );
});

test('a processing fee that goes back later is not kept, and no dues', () => {
  const first = {
    reason: 'ineligible',
    status: 'succeeded' as const,
    lines: [{ line: 0, productId: 3, name: 'Membership', cents: 9000 }],
  };
  const rest = refund({
    amountCents: 500,
    lines: [{ line: 0, productId: 3, name: 'Membership', cents: 500 }],
    feeKeptOf: linesLessFee([first], lines),
  });
  assert.deepEqual(told(movement('refund', -500), order, rest), [['fee kept', -500, 0]]);
  assert.deepEqual(told(movement('refund_failure', 500), order, rest), [['fee kept', 500, 0]]);
  assert.deepEqual(linesLessFee([{ ...first, status: 'failed' }], lines), []);
  assert.deepEqual(linesLessFee([{ ...first, reason: 'requested' }], lines), []);
});

test('a fee is kept only of a membership of which less than its price went back', () => {
  const ineligible = (line: number, cents: number) => ({
    reason: 'ineligible',
    status: 'succeeded' as const,
    lines: [{ line, productId: 3, name: 'Membership', cents }],
  });
  assert.deepEqual(linesLessFee([ineligible(0, 9499)], lines), [0]);
  assert.deepEqual(linesLessFee([ineligible(0, 9500)], lines), [], 'all of it went back');
  assert.deepEqual(linesLessFee([ineligible(1, 2400)], lines), [], 'a donation has no fee');
  assert.deepEqual(linesLessFee([ineligible(7, 100)], lines), [], 'the order has no such line');
  assert.deepEqual(linesLessFee([{ ...ineligible(0, 1), lines: null }], lines), []);
});
