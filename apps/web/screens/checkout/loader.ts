import { type Outcome, requireSession } from '../../lib/api.ts';
import { loadPayments } from '../../lib/payments.ts';
import { theSite } from '../../lib/site.ts';
import { type Checkout, loadCheckout } from './order.ts';

/** The order and its payment intent; the card provider's script loads at the same time. */
export function loader(): Promise<Outcome<Checkout>> {
  const uuid = requireSession();
  loadPayments(theSite().payments).catch(() => {
    // The payment form says so and offers another try.
  });
  return loadCheckout(uuid);
}
