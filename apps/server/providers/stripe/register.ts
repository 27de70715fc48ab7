import type Stripe from 'stripe';
import type { Providers } from '../../platform/config/providers.ts';
import { stripeApiVersion } from './account.ts';
import { stripeClient } from './client.ts';

/** What the account is to have beside payments: registered once, by staff. */
export interface StripeRegistry {
  /** A webhook endpoint in our version of the API. Its signing secret is told in this answer only. */
  createEndpoint(url: string, events: readonly string[]): Promise<{ id: string; secret: string }>;
  /** Enabled, and sent exactly these events. */
  putEndpointRight(id: string, events: readonly string[]): Promise<void>;
  /** A domain that may show Apple Pay: registered, switched on and checked again. Why it is not active, or null. */
  registerDomain(name: string): Promise<string | null>;
}

/** Throws what Stripe's library throws. */
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
      // One that is registered is answered again.
      const { id, enabled } = await stripe.paymentMethodDomains.create({ domain_name: name });
      if (!enabled) await stripe.paymentMethodDomains.update(id, { enabled: true });
      const { apple_pay } = await stripe.paymentMethodDomains.validate(id);
      if (apple_pay.status === 'active') return null;
      return apple_pay.status_details?.error_message ?? 'Stripe does not say why.';
    },
  };
}
