import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Product, Site } from '#contract/schemas.ts';
import { setSite } from '../../lib/site.ts';
import { setToaster } from '../../lib/toasts.ts';
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

/**
 * Returns a stand-in for `fetch`, which can be aborted. It answers with an order of these products, or with an intent for the
 * requested total.
 */
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

const REFUSED = 'You are a member already.';
/**
 * Makes each read of the order return the next of these revisions, and then 100. The server refuses an intent (409) for each of
 * these revisions, and makes one for revision 100. Returns the revisions that were read.
 */
function refusing(t: TestContext, ...revisions: number[]) {
  setSite({ apiUrl: '' } as Site);
  setToaster(async () => ({ showToast: async () => {} }));
  const reads: number[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    if (!url.endsWith('/checkout-details')) {
      return reads.length <= revisions.length
        ? Response.json({ success: false, status: 'error', message: REFUSED }, { status: 409 })
        : Response.json({ success: true, status: 'success', data: { clientSecret: 'pi_secret' } });
    }
    const revision = revisions[reads.length] ?? 100;
    reads.push(revision);
    const data = { products: [product('membership', '65.00')], revision, billingEmail: null };
    return Response.json({ success: true, status: 'success', data });
  });
  return reads;
}

test('an order that was changed before its intent was made is read again, and shown', async (t) => {
  const reads = refusing(t, 1, 2);
  const outcome = await loadCheckout('u');
  assert.ok('data' in outcome && outcome.data.intent);
  assert.equal(outcome.data.details.revision, 100);
  assert.equal(reads.length, 3);
});

test('an order that stays as it is and cannot be paid is said so, with the way to start over', async (t) => {
  const reads = refusing(t, 1, 1, 1);
  assert.deepEqual(await loadCheckout('u'), { kind: 'lost', message: REFUSED, retryMs: null });
  assert.equal(reads.length, 2);
});

test('an order that changes at every reading is not read for ever', async (t) => {
  const reads = refusing(t, 1, 2, 3, 4);
  assert.deepEqual(await loadCheckout('u'), { kind: 'busy', message: REFUSED, retryMs: null });
  assert.equal(reads.length, 3);
});
