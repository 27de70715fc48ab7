import { randomUUID } from 'node:crypto';
import type { Page, Route } from '@playwright/test';
import { type CallName, calls, pathOf } from '../../packages/contract/calls.ts';
import { details as validDetails } from '../harness/steps.ts';
import { theInduct } from './fixtures.ts';
import { stripe } from './providers.ts';

/** Returns valid student details with a unique email. `change` replaces some of them. */
export function details(change: Record<string, unknown> = {}) {
  return {
    ...validDetails({ personalEmail: `jordan.${randomUUID().slice(0, 8)}@example.com` }),
    isTOLA: true,
    ...change,
  };
}

/**
 * Makes an API call with the cookies of the page's browser. Tests use this function to put a join into a state without going
 * through the screens.
 */
export async function call(
  page: Page,
  name: CallName,
  params: Record<string, string> = {},
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which data it asks for
): Promise<any> {
  const url = theInduct().server.url + pathOf(name, params);
  const { request } = page.context();
  const response = body === undefined ? await request.get(url) : await request.post(url, { data: body });
  const answer = await response.json();
  if (!response.ok()) throw new Error(`${name}: ${response.status()} ${JSON.stringify(answer)}`);
  return answer.data;
}

/** Stores the session's id when the browser opens its first page. Storing it at every page would undo Start Over. */
export async function storeSession(page: Page, uuid: string): Promise<void> {
  await page.context().addInitScript((value) => {
    if (!location.protocol.startsWith('http') || document.cookie.includes('arranged=1')) return;
    // biome-ignore lint/suspicious/noDocumentCookie: it outlives a tab, and shows that this was done
    document.cookie = 'arranged=1; path=/';
    localStorage.setItem('joinSessionUuid', value);
  }, uuid);
}

/** Starts a join with a school's invite code. Such a code can be used any number of times. */
export async function startedJoin(page: Page): Promise<string> {
  const { uuid } = await call(page, 'initiateSchoolJoin', {}, { invitationCode: 'LINCOLN2026' });
  await storeSession(page, uuid);
  return uuid;
}

export async function selfNomination(page: Page, { isTOLA = true } = {}): Promise<string> {
  const body = { hasConfirmedEligibility: true, isTOLA };
  const { uuid } = await call(page, 'initiateSelfNomination', {}, body);
  await storeSession(page, uuid);
  return uuid;
}

type Start = (page: Page) => Promise<string>;

export async function detailedJoin(page: Page, start: Start = startedJoin): Promise<string> {
  const uuid = await start(page);
  await call(page, 'submitDetails', { uuid }, details());
  return uuid;
}

/** Makes a join that has a membership in its order, so that Checkout is open. */
export async function orderingJoin(
  page: Page,
  start: Start = startedJoin,
  membershipId = 1,
): Promise<string> {
  const uuid = await detailedJoin(page, start);
  await call(page, 'setMembership', { uuid }, { membershipId });
  return uuid;
}

export async function openIntent(
  page: Page,
  uuid: string,
): Promise<{ id: string; secret: string; revision: number }> {
  const { products, billingEmail } = await call(page, 'getCheckoutDetails', { uuid });
  const amount = (products as { price: string }[]).reduce(
    (sum, { price }) => sum + Math.round(Number(price) * 100),
    0,
  );
  const intent = await call(page, 'createPaymentIntent', { uuid }, { amount, currency: 'usd', billingEmail });
  const secret = intent.clientSecret as string;
  return { id: secret.split('_secret_')[0]!, secret, revision: intent.revision };
}

export interface PaidJoin {
  uuid: string;
  intent: string;
  upgradePath: string;
}

/** Makes a paid join whose upgrade is not decided yet. */
export async function paidJoin(
  page: Page,
  start: Start = startedJoin,
  card = 'pm_card_visa',
  membershipId = 1,
): Promise<PaidJoin> {
  const { server, stripe: account } = theInduct();
  const uuid = await orderingJoin(page, start, membershipId);
  const { id, secret, revision } = await openIntent(page, uuid);
  await call(page, 'beginPayment', { uuid }, { revision });
  await stripe(account).confirm(id, card, `${server.url}/registration/post-payment`);
  const body = { paymentIntent: id, paymentIntentClientSecret: secret, redirectStatus: 'succeeded' };
  await call(page, 'postPayment', { uuid }, body);
  return { uuid, intent: id, upgradePath: `/registration/upgrade?payment_intent=${id}` };
}

/**
 * Makes two joins by the same invitation. The first join is at Checkout in `page`, and its uuid is returned. The returned
 * function `pays` makes the second join in the page `winner`, pays for that join, and resolves with its uuid.
 */
export async function twoJoins(
  page: Page,
  winner: Page,
  { code, contactId }: { code: string; contactId: string },
): Promise<{ uuid: string; pays: () => Promise<string> }> {
  const start = async (one: Page) => {
    await call(one, 'checkEligibility', {}, { invitationCode: code });
    const body = { contactId, invitationCode: code };
    const { uuid } = await call(one, 'initiateJoin', {}, body);
    await storeSession(one, uuid);
    return uuid as string;
  };
  const uuid = await orderingJoin(page, start);
  return { uuid, pays: async () => (await paidJoin(winner, start)).uuid };
}

/** Returns a URL pattern that matches an API call with any path parameters. */
export const route = (name: CallName) => `**${calls[name].path.replace(/\{\w+\}/g, '*')}`;

/** Delays a call until the returned function is called. */
export const hold = (page: Page, name: CallName) => holdRequests(page, route(name));

/** Delays all requests that match a URL pattern until the returned function is called. */
export async function holdRequests(page: Page, pattern: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(pattern, async (request) => {
    await released;
    await request.fallback();
  });
  return release;
}

/**
 * Handles only the first request that matches a URL pattern; later ones pass. Used instead of Playwright's `times`, for the
 * reason given at `unroute`.
 */
export async function routeOnce(
  page: Page,
  pattern: Pattern,
  handle: (route: Route) => unknown,
): Promise<void> {
  await keepIntercepting(page);
  await page.route(pattern, handle, { times: 1 });
}

/**
 * Removes the handlers of a URL pattern, or all handlers. When Playwright removes the last handler, it stops intercepting, and
 * Chromium loses the requests in progress. So a handler that matches nothing is always kept.
 */
export async function unroute(
  page: Page,
  pattern?: Pattern,
  handle?: (route: Route) => unknown,
): Promise<void> {
  await keepIntercepting(page);
  await (pattern === undefined ? page.unrouteAll() : page.unroute(pattern, handle));
}

type Pattern = Parameters<Page['route']>[0];

function keepIntercepting(page: Page): Promise<unknown> {
  return page.context().route('http://unused.invalid/', (route) => route.fallback());
}

/**
 * Changes the data in the answers to one API call before the page gets them. Used for data that the server would answer only
 * after many steps, and for tests of the screen alone.
 */
// biome-ignore lint/suspicious/noExplicitAny: a test knows which data it changes
export async function alter(page: Page, name: CallName, edit: (data: any) => void): Promise<void> {
  await page.route(route(name), async (request) => {
    const answer = await (await request.fetch()).json();
    edit(answer.data);
    await request.fulfill({ json: answer });
  });
}

/**
 * Makes Checkout show a long and expensive order: 21 lines and a total of $10,064.80. The order in the database, and the payment
 * intent for it, stay as they are.
 */
export async function fillOrder(page: Page, longName: string): Promise<void> {
  await alter(page, 'getCheckoutDetails', (data) => {
    const [membership] = data.products;
    const items = Array.from({ length: 20 }, (_, index) => ({
      ...membership,
      sessionProductUuid: `item-${index}`,
      uuid: `item-${index}`,
      productType: 'store',
      name: index % 3 ? `Pin ${index}` : `Walnut-framed certificate ${longName}`,
      price: '499.99',
    }));
    data.products = [membership, ...items];
  });
  await page.route(route('createPaymentIntent'), (request) =>
    request.continue({ postData: JSON.stringify({ ...request.request().postDataJSON(), amount: 6500 }) }),
  );
}

export async function refuse(page: Page, name: CallName, status: number, message?: string): Promise<void> {
  const json = { success: false, status: 'error', ...(message && { message }) };
  await page.route(route(name), (request) => request.fulfill({ status, json }));
}

/** Pays for a join. Returns the path of the page that verifies its membership. */
export async function verifyPathOfMember(page: Page): Promise<string> {
  const { uuid } = await paidJoin(page);
  return `/verify/${(await call(page, 'getWelcome', { uuid })).papers.number}`;
}
