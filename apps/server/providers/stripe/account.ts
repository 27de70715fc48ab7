import Stripe from 'stripe';
import type { Providers } from '../../platform/config/providers.ts';
import type { Answer } from '../answer.ts';
import { stripeClient, unreadableAnswer } from './client.ts';

/** The version of Stripe's API that the server uses. Webhook endpoints must be set to the same version. */
export const stripeApiVersion: string = Stripe.API_VERSION;

/** A webhook endpoint at Stripe. `apiVersion` is null if the endpoint uses the account's default version. */
export interface Endpoint {
  id: string;
  url: string;
  enabled: boolean;
  /** The types of events that the endpoint receives; `*` stands for all. */
  events: readonly string[];
  apiVersion: string | null;
}

/** A domain that is registered for wallets. */
export interface WalletDomain {
  enabled: boolean;
  applePay: boolean;
  /** Stripe's message about why Apple Pay is not active. */
  reason: string | null;
}

/** The facts about a Stripe account that calls can find out without changing anything. */
export interface StripeAccount {
  account: Answer<{ id: string; mayCharge: boolean }>;
  /** For each permission, by its name in Stripe's Dashboard: whether the key may read the objects that the server needs. */
  reads: Record<string, Answer<unknown>>;
  /**
   * For each permission: whether the key may write the objects that the server writes. This is checked with calls that change an
   * object that does not exist: Stripe answers either that the key lacks the permission or that the object does not exist.
   */
  writes: Record<string, Answer<'may'>>;
  /** How far this machine's clock is ahead of Stripe's (ms, exact to about a second); negative if it is behind. */
  clockAheadMs: Answer<number>;
  /**
   * Whether publishable key and secret key belong to the same account. `same`: the publishable key can open the account's newest
   * payment intent. `unproven`: there is no intent yet, but Stripe knows the publishable key.
   */
  publishable: Answer<'same' | 'other' | 'unproven'>;
  endpoints: Answer<Endpoint[]>;
  /** The domain's registration for wallets; null if the domain is not registered. */
  domain: Answer<WalletDomain | null>;
  /** Whether the account's payment method configuration offers Link; null if the account has no configuration of its own. */
  offersLink: Answer<boolean | null>;
}

const TIMEOUT_MS = 10_000;

/**
 * Asks Stripe about the account of the keys, and about one domain. Changes nothing. An error of Stripe is returned, not thrown.
 */
export async function askStripe(
  { secretKey, publishableKey, url }: Providers['stripe'],
  domainName: string,
): Promise<StripeAccount> {
  const client = (key: string) => stripeClient(key, url, { timeoutMs: TIMEOUT_MS, maxNetworkRetries: 1 });
  const stripe = client(secretKey);
  const newest = ask(() => stripe.paymentIntents.list({ limit: 1 }));
  const reads: Record<string, Promise<Answer<unknown>>> = {
    Customers: ask(() => stripe.customers.list({ limit: 1 })),
    PaymentIntents: newest,
    Refunds: ask(() => stripe.refunds.list({ limit: 1 })),
    Charges: ask(() => stripe.charges.list({ limit: 1 })),
    Disputes: ask(() => stripe.disputes.list({ limit: 1 })),
    PaymentMethods: ask(() => stripe.paymentMethods.list({ limit: 1 })),
    Events: ask(() => stripe.events.list({ limit: 1 })),
    'Balance transactions': ask(() => stripe.balanceTransactions.list({ limit: 1 })),
    Payouts: ask(() => stripe.payouts.list({ limit: 1 })),
  };
  const probe = { metadata: { probe: 'induct' } };
  const writes: Record<string, Promise<Answer<'may'>>> = {
    Customers: askToWrite(() => stripe.customers.update('cus_induct_none', probe)),
    PaymentIntents: askToWrite(() => stripe.paymentIntents.update('pi_induct_none', probe)),
    Refunds: askToWrite(() => stripe.refunds.update('re_induct_none', probe)),
    Charges: askToWrite(() => stripe.charges.update('ch_induct_none', probe)),
  };
  const written = Promise.all(Object.values(writes));
  const [account, publishable, endpoints, domain, configurations, clockAheadMs, ...read] = await Promise.all([
    ask(() => stripe.accounts.retrieveCurrent()),
    newest.then((answer) =>
      openIntent(client(publishableKey), 'said' in answer ? answer.said.data[0] : undefined),
    ),
    ask(() => stripe.webhookEndpoints.list({ limit: 100 }).autoPagingToArray({ limit: 1000 })),
    ask(() => stripe.paymentMethodDomains.list({ domain_name: domainName, limit: 1 })),
    ask(() => stripe.paymentMethodConfigurations.list({ limit: 100 })),
    askClock(stripe),
    ...Object.values(reads),
  ]);
  const may = await written;
  return {
    writes: Object.fromEntries(Object.keys(writes).map((name, index) => [name, may[index]!])),
    clockAheadMs,
    account: mapped(account, ({ id, charges_enabled }) => ({ id, mayCharge: charges_enabled })),
    reads: Object.fromEntries(Object.keys(reads).map((name, index) => [name, read[index]!])),
    publishable,
    endpoints: mapped(endpoints, (all) =>
      all.map(({ id, url, status, enabled_events, api_version }) => ({
        id,
        url,
        enabled: status === 'enabled',
        events: enabled_events,
        apiVersion: api_version,
      })),
    ),
    domain: mapped(domain, ({ data: [found] }) =>
      found
        ? {
            enabled: found.enabled,
            applePay: found.apple_pay.status === 'active',
            reason: found.apple_pay.status_details?.error_message ?? null,
          }
        : null,
    ),
    offersLink: mapped(configurations, ({ data }) => {
      // Leaves out the configurations of platforms to which the account is connected: these have an `application`.
      const own = data.find(({ is_default, application }) => is_default && application === null);
      return own ? own.link?.display_preference.value === 'on' : null;
    }),
  };
}

/** Retrieves an intent as a browser would: with the publishable key and the intent's client secret. */
async function openIntent(
  browser: Stripe,
  intent: Stripe.PaymentIntent | undefined,
): Promise<StripeAccount['publishable']> {
  const id = intent?.id ?? 'pi_none';
  const client_secret = intent?.client_secret ?? 'pi_none_secret_none';
  const answer = await ask(() => browser.paymentIntents.retrieve(id, { client_secret }));
  if ('said' in answer) return { said: 'same' };
  // 401 means that Stripe does not know the key. Any other refusal concerns the intent, which means that Stripe knows the key.
  if ('down' in answer || answer.refused.status === 401) return answer;
  return { said: intent ? 'other' : 'unproven' };
}

async function askToWrite(call: () => PromiseLike<unknown>): Promise<Answer<'may'>> {
  const answer = await ask(call);
  return 'refused' in answer && answer.refused.status !== 404
    ? answer
    : 'down' in answer
      ? answer
      : { said: 'may' };
}

/** Compares Stripe's clock, in the Date header of an answer, with the middle of the time between request and answer. */
async function askClock(stripe: Stripe): Promise<Answer<number>> {
  const askedAt = Date.now();
  let headers: Record<string, string> | undefined;
  try {
    headers = (await stripe.balance.retrieve()).lastResponse.headers;
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    headers = error.headers;
  }
  const stripesTime = Date.parse(headers?.date ?? '');
  if (Number.isNaN(stripesTime)) return { down: 'no answer told the time' };
  // The header is rounded down to whole seconds, so half a second is added.
  return { said: Math.round((askedAt + Date.now()) / 2 - (stripesTime + 500)) };
}

async function ask<T>(call: () => PromiseLike<T>): Promise<Answer<T>> {
  try {
    return { said: await call() };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const { statusCode: status = 0 } = error;
    const message = unreadableAnswer(error)?.message ?? error.message;
    const isRefusal = status >= 400 && status < 500 && status !== 429;
    return isRefusal ? { refused: { status, message } } : { down: message };
  }
}

function mapped<T, U>(answer: Answer<T>, change: (said: T) => U): Answer<U> {
  return 'said' in answer ? { said: change(answer.said) } : answer;
}
