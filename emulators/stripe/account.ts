import type Stripe from 'stripe';
import { ApiVersion } from './api-version.ts';
import { type Call, mergeMetadata, orNull, require } from './call.ts';
import { invalid } from './errors.ts';
import { newId, token } from './ids.ts';
import { given, page } from './lists.ts';
import type { ApiObject } from './store.ts';
import { checkDomainName, checkWebhookUrl } from './texts.ts';

export type WebhookEndpoint = Stripe.WebhookEndpoint & ApiObject;
type Domain = Stripe.PaymentMethodDomain & ApiObject;
type Configuration = Stripe.PaymentMethodConfiguration & ApiObject;

export const WEBHOOK_ENDPOINT_PARAMS = [
  'api_version',
  'description',
  'enabled_events',
  'expand',
  'metadata',
  'url',
];

export function retrieveAccount(call: Call): object {
  return {
    id: 'acct_emulated',
    object: 'account',
    business_type: 'non_profit',
    charges_enabled: call.store.setting('charges') !== 'stopped',
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    email: null,
    payouts_enabled: true,
    type: 'standard',
  };
}

/** The maximum number of webhook endpoints that an account may have in each mode. */
const MOST_ENDPOINTS = 16;

/** Creates a webhook endpoint. As at Stripe, only this answer contains the signing secret. */
export function createWebhookEndpoint(call: Call): ApiObject {
  const { params } = call;
  checkWebhookUrl(params.url as string);
  if (call.store.select('webhook_endpoint', [], MOST_ENDPOINTS).length === MOST_ENDPOINTS)
    throw invalid(`You have reached the maximum of ${MOST_ENDPOINTS} test webhook endpoints.`);
  const endpoint: WebhookEndpoint = {
    id: newId('we'),
    object: 'webhook_endpoint',
    api_version: (params.api_version as string | undefined) ?? null,
    application: null,
    created: call.now,
    description: orNull(params.description) as string | null,
    enabled_events: params.enabled_events as string[],
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    status: 'enabled',
    url: params.url as string,
  };
  if (endpoint.api_version && endpoint.api_version !== ApiVersion) {
    throw invalid(`The emulator speaks API version ${ApiVersion} only.`, 'api_version');
  }
  const secret = `whsec_${token(32)}`;
  call.store.insert(endpoint);
  call.store.setHidden(endpoint.id, { secret });
  return { ...endpoint, secret };
}

export function retrieveWebhookEndpoint(call: Call): ApiObject {
  return require(call, 'webhook_endpoint', call.ids.id!, 'webhook_endpoint');
}

export function updateWebhookEndpoint(call: Call): ApiObject {
  const { params } = call;
  const endpoint = require<WebhookEndpoint>(call, 'webhook_endpoint', call.ids.id!, 'webhook_endpoint');
  const updated: WebhookEndpoint = {
    ...endpoint,
    metadata: mergeMetadata(endpoint.metadata, params.metadata),
  };
  if (params.url !== undefined) {
    checkWebhookUrl(params.url as string);
    updated.url = params.url as string;
  }
  if (params.enabled_events !== undefined) updated.enabled_events = params.enabled_events as string[];
  if (params.description !== undefined) updated.description = orNull(params.description) as string | null;
  if (params.disabled !== undefined) updated.status = params.disabled ? 'disabled' : 'enabled';
  call.store.save(updated);
  return updated;
}

export function deleteWebhookEndpoint(call: Call): ApiObject {
  const { id } = require(call, 'webhook_endpoint', call.ids.id!, 'webhook_endpoint');
  call.store.remove(id);
  return { id, object: 'webhook_endpoint', deleted: true };
}

export function listWebhookEndpoints(call: Call): object {
  return page(call, 'webhook_endpoint', '/v1/webhook_endpoints', []);
}

/** Registers a domain for wallets. The emulator does not check who owns it. */
export function createPaymentMethodDomain(call: Call): ApiObject {
  const name = call.params.domain_name as string;
  checkDomainName(name);
  const known = call.store.select('payment_method_domain', given(call.params, 'domain_name'), 1)[0];
  if (known) return known;
  const active = { status: 'active' as const };
  const domain: Domain = {
    id: newId('pmd'),
    object: 'payment_method_domain',
    amazon_pay: active,
    apple_pay: active,
    created: call.now,
    domain_name: name,
    enabled: (call.params.enabled as boolean | undefined) ?? true,
    google_pay: active,
    klarna: active,
    link: active,
    livemode: false,
    paypal: active,
  };
  const { amazon_pay, klarna, paypal, link, ...cards } = domain;
  call.store.insert(cards as Domain);
  return cards as Domain;
}

export function retrievePaymentMethodDomain(call: Call): ApiObject {
  return require(call, 'payment_method_domain', call.ids.id!, 'id');
}

export function updatePaymentMethodDomain(call: Call): ApiObject {
  const domain = require<Domain>(call, 'payment_method_domain', call.ids.id!, 'id');
  const enabled = call.params.enabled as boolean | undefined;
  const updated = { ...domain, enabled: enabled ?? domain.enabled };
  call.store.save(updated);
  return updated;
}

export function listPaymentMethodDomains(call: Call): object {
  return page(
    call,
    'payment_method_domain',
    '/v1/payment_method_domains',
    given(call.params, 'domain_name', 'enabled'),
  );
}

/** The id of the account's default configuration of payment methods. In it the method Link is on, as in a new account. */
const DEFAULT_CONFIGURATION = 'pmc_emulated';

function shown(value: 'on' | 'off') {
  return {
    available: value === 'on',
    display_preference: { overridable: null, preference: value, value },
  };
}

/** Creates the default configuration if it does not exist yet. Returns `call`. */
function withConfiguration(call: Call): Call {
  if (call.store.find(DEFAULT_CONFIGURATION)) return call;
  const on = shown('on');
  const configuration: Configuration = {
    id: DEFAULT_CONFIGURATION,
    object: 'payment_method_configuration',
    active: true,
    apple_pay: on,
    application: null,
    card: on,
    google_pay: on,
    is_default: true,
    link: on,
    livemode: false,
    name: 'Default',
    parent: null,
  };
  call.store.insert(configuration);
  return call;
}

export function listPaymentMethodConfigurations(call: Call): object {
  return page(
    withConfiguration(call),
    'payment_method_configuration',
    '/v1/payment_method_configurations',
    [],
  );
}

export function retrievePaymentMethodConfiguration(call: Call): Configuration {
  return require(withConfiguration(call), 'payment_method_configuration', call.ids.id!, 'configuration');
}

export function updatePaymentMethodConfiguration(call: Call): Configuration {
  const configuration = retrievePaymentMethodConfiguration(call);
  const { link } = call.params as Stripe.PaymentMethodConfigurationUpdateParams;
  const preference = link?.display_preference?.preference;
  if (preference === undefined) return configuration;
  // The preference `none` means the default, which is `on` unless the configuration inherits from another configuration (its
  // parent).
  const updated: Configuration = {
    ...configuration,
    link: {
      ...shown(preference === 'off' ? 'off' : 'on'),
      display_preference: { overridable: null, preference, value: preference === 'off' ? 'off' : 'on' },
    },
  };
  call.store.save(updated);
  return updated;
}
