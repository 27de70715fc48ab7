import { ApiError, failureOf, type Outcome } from '#client/failures.ts';
import type { Answered, Product } from '#contract/schemas.ts';
import { fromPrice } from '#core/money.ts';
import { type OrderSummary, summarise } from '#core/orderSummary.ts';
import { fallback } from '#core/sentences.ts';
import { call, outcomeOf } from '../../lib/api.ts';

export type CheckoutDetails = Answered<'getCheckoutDetails'>;
/** The intent, and the order's total that the screen shows (cents). */
export type PaymentIntent = Answered<'createPaymentIntent'> & { amount: number };
/** Returns a value that changes with every change of the order: its revision, or its total if the server has no revisions. */
export const versionOf = ({ revision, amount }: PaymentIntent) => revision ?? amount;
export type OrderProduct = Product & { type: Product['productType']; priceCents: number };

export interface Checkout {
  details: CheckoutDetails;
  order: OrderSummary<OrderProduct>;
  /** The intent for the order's total; null if the total is 0. */
  intent: PaymentIntent | null;
  /** Whether somebody is paying by the join's pay link, so that there is no intent. */
  isBeingPaid: boolean;
}

/**
 * How often an order and its intent are read at most. They are read again if another tab changes the order between the two reads.
 */
const ATTEMPTS = 3;

let reading: AbortController | null = null;
let newest: Promise<Outcome<Checkout>>;

/**
 * Loads the order with its payment intent. A newer call aborts the previous one, whose total is outdated; both calls then resolve
 * with the newer result.
 */
export async function loadCheckout(uuid: string): Promise<Outcome<Checkout>> {
  reading?.abort();
  const own = new AbortController();
  reading = own;
  newest = readCheckout(uuid, own.signal);
  const outcome = await newest;
  return own.signal.aborted ? newest : outcome;
}

/**
 * Reads the order, then the payment intent for its total. A conflict (409) means that the order has changed in between, so the
 * order and the intent are read again. A second conflict at the same revision means that the order cannot be paid, for example
 * because the joiner has become a member by another join.
 */
async function readCheckout(uuid: string, signal: AbortSignal): Promise<Outcome<Checkout>> {
  let refused: number | null = null;
  for (let attempt = 1; ; attempt++) {
    const outcome = await outcomeOf(
      call('getCheckoutDetails', { params: { uuid }, loading: true, signal }),
      fallback.getCheckoutDetails,
    );
    if (!('data' in outcome)) return outcome;
    const details = outcome.data;
    const order = readOrder(details.products);
    const state = details.revision ?? order.totalDueTodayCents;
    const amount = order.totalDueTodayCents;
    if (amount === 0) return { data: { details, order, intent: null, isBeingPaid: false } };
    try {
      const { billingEmail } = details;
      const body = { amount, currency: 'usd' as const, billingEmail };
      // At the first conflict at a revision, the order and its intent are read again, so no toast is shown. A second conflict at
      // the same revision shows a toast.
      const quiet = refused === state ? false : 409;
      const intent = await call('createPaymentIntent', {
        params: { uuid },
        body,
        loading: true,
        quiet,
        signal,
      });
      return { data: { details, order, intent: { ...intent, amount }, isBeingPaid: false } };
    } catch (error) {
      if (error instanceof ApiError && error.code === 'being_paid')
        return { data: { details, order, intent: null, isBeingPaid: true } };
      const isRefused = error instanceof ApiError && error.status === 409 && !error.goOn;
      if (!isRefused) return outcomeOf<Checkout>(Promise.reject(error), fallback.createPaymentIntent);
      const failure = failureOf(error, fallback.createPaymentIntent);
      if (refused === state) return { ...failure, kind: 'lost' };
      if (attempt === ATTEMPTS) return { ...failure, kind: 'busy' };
      refused = state;
    }
  }
}

export function readOrder(products: readonly Product[]): OrderSummary<OrderProduct> {
  return summarise(
    products.map((product) => ({
      ...product,
      type: product.productType,
      priceCents: fromPrice(product.price),
    })),
  );
}

/** Returns the recommended products that are not in the order yet (specification, section 2). */
export function stillRecommended(
  details: Pick<CheckoutDetails, 'products' | 'recommendedProducts'>,
): Product[] {
  const inOrder = new Set(details.products.map(({ uuid }) => uuid));
  return details.recommendedProducts.filter(({ uuid }) => !inOrder.has(uuid));
}
