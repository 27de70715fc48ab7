import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type LedgerOrder,
  type LedgerRefund,
  ledgerEntries,
  ledgerKinds,
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
const order: LedgerOrder = { lines, amountCents: 13_200, processingFeeCents: 500, isReturned: false };
const movement = (category: string, grossCents: number, feeCents = 0): Movement => ({
  category,
  grossCents,
  feeCents,
  description: null,
  feeDescription: null,
});
const refund = (change: Partial<LedgerRefund>): LedgerRefund => ({
  amountCents: 9000,
  status: 'succeeded',
  reason: 'requested',
  lines: null,
  before: [],
  ...change,
});
const dues = (cents: number) => ({ line: 0, productId: 3, name: 'Membership', cents });
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
  // Staff asked for a smaller refund than the whole price, so what was not refunded is not booked as a fee.
  assert.deepEqual(told(movement('refund', -9000), order, refund({ lines: given })), [['dues', -9000, 0]]);
  assert.deepEqual(
    told(movement('refund', -9000), order, { ...ineligible, before: [refund({ amountCents: 4200 })] }),
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
    processingFeeCents: 500,
    isReturned: false,
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

test('a fee is kept of what the payment still had, whatever failed before', () => {
  const lessFee = refund({ reason: 'ineligible', lines: [dues(9000)] });
  const fee = (...before: LedgerRefund[]) =>
    told(movement('refund', -9000), order, { ...lessFee, before }).find(([kind]) => kind === 'fee kept')?.[1];
  assert.equal(fee(refund({ amountCents: 3900 })), 300);
  assert.equal(fee(refund({ amountCents: 3900 }), refund({ status: 'failed' })), 300);
  assert.equal(fee(refund({ status: 'failed' })), 500);
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
  const made = {
    amountCents: fc.nat(2_000_000),
    status: fc.constantFrom('succeeded' as const, 'failed' as const),
    reason: fc.constantFrom('ineligible', 'requested', 'dashboard'),
    lines: fc.option(fc.array(given, { maxLength: 4 })),
  };
  fc.assert(
    fc.property(
      fc.constantFrom('charge', 'refund', 'refund_failure', 'dispute', 'payout', 'fee', 'other_adjustment'),
      fc.integer({ min: -2_000_000, max: 2_000_000 }),
      fc.integer({ min: -5000, max: 5000 }),
      fc.option(
        fc.record({
          lines: fc.array(line, { maxLength: 5 }),
          amountCents: fc.nat(2_000_000),
          processingFeeCents: fc.nat(1000),
          isReturned: fc.boolean(),
        }),
      ),
      fc.option(fc.record({ ...made, before: fc.array(fc.record(made), { maxLength: 3 }) })),
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
  const donated = { line: 1, productId: 21, name: 'Donation', cents: 2500 };
  const first = refund({ reason: 'ineligible', amountCents: 11_500, lines: [dues(9000), donated] });
  const rest = (...before: LedgerRefund[]) => refund({ amountCents: 500, lines: [dues(500)], before });
  assert.deepEqual(told(movement('refund', -500), order, rest(first)), [['fee kept', -500, 0]]);
  assert.deepEqual(told(movement('refund_failure', 500), order, rest(first)), [['fee kept', 500, 0]]);
  for (const other of [
    { ...first, status: 'failed' as const },
    { ...first, reason: 'requested' },
  ])
    assert.deepEqual(told(movement('refund', -500), order, rest(other)), [['dues', -500, 0]]);
});

test('a fee that was kept makes no fee of what goes back of another line', () => {
  const before = [refund({ reason: 'ineligible', lines: [dues(9000)] })];
  const lines = [{ line: 1, productId: 21, name: 'Donation', cents: 2500 }];
  const donation = refund({ amountCents: 2500, lines, before });
  assert.deepEqual(told(movement('refund', -2500), order, donation), [['donation', -2500, 0]]);
});

test('a fee is kept only of a membership of which less than its price went back', () => {
  const kept = (line: number, cents: number) => {
    const lines = [{ line, productId: 3, name: 'Membership', cents }];
    const ineligible = refund({ reason: 'ineligible', amountCents: cents, lines });
    return told(movement('refund', -cents), order, ineligible).find(([kind]) => kind === 'fee kept')?.[1];
  };
  assert.equal(kept(0, 9499), 1);
  assert.equal(kept(0, 9500), undefined, 'all of it went back');
  assert.equal(kept(1, 2400), undefined, 'a donation has no fee');
  assert.equal(kept(7, 100), undefined, 'the order has no such line');
});

test('a refund made elsewhere keeps the fee where it leaves exactly that of the membership', () => {
  const elsewhere = (cents: number, ...before: LedgerRefund[]) =>
    refund({ reason: 'dashboard', amountCents: cents, lines: [dues(cents)], before });
  const lessFee = [
    ['dues', -9500, 0],
    ['fee kept', 500, 0],
  ];
  assert.deepEqual(told(movement('refund', -9000), order, elsewhere(9000)), lessFee);
  for (const cents of [8999, 9001, 9500])
    assert.deepEqual(told(movement('refund', -cents), order, elsewhere(cents)), [['dues', -cents, 0]]);
  assert.deepEqual(
    told(movement('refund', -9500), { ...order, processingFeeCents: 0 }, elsewhere(9500)),
    [['dues', -9500, 0]],
    'a programme without a fee keeps none',
  );
  // After two partial refunds only the fee is left. A later refund of the fee is not booked as dues.
  const [first, second] = [elsewhere(4000), elsewhere(5000, elsewhere(4000))];
  assert.deepEqual(told(movement('refund', -4000), order, first), [['dues', -4000, 0]]);
  assert.deepEqual(told(movement('refund', -5000), order, second), [
    ['dues', -5500, 0],
    ['fee kept', 500, 0],
  ]);
  assert.deepEqual(told(movement('refund', -500), order, elsewhere(500, first, second)), [
    ['fee kept', -500, 0],
  ]);
});

test('refunds of an order that goes back as a whole take its lines one after the other', () => {
  const returned = { ...order, isReturned: true };
  const first = refund({ amountCents: 10_000 });
  assert.deepEqual(told(movement('refund', -10_000), returned, first), [
    ['dues', -9500, 0],
    ['donation', -500, 0],
  ]);
  const second = refund({ amountCents: 3200, before: [first] });
  assert.deepEqual(told(movement('refund', -3200), returned, second), [
    ['donation', -2000, 0],
    ['goods', -1200, 0],
  ]);
  const fromALine = refund({ amountCents: 3700, before: [refund({ amountCents: 9500 })] });
  assert.deepEqual(told(movement('refund', -3700), returned, fromALine), [
    ['donation', -2500, 0],
    ['goods', -1200, 0],
  ]);
});
