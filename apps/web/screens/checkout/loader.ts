import type { Outcome } from '#client/failures.ts';
import { requireSession } from '../../lib/api.ts';
import { loadPayments } from '../../lib/payments.ts';
import { theSite } from '../../lib/site.ts';
import { type Checkout, loadCheckout } from './order.ts';

/** Loads the order and its payment intent, and at the same time the card provider's script. */
export function loader(): Promise<Outcome<Checkout>> {
  const uuid = requireSession();
  loadPayments(theSite().payments).catch(() => {
    // If the script does not load, the payment form shows the error and offers to try again.
  });
  return loadCheckout(uuid);
}
