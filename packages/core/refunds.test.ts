import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  leftCents,
  type PaidLine,
  type PaidOrder,
  planRefund,
  type RefundWish,
  standingAfter,
} from './refunds.ts';

const line = fc.record({
  productId: fc.integer({ min: 1, max: 40 }),
  type: fc.constantFrom('donation' as const, 'donation_other' as const, 'store' as const),
  name: fc.constant('Thing'),
  priceCents: fc.integer({ min: 50, max: 100_000 }),
});
const membership = (kind: 'join' | 'upgrade'): PaidLine => ({
  productId: kind === 'join' ? 1 : 10,
  type: kind === 'join' ? 'membership' : 'membership_upgrade',
  name: 'Membership',
  priceCents: 6500,
});
const orders = fc
  .record({ items: fc.array(line, { maxLength: 4 }), upgraded: fc.boolean(), dashboard: fc.nat(20_000) })
  .map(({ items, upgraded, dashboard }): PaidOrder[] => {
    const order = (kind: 'join' | 'upgrade', lines: PaidLine[]): PaidOrder => {
      const amountCents = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
      const gone = Math.min(dashboard, amountCents);
      return {
        intentId: kind,
        kind,
        lines,
        amountCents,
        refunds: gone > 0 ? [{ amountCents: gone, status: 'succeeded', lines: null }] : [],
      };
    };
    return [
      order('join', [membership('join'), ...items]),
      ...(upgraded ? [order('upgrade', [membership('upgrade')])] : []),
    ];
  });
const wish = fc.record({
  membership: fc.boolean(),
  ineligible: fc.boolean(),
  upgrade: fc.boolean(),
  items: fc.oneof(
    fc.constant('none' as const),
    fc.constant('all' as const),
    fc.array(fc.integer({ min: 1, max: 40 })),
  ),
});

const carryOut = (paid: PaidOrder[], asked: RefundWish, fee: number): PaidOrder[] => {
  const { refunds } = planRefund(paid, asked, fee);
  return paid.map((order) => ({
    ...order,
    refunds: [
      ...order.refunds,
      ...refunds
        .filter(({ intentId }) => intentId === order.intentId)
        .map(({ amountCents, lines }) => ({ amountCents, lines, status: 'due' as const })),
    ],
  }));
};

test('whatever is asked, in whatever order, never more goes back than was paid, and asked again nothing does', () => {
  fc.assert(
    fc.property(
      orders,
      fc.array(wish, { minLength: 1, maxLength: 4 }),
      fc.nat(10_000),
      (paid, wishes, fee) => {
        let now = paid;
        for (const asked of wishes) {
          now = carryOut(now, asked, fee);
          assert.deepEqual(
            planRefund(now, asked, fee).refunds.filter(({ amountCents }) => amountCents > 0),
            [],
          );
        }
        for (const { amountCents, refunds } of now)
          assert.ok(refunds.reduce((sum, one) => sum + one.amountCents, 0) <= amountCents);
      },
    ),
  );
});

test('asked for everything, everything that is left goes back', () => {
  const everything: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'all' };
  fc.assert(
    fc.property(orders, (paid) => {
      for (const order of carryOut(paid, everything, 500)) assert.equal(leftCents(order), 0);
    }),
  );
});

test('what cannot go back is said, and so is what is not there', () => {
  const paid: PaidOrder = {
    intentId: 'pi',
    kind: 'join',
    lines: [membership('join')],
    amountCents: 6500,
    refunds: [{ amountCents: 2000, status: 'pending', lines: null }],
  };
  const asked: RefundWish = { membership: true, ineligible: false, upgrade: true, items: [30] };
  assert.deepEqual(planRefund([paid], asked, 0).notes, [
    'Membership: $20.00 of $65.00 cannot go back, since it already went back without saying what for.',
    'Product 30 is not a donation or store item of this join.',
    'This join has no upgrade that was paid for.',
  ]);
});

test("the upgrade's payment knows no processing fee", () => {
  const lines = [membership('upgrade')];
  const refunds = [{ amountCents: 6000, status: 'succeeded' as const, lines: null }];
  assert.equal(standingAfter({ kind: 'upgrade', lines, refunds, dispute: null }, 500), 'active');
  assert.equal(standingAfter({ kind: 'join', lines, refunds, dispute: null }, 500), 'refunded');
});
