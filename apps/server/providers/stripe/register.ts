import type Stripe from 'stripe';
import type { Providers } from '../../platform/config/providers.ts';
import { stripeApiVersion } from './account.ts';
import { stripeClient } from './client.ts';

/** Registers objects at the Stripe account, for the command `setup`. */
export interface StripeRegistry {
  /** Creates a webhook endpoint with our API version. Returns its signing secret, which Stripe returns only in this answer. */
  createEndpoint(url: string, events: readonly string[]): Promise<{ id: string; secret: string }>;
  /** Enables an endpoint and sets its events to exactly these. */
  putEndpointRight(id: string, events: readonly string[]): Promise<void>;
  /**
   * Registers and enables a domain for Apple Pay and makes Stripe validate it. Returns null if Apple Pay is then active,
   * otherwise Stripe's message.
   */
  registerDomain(name: string): Promise<string | null>;
}

/** Returns the registry for a secret key. The registry's methods throw the errors of Stripe's library. */
export function stripeRegistry({ secretKey, url }: Providers['stripe']): StripeRegistry {
  const stripe = stripeClient(secretKey, url);
  type Events = Stripe.WebhookEndpointCreateParams.EnabledEvent[];
  return {
    async createEndpoint(url, events) {
      const { id, secret } = await stripe.webhookEndpoints.create({
        url,
        enabled_events: [...events] as Events,
        api_version: stripeApiVersion as Stripe.WebhookEndpointCreateParams.ApiVersion,
        description: 'Induct',
      });
      return { id, secret: secret! };
    },
    async putEndpointRight(id, events) {
      await stripe.webhookEndpoints.update(id, { enabled_events: [...events] as Events, disabled: false });
    },
    async registerDomain(name) {
      // For a domain that is already registered, Stripe returns the existing registration.
      const { id, enabled } = await stripe.paymentMethodDomains.create({ domain_name: name });
      if (!enabled) await stripe.paymentMethodDomains.update(id, { enabled: true });
      const { apple_pay } = await stripe.paymentMethodDomains.validate(id);
      if (apple_pay.status === 'active') return null;
      return apple_pay.status_details?.error_message ?? 'Stripe does not say why.';
    },
  };
}
