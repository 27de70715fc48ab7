import type { TestContext } from 'node:test';
import Stripe from 'stripe';
import { STRIPE_PUBLISHABLE_KEY } from '../keys.ts';
import { eventually, realSubjects } from '../shared/subjects.ts';
import { encodeForm } from './form.ts';
import { emulate } from './test-support.ts';

/**
 * The Stripe account against which a behaviour test runs: an emulator that is started for the test, or a real account in test
 * mode.
 */
export interface Subject {
  /** The official client with the secret key. */
  stripe: Stripe;
  url: string;
  /** Creates a customer that is used by this test alone and deleted after it. */
  customer(params?: Stripe.CustomerCreateParams): Promise<string>;
  /** Makes a call as Stripe.js does, with the publishable key. */
  browser(
    method: 'GET' | 'POST',
    path: string,
    params: Record<string, unknown>,
  ): Promise<{ status: number; body: Record<string, unknown> & { error?: { code?: string } } }>;
  /** Registers work that cleans up a real account after the test. It is not needed for an emulator, which is discarded. */
  afterwards(work: () => Promise<unknown>): void;
  /** Polls until something is found, since a real account may not return its writes at once. */
  eventually<T>(look: () => Promise<T[]>): Promise<T[]>;
}

export async function subject(t: TestContext): Promise<Subject> {
  const real = realSubjects(process.env).stripe;
  const { stripe, url, publishableKey } = real
    ? {
        stripe: realClient(real),
        url: real.url ?? 'https://api.stripe.com',
        publishableKey: real.publishableKey,
      }
    : { ...(await emulate(t)), publishableKey: STRIPE_PUBLISHABLE_KEY };
  const afterwards: Subject['afterwards'] = (work) => {
    if (real) t.after(work);
  };
  return {
    stripe,
    url,
    afterwards,
    async customer(params) {
      const { id } = await stripe.customers.create(params);
      afterwards(() => stripe.customers.del(id));
      return id;
    },
    async browser(method, path, params) {
      const form = encodeForm(params);
      const address = `${url}/v1/${path}`;
      const headers = {
        authorization: `Bearer ${publishableKey}`,
        'stripe-version': Stripe.API_VERSION,
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
      };
      const response = await (method === 'GET'
        ? fetch(`${address}?${form}`, { headers })
        : fetch(address, { method, headers, body: form }));
      return { status: response.status, body: (await response.json()) as never };
    },
    eventually: (look) => eventually(real !== null, look),
  };
}

function realClient({ url, secretKey }: { url: string | null; secretKey: string }): Stripe {
  const address = url === null ? null : new URL(url);
  return new Stripe(secretKey, {
    maxNetworkRetries: 2,
    appInfo: { name: 'induct drift tests' },
    telemetry: false,
    ...(address ? { protocol: 'http', host: address.hostname, port: address.port } : {}),
  });
}
