import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { summarise } from './orderSummary.ts';
import { type ProductType, productTypes } from './product.ts';

const line = (type: ProductType, priceCents: number) => ({ type, priceCents });

test('an order is split by type, tax is 0 and the total is the sum', () => {
  const order = [
    line('membership', 6500),
    line('donation', 2500),
    line('donation_other', 333),
    line('store', 1200),
  ];
  const summary = summarise(order);
  assert.deepEqual(summary.membership, order[0]);
  assert.deepEqual(summary.donations, [order[1], order[2]]);
  assert.deepEqual(summary.storeProducts, [order[3]]);
  assert.equal(summary.subtotalCents, 10_533);
  assert.equal(summary.taxCents, 0);
  assert.equal(summary.totalDueTodayCents, 10_533);
});

test('the first membership or membership_upgrade product becomes the membership', () => {
  const first = line('membership_upgrade', 4500);
  assert.equal(summarise([line('store', 100), first, line('membership', 6500)]).membership, first);
});

test('an empty order comes to nothing', () => {
  assert.deepEqual(summarise([]), {
    membership: null,
    donations: [],
    storeProducts: [],
    subtotalCents: 0,
    taxCents: 0,
    totalDueTodayCents: 0,
  });
});

test('the total is always the sum of the lines that are shown', () => {
  const lines = fc.array(
    fc.record({
      type: fc.constantFrom(...productTypes),
      priceCents: fc.integer({ min: 50, max: 1_000_000 }),
    }),
  );
  fc.assert(
    fc.property(lines, (order) => {
      const { membership, donations, storeProducts, totalDueTodayCents } = summarise(order);
      const shown = [...(membership ? [membership] : []), ...donations, ...storeProducts];
      assert.equal(
        totalDueTodayCents,
        shown.reduce((sum, { priceCents }) => sum + priceCents, 0),
      );
    }),
  );
});
