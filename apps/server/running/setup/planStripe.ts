import { type StripeAccount, stripeApiVersion } from '../../providers/stripe/account.ts';
import type { StripeRegistry } from '../../providers/stripe/register.ts';
import { webhookEvents } from '../../providers/stripe/webhookEvents.ts';
import { isPublic } from '../doctor/finding.ts';
import type { SetupPlan, SetupStep } from './step.ts';

/**
 * Plans to create the things that the Stripe account lacks: a webhook endpoint with our API version and exactly the events that
 * the server needs, and the domain for Apple Pay. Plans to correct an existing endpoint of our version instead of adding another.
 * `webhookUrls` are the URLs at which the server receives webhooks; a new endpoint gets the first.
 */
export function planStripe(
  { endpoints, domain }: Pick<StripeAccount, 'endpoints' | 'domain'>,
  {
    publicUrl,
    webhookUrls,
    domainName,
  }: { publicUrl: string; webhookUrls: readonly string[]; domainName: string },
  registry: StripeRegistry,
): SetupPlan {
  if (!isPublic(publicUrl)) {
    const text = `Stripe cannot reach ${publicUrl}. Forward to it: stripe listen --forward-to ${webhookUrls[0]}; STRIPE_WEBHOOK_SECRET is what that prints. Apple Pay needs a public https address.`;
    return { provider: 'Stripe', steps: [{ text, apply: null }], inOrder: [] };
  }
  const steps: SetupStep[] = [];
  const inOrder: string[] = [];

  if ('said' in endpoints) {
    const ours = endpoints.said.filter(({ url }) => webhookUrls.includes(url));
    const current = ours.find(({ apiVersion }) => apiVersion === stripeApiVersion);
    if (!current) steps.push(createEndpoint(webhookUrls[0]!, registry));
    else if (current.enabled && isSame(current.events, webhookEvents))
      inOrder.push(`Webhook endpoint ${current.id} (${current.url}).`);
    else
      steps.push({
        text: `Put webhook endpoint ${current.id} (${current.url}) right: enabled, with exactly the ${webhookEvents.length} events that are needed.`,
        apply: async () => {
          await registry.putEndpointRight(current.id, webhookEvents);
          return `${current.id} is enabled, with its ${webhookEvents.length} events. Its signing secret is as before.`;
        },
      });
    for (const { id, apiVersion } of ours.filter((endpoint) => endpoint !== current))
      steps.push({
        text: `Delete webhook endpoint ${id} (API version ${apiVersion ?? "the account's default"}) once the server has the new secret: https://dashboard.stripe.com/webhooks/${id}`,
        apply: null,
      });
  } else steps.push(unread('Webhook Endpoints', endpoints));

  if (!('said' in domain)) steps.push(unread('Payment Method Domains', domain));
  else if (domain.said?.enabled && domain.said.applePay) inOrder.push(`Apple Pay on ${domainName}.`);
  else
    steps.push({
      text: `Register ${domainName} for Apple Pay. Nothing has to be served for it.`,
      apply: async () => {
        const trouble = await registry.registerDomain(domainName);
        return trouble === null
          ? `Apple Pay is active on ${domainName}.`
          : `${domainName} is registered, and Apple Pay is not active on it yet: ${trouble} Run this again later.`;
      },
    });
  return { provider: 'Stripe', steps, inOrder };
}

function createEndpoint(url: string, registry: StripeRegistry): SetupStep {
  return {
    text: `Make a webhook endpoint for ${url}, with API version ${stripeApiVersion} and ${webhookEvents.length} events.`,
    apply: async () => {
      const { id, secret } = await registry.createEndpoint(url, webhookEvents);
      return `${id} is made. Its signing secret is told this once: STRIPE_WEBHOOK_SECRET=${secret}`;
    },
  };
}

function unread(permission: string, answer: { refused: { message: string } } | { down: string }): SetupStep {
  const why = 'down' in answer ? answer.down : answer.refused.message;
  return {
    text: `Stripe does not tell ${permission} (${why}). Give the key Write for them, or set them up by hand: docs/reference.md, "Stripe".`,
    apply: null,
  };
}

function isSame(events: readonly string[], needed: readonly string[]): boolean {
  return events.length === needed.length && needed.every((event) => events.includes(event));
}
