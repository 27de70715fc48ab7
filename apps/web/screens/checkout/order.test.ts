import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Product, Site } from '#contract/schemas.ts';
import { setSite } from '../../lib/site.ts';
import { loadCheckout, readOrder, stillRecommended } from './order.ts';

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

/** Answers the calls of the page: the order with these products, and an intent for its total. Aborts like `fetch`. */
function answerWith(products: () => Product[]) {
  return async (url: string, { signal, body }: RequestInit) => {
    const data = url.endsWith('/checkout-details')
      ? { products: products(), revision: products().length, billingEmail: null }
      : { clientSecret: 'pi_secret', amount: JSON.parse(String(body)).amount };
    await new Promise((resolve) => setTimeout(resolve, 5));
    signal?.throwIfAborted();
    return Response.json({ success: true, status: 'success', data });
  };
}

test('an order that is read again meanwhile is shown as the newest reading has it, and never as a failure', async (t) => {
  setSite({ apiUrl: '' } as Site);
  const products = [product('membership', '65.00')];
  t.mock.method(
    globalThis,
    'fetch',
    answerWith(() => products),
  );
  const first = loadCheckout('u');
  products.push(product('donation', '25.00'));
  const second = loadCheckout('u');
  products.push(product('store', '12.00'));
  const third = loadCheckout('u');
  for (const outcome of await Promise.all([first, second, third])) {
    assert.ok('data' in outcome);
    assert.equal(outcome.data.order.totalDueTodayCents, 10_200);
  }
});
