import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Product } from '#contract/schemas.ts';
import { readOrder, stillRecommended } from './order.ts';

let next = 1;
function product(productType: Product['productType'], price: string, given: Partial<Product> = {}): Product {
  const id = next++;
  return {
    sessionProductUuid: null,
    productId: id,
    name: `Product ${id}`,
    price,
    displayPrice: `$${price}`,
    description: '',
    icon: '',
    productType,
    sortOrder: id,
    uuid: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    id,
    ...given,
  };
}

test('an order is split by type and totalled in cents', () => {
  const order = readOrder([
    product('store', '24.50'),
    product('membership', '65.00'),
    product('donation', '10.00'),
    product('donation_other', '7.50'),
  ]);
  assert.equal(order.membership?.priceCents, 6500);
  assert.equal(order.donations.length, 2);
  assert.equal(order.storeProducts.length, 1);
  assert.equal(order.totalDueTodayCents, 10_700);
});

test('what is in the order is not recommended any more', () => {
  const pin = product('store', '12.00');
  const stole = product('store', '38.00');
  const inOrder = { ...pin, sessionProductUuid: '11111111-1111-4111-8111-111111111111' };
  assert.deepEqual(stillRecommended({ products: [inOrder], recommendedProducts: [pin, stole] }), [stole]);
});
