import type { Body } from '#contract/schemas.ts';
import { linkQuery } from '#core/linkQuery.ts';
import type { paymentReturn } from './session.ts';

/**
 * Returns the parameters that the card provider has added to the URL; null if some are missing. Removes them from the URL and the
 * history, because one of them is a secret. Until the payment is settled, the tab keeps them in `store` for a reload.
 */
export function takeReturn({ url }: Request, store: typeof paymentReturn): Body<'postPayment'> | null {
  const query = linkQuery(url);
  const paymentIntent = query.get('payment_intent');
  const paymentIntentClientSecret = query.get('payment_intent_client_secret');
  const redirectStatus = query.get('redirect_status');
  if (paymentIntent && paymentIntentClientSecret && redirectStatus)
    store.keep({ paymentIntent, paymentIntentClientSecret, redirectStatus });
  if (window.location.search !== '')
    window.history.replaceState(window.history.state, '', window.location.pathname);
  return store.recall();
}
