import type { Surroundings } from './induct.ts';

/** What a provider has, asked by its own interface: for comparing it with what we have. */

/** All objects of a kind, as `payment_intents`, newest first. */
export async function listStripe<T extends { id: string }>(
  { url, secretKey }: Pick<Surroundings['stripe'], 'url' | 'secretKey'>,
  kind: string,
): Promise<T[]> {
  const all: T[] = [];
  for (let after: string | undefined; ; after = all.at(-1)!.id) {
    const query = new URLSearchParams({ limit: '100', ...(after && { starting_after: after }) });
    const page = await ask<{ data: T[]; has_more: boolean }>(`${url}/v1/${kind}?${query}`, secretKey);
    all.push(...page.data);
    if (!page.has_more) return all;
  }
}

/** All contacts with some of their properties. */
export async function listContacts(
  { url, accessToken }: Pick<Surroundings['hubspot'], 'url' | 'accessToken'>,
  properties: readonly string[],
): Promise<{ id: string; properties: Record<string, string | null> }[]> {
  const all: { id: string; properties: Record<string, string | null> }[] = [];
  for (let after: string | undefined; ; ) {
    const query = new URLSearchParams({
      limit: '100',
      properties: properties.join(','),
      ...(after && { after }),
    });
    const page = await ask<{ results: typeof all; paging?: { next: { after: string } } }>(
      `${url}/crm/objects/2026-09/contacts?${query}`,
      accessToken,
    );
    all.push(...page.results);
    if (!page.paging) return all;
    after = page.paging.next.after;
  }
}

/** Confirms an intent with a test card, as Stripe's script does in the browser. */
export async function confirmCard(
  { url, secretKey }: Pick<Surroundings['stripe'], 'url' | 'secretKey'>,
  intent: string,
  returnUrl: string,
  card = 'pm_card_visa',
): Promise<void> {
  const form = new URLSearchParams({ payment_method: card, return_url: returnUrl });
  await ask(`${url}/v1/payment_intents/${intent}/confirm`, secretKey, form);
}

/** GET, or POST with a form. */
async function ask<T>(url: string, token: string, form?: URLSearchParams): Promise<T> {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    ...(form && { method: 'POST', body: form }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Uses a control of the stand-in for Stripe (emulators/README.md): what banks, networks and its operators do. */
export async function controlStripe<T = unknown>(
  { url }: Pick<Surroundings['stripe'], 'url'>,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<T> {
  const answer = await fetch(`${url}/_emulator/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
