import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderLine } from './orderLine.ts';
import { changeOfMind, keptLines, requestedWish } from './refundRequest.ts';

const line = (productId: number, type: OrderLine['type'], priceCents: number): OrderLine => ({
  productId,
  type,
  name: type,
  priceCents,
});
const order = {
  intentId: 'pi_1',
  lines: [
    line(1, 'membership', 6500),
    line(20, 'donation', 1000),
    line(30, 'store', 1200),
    line(31, 'store', 3800),
  ],
};
const nothingSent = () => false;

test('a request asks for the parts of the society’s terms, and for no goods that were sent', () => {
  assert.deepEqual(
    requestedWish([order], ['membership', 'upgrade', 'items'], (_, at) => at === 2),
    {
      membership: true,
      ineligible: false,
      upgrade: false,
      items: [31],
    },
  );
  assert.deepEqual(requestedWish([order], ['donations'], nothingSent), {
    membership: false,
    ineligible: false,
    upgrade: false,
    items: [20],
  });
});

test('what is kept are the lines that do not come back, and the rest of those that come back in part', () => {
  const lines = [{ line: 0, productId: 1, name: 'membership', cents: 6000 }];
  assert.deepEqual(keptLines([order], { refunds: [{ intentId: 'pi_1', amountCents: 6000, lines }] }), [
    { name: 'membership', amount: 500 },
    { name: 'donation', amount: 1000 },
    { name: 'store', amount: 1200 },
    { name: 'store', amount: 3800 },
  ]);
});

test('whoever changes their mind is told what comes back, and what does not', () => {
  assert.equal(
    changeOfMind({ askDays: 30, gives: ['membership', 'upgrade', 'items'] }),
    'If you change your mind, you can ask for a refund within 30 days: the membership, the upgrade, and items that have not shipped yet. Not refunded: donations.',
  );
  assert.equal(changeOfMind({ askDays: 0, gives: ['membership'] }), '');
});
