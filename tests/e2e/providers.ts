import { askStripe, confirmCard, control, listStripe } from '../harness/providers.ts';

/** The fields of a charge at the emulated Stripe that tests read. Amounts are in cents. */
export interface Charge {
  id: string;
  amount: number;
  status: 'succeeded' | 'pending' | 'failed';
  payment_method_details: { card: { wallet: { type: string } | null } };
  billing_details: { address: Record<string, string | null> | null };
}

export interface Intent {
  id: string;
  amount: number;
  status: string;
  payment_method: string | null;
  receipt_email: string | null;
  metadata: Record<string, string>;
}

/**
 * Returns functions that call the emulated Stripe. Tests use them to read what was really charged, and to do what banks and
 * Stripe's dashboard do.
 */
export function stripe({ url }: { url: string }) {
  const ask = <T>(method: 'GET' | 'POST', path: string, params?: Record<string, string>) =>
    askStripe<T>(url, method, path, params);
  return {
    /** Makes the bank ask its authentication question about an intent on a separate page. */
    askByRedirect: (intent: string) =>
      control(url, 'POST', `payment_intents/${intent}/authentication`, { by: 'redirect' }),
    /** Returns every charge of an intent, failed ones as well. */
    charges: async (intent: string) =>
      (await ask<{ data: Charge[] }>('GET', `/v1/charges?limit=100&payment_intent=${intent}`)).data,
    /** Returns the amount of each charge that succeeded (cents). */
    async taken(intent: string): Promise<number[]> {
      return (await this.charges(intent))
        .filter(({ status }) => status === 'succeeded')
        .map(({ amount }) => amount);
    },
    intent: (id: string) => ask<Intent>('GET', `/v1/payment_intents/${id}`),
    /** Returns the intents of a join session, newest first. */
    async intentsOf(session: string): Promise<Intent[]> {
      return (await listStripe<Intent>(url, 'payment_intents')).filter(({ metadata }) =>
        Object.values(metadata).includes(session),
      );
    },
    /** Makes the bank decline, from now on, the card that paid an intent; null makes it accept the card again. */
    async declineFromNowOn(intent: string, declines: string | null): Promise<void> {
      const { payment_method } = await ask<Intent>('GET', `/v1/payment_intents/${intent}`);
      await control(url, 'POST', `payment_methods/${payment_method}`, { declines });
    },
    /** Refunds a payment, all of it by default, as staff do in the provider's dashboard. `amount` is in cents. */
    refund: (intent: string, amount?: number) =>
      ask<{ id: string }>('POST', '/v1/refunds', {
        payment_intent: intent,
        ...(amount !== undefined && { amount: String(amount) }),
      }),
    /** Confirms an intent with one of the provider's test cards, as the page's card form does. */
    confirm: (id: string, card: string, returnUrl: string) => confirmCard(url, id, returnUrl, card),
  };
}
