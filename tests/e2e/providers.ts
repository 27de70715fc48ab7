import type { LocalFile } from '../../tools/local/localFile.ts';

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
export function stripe({ url, secretKey }: NonNullable<LocalFile['stripe']>) {
  async function ask<T>(method: 'GET' | 'POST', path: string, params: Record<string, string>): Promise<T> {
    const form = new URLSearchParams(params);
    const response = await fetch(`${url}${path}${method === 'GET' ? `?${form}` : ''}`, {
      method,
      headers: { authorization: `Bearer ${secretKey}` },
      ...(method === 'POST' && { body: form }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
    return body as T;
  }
  async function control(path: string, body: object): Promise<void> {
    const response = await fetch(`${url}/_emulator/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
  }
  return {
    /** The card form offers a wallet, which opens a window. */
    offerWallet: (wallet: boolean) => control('browser', { wallet }),
    /** The bank asks its question about an intent on a page of its own. */
    askByRedirect: (intent: string) =>
      control(`payment_intents/${intent}/authentication`, { by: 'redirect' }),
    /** Every charge of an intent, the failed ones too. */
    charges: async (intent: string) =>
      (await ask<{ data: Charge[] }>('GET', '/v1/charges', { payment_intent: intent, limit: '100' })).data,
    /** What was really taken, in cents: one entry for each charge that succeeded. */
    async taken(intent: string): Promise<number[]> {
      return (await this.charges(intent))
        .filter(({ status }) => status === 'succeeded')
        .map(({ amount }) => amount);
    },
    intent: (id: string) => ask<Intent>('GET', `/v1/payment_intents/${id}`, {}),
    /** The intents of one join session, newest first. */
    async intentsOf(session: string): Promise<Intent[]> {
      const { data } = await ask<{ data: Intent[] }>('GET', '/v1/payment_intents', { limit: '100' });
      return data.filter(({ metadata }) => Object.values(metadata).includes(session));
    },
    /** The bank declines the card that paid an intent from now on; null ends that. */
    async declineFromNowOn(intent: string, declines: string | null): Promise<void> {
      const { payment_method } = await ask<Intent>('GET', `/v1/payment_intents/${intent}`, {});
      await control(`payment_methods/${payment_method}`, { declines });
    },
    /** What staff do in the provider's dashboard: all of a payment goes back. */
    refund: (intent: string) => ask<{ id: string }>('POST', '/v1/refunds', { payment_intent: intent }),
    /** What the page's card form does, with one of the provider's test cards. */
    confirm: (id: string, card: string, returnUrl: string) =>
      ask<Intent>('POST', `/v1/payment_intents/${id}/confirm`, {
        payment_method: card,
        return_url: returnUrl,
      }),
  };
}

export function hubspot({ url, accessToken }: NonNullable<LocalFile['hubspot']>) {
  return {
    async create(properties: Record<string, string>): Promise<{ id: string }> {
      const response = await fetch(`${url}/crm/objects/2026-09/contacts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ properties }),
      });
      const body = await response.json();
      if (!response.ok) throw new Error(JSON.stringify(body));
      return body as { id: string };
    },
  };
}
