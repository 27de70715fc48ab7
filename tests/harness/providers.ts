import { HUBSPOT_ACCESS_TOKEN, STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import type { LedgerEntry } from '../../emulators/shared/ledger.ts';

/**
 * Functions that call a provider's stand-in by its URL. Some call the provider's own API, others the stand-in's controls
 * (emulators/README.md).
 */

/** Calls Stripe as its dashboard or the page's script would. Returns the answer, whatever its status. */
export async function requestStripe<Body>(
  url: string,
  method: string,
  path: string,
  form?: Record<string, string>,
  signal: AbortSignal | null = null,
): Promise<{ status: number; body: Body }> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${STRIPE_SECRET_KEY}` },
    ...(form && { body: new URLSearchParams(form) }),
    signal,
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}

/** Calls Stripe like {@link requestStripe}, and throws when Stripe refuses the call. */
export async function askStripe<Body>(
  url: string,
  method: string,
  path: string,
  form?: Record<string, string>,
): Promise<Body> {
  const { status, body } = await requestStripe<Body>(url, method, path, form);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Returns all objects of a kind, such as `payment_intents`, newest first, read page by page. */
export async function listStripe<Kind extends { id: string }>(
  url: string,
  kind: string,
  ask: <Body>(method: string, path: string) => Promise<Body> = (method, path) => askStripe(url, method, path),
): Promise<Kind[]> {
  const all: Kind[] = [];
  for (let after = ''; ; after = `&starting_after=${all.at(-1)!.id}`) {
    const page = await ask<{ data: Kind[]; has_more: boolean }>('GET', `/v1/${kind}?limit=100${after}`);
    all.push(...page.data);
    if (!page.has_more) return all;
  }
}

/** Confirms an intent with a test card, as Stripe's script does in the browser. */
export function confirmCard(
  url: string,
  intent: string,
  returnUrl: string,
  card = 'pm_card_visa',
): Promise<unknown> {
  const form = { payment_method: card, return_url: returnUrl };
  return askStripe(url, 'POST', `/v1/payment_intents/${intent}/confirm`, form);
}

export interface HubspotContact {
  id: string;
  properties: Record<string, string | null>;
}

/** Calls HubSpot's contacts API, at a path below `contacts`. Throws when HubSpot refuses the call. */
export async function askHubspot<Body = HubspotContact>(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<Body> {
  const answer = await fetch(`${url}/crm/objects/2026-09/contacts${path}`, {
    method,
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/** Returns all contacts of the account at `url`, each with the values of `properties`. */
export async function listContacts(url: string, properties: readonly string[]): Promise<HubspotContact[]> {
  const all: HubspotContact[] = [];
  for (let after = ''; ; ) {
    const page = await askHubspot<{ results: HubspotContact[]; paging?: { next: { after: string } } }>(
      url,
      'GET',
      `?limit=100&properties=${properties.join(',')}${after}`,
    );
    all.push(...page.results);
    if (!page.paging) return all;
    after = `&after=${page.paging.next.after}`;
  }
}

/** Calls a control of a stand-in: a call that only tests make, to do what banks, networks and the provider's own staff do. */
export async function control<Body = unknown>(
  url: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<Body> {
  const answer = await fetch(`${url}/_emulator/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/** Adds a fault to a stand-in; `null` removes all faults. */
export function setFault(url: string, fault: object | null): Promise<unknown> {
  return control(url, fault ? 'POST' : 'DELETE', 'faults', fault ?? undefined);
}

/** Returns the requests that a stand-in received since it started, or since its requests were last deleted. */
export const requestsTo = (url: string) => control<LedgerEntry[]>(url, 'GET', 'requests');
export const forgetRequests = (url: string) => control(url, 'DELETE', 'requests');
