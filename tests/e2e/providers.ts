import { askStripe, confirmCard, control, listStripe } from '../harness/providers.ts';

/** A charge of the emulated Stripe, as far as journeys look at it. Amounts in cents. */
export interface Charge {
  id: string;
  amount: number;
  status: 'succeeded' | 'pending' | 'failed';
}

export interface Intent {
  id: string;
  amount: number;
  status: string;
  payment_method: string | null;
  metadata: Record<string, string>;
}

/** The provider's own interface, to see what it was really asked to do. */
export function stripe({ url }: { url: string }) {
  const ask = <T>(method: 'GET' | 'POST', path: string, params?: Record<string, string>) =>
    askStripe<T>(url, method, path, params);
  return {
    /** The card form offers a wallet, which opens a window. */
    offerWallet: (wallet: boolean) => control(url, 'POST', 'browser', { wallet }),
    /** The bank asks its question about an intent on a page of its own. */
    askByRedirect: (intent: string) =>
      control(url, 'POST', `payment_intents/${intent}/authentication`, { by: 'redirect' }),
    /** Every charge of an intent, the failed ones too. */
    charges: async (intent: string) =>
      (await ask<{ data: Charge[] }>('GET', `/v1/charges?limit=100&payment_intent=${intent}`)).data,
    /** What was really taken, in cents: one entry for each charge that succeeded. */
    async taken(intent: string): Promise<number[]> {
      return (await this.charges(intent))
        .filter(({ status }) => status === 'succeeded')
        .map(({ amount }) => amount);
    },
    intent: (id: string) => ask<Intent>('GET', `/v1/payment_intents/${id}`),
    /** The intents of one join session, newest first. */
    async intentsOf(session: string): Promise<Intent[]> {
      return (await listStripe<Intent>(url, 'payment_intents')).filter(({ metadata }) =>
        Object.values(metadata).includes(session),
      );
    },
    /** The bank declines the card that paid an intent from now on; null ends that. */
    async declineFromNowOn(intent: string, declines: string | null): Promise<void> {
      const { payment_method } = await ask<Intent>('GET', `/v1/payment_intents/${intent}`);
      await control(url, 'POST', `payment_methods/${payment_method}`, { declines });
    },
    /** What staff do in the provider's dashboard: all of a payment goes back. */
    refund: (intent: string) => ask<{ id: string }>('POST', '/v1/refunds', { payment_intent: intent }),
    /** What the page's card form does, with one of the provider's test cards. */
    confirm: (id: string, card: string, returnUrl: string) => confirmCard(url, id, returnUrl, card),
  };
}
