import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lineMetadata, orderDescription } from './intentText.ts';
import { productTypes } from './product.ts';

const membership = {
  productId: 2,
  type: 'membership',
  name: 'Membership with Honor Cord',
  priceCents: 8900,
} as const;
const pin = { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 } as const;

test('an intent says in words and in data what it is for', () => {
  assert.equal(
    orderDescription('Society', [membership, pin]),
    'Society: Membership with Honor Cord $89.00; Lapel Pin $12.00',
  );
  const { lines, ...others } = lineMetadata([membership, pin]);
  assert.equal(lines, '2 membership 89.00 Membership with Honor Cord\n30 store 12.00 Lapel Pin');
  assert.deepEqual(new Set(Object.values(others)), new Set(['']));
});

test('every order that can be made fits what Stripe takes, and loses no line', () => {
  const line = fc.record({
    productId: fc.integer({ min: 1, max: 2_147_483_647 }),
    type: fc.constantFrom(...productTypes),
    name: fc.string({ minLength: 1, maxLength: 400 }),
    priceCents: fc.integer({ min: 50, max: 1_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 50 }), (lines) => {
      assert.ok(orderDescription('Society', lines).length <= 1_000);
      const metadata = lineMetadata(lines);
      assert.ok(Object.keys(metadata).length <= 40);
      for (const value of Object.values(metadata)) assert.ok(value.length <= 500);
      const told = Object.values(metadata).join('\n');
      for (const { productId, type, priceCents } of lines)
        assert.ok(told.includes(`${productId} ${type} ${(priceCents / 100).toFixed(2)} `));
    }),
  );
});
