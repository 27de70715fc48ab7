import type { Data, Product } from '#contract/schemas.ts';
import { fromPrice } from '#core/money.ts';
import { type OrderSummary, summarise } from '#core/orderSummary.ts';
import { ApiError, call } from '../api.ts';

export type CheckoutDetails = Data<'getCheckoutDetails'>;
export type PaymentIntent = Data<'createPaymentIntent'>;
export type OrderProduct = Product & { priceCents: number };

export interface Checkout {
  details: CheckoutDetails;
  order: OrderSummary<OrderProduct>;
  /** Null only for an order that costs nothing. */
  intent: PaymentIntent | null;
}

/** An order may change in another tab between two calls; this often it is read again. */
const ATTEMPTS = 3;

/**
 * The order, and a payment intent for exactly its total: the same intent, with the same client secret, as long as
 * the order can still be paid with it.
 */
export async function loadCheckout(uuid: string): Promise<Checkout> {
  for (let attempt = 1; ; attempt++) {
    const details = await call('getCheckoutDetails', { params: { uuid }, loading: true });
    const order = orderOf(details.products);
    const amount = order.totalDueTodayCents;
    if (amount === 0) return { details, order, intent: null };
    try {
      const { billingEmail } = details;
      const body = { amount, currency: 'usd' as const, billingEmail };
      const intent = await call('createPaymentIntent', { params: { uuid }, body, loading: true });
      return { details, order, intent };
    } catch (error) {
      const changed = error instanceof ApiError && error.status === 409 && !error.goOn;
      if (!changed || attempt === ATTEMPTS) throw error;
    }
  }
}

export function orderOf(products: readonly Product[]): OrderSummary<OrderProduct> {
  return summarise(products.map((product) => ({ ...product, priceCents: fromPrice(product.price) })));
}

/** Recommended products that are not in the order yet (specification, section 2). */
export function stillRecommended(
  details: Pick<CheckoutDetails, 'products' | 'recommendedProducts'>,
): Product[] {
  const inOrder = new Set(details.products.map(({ uuid }) => uuid));
  return details.recommendedProducts.filter(({ uuid }) => !inOrder.has(uuid));
}
