import type { Page } from '@playwright/test';
import { alter, detailedJoin, hold, holdRequests, orderingJoin, startedJoin, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { serveInPieces } from './inPieces.ts';
import { watchShifts } from './shifts.ts';
import { button, buyNow, cardForm, fillDetails, heading, paidIntent, typeCard } from './steps.ts';

/** Returns a function that lists the screens whose code the page has downloaded so far, by the names of the files. */
function watchDownloads(page: Page): () => string[] {
  const seen: string[] = [];
  page.on('requestfinished', (request) => {
    const name = /\/static\/js\/async\/(\w+)\./.exec(request.url())?.[1];
    if (name) seen.push(name);
  });
  return () => seen;
}

/** Makes every further download of a screen's code fail. */
const endDownloads = (page: Page) =>
  page.route('**/static/js/async/**', (route) => route.abort('connectionrefused'));

test('Get Started is drawn before any script runs, and downloads nothing of a later screen', async ({
  browser,
  page,
  baseURL,
}) => {
  const requested: string[] = [];
  const sources: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'script') return;
    requested.push(new URL(response.url()).pathname);
    sources.push(response.text());
  });
  await page.goto('/', { waitUntil: 'networkidle' });
  await expect(heading(page, 'Get Started')).toBeVisible();
  expect(requested.length).toBeGreaterThan(0);
  expect(requested.filter((path) => !path.startsWith('/static/js/') || path.includes('/async/'))).toEqual([]);
  expect(requested.filter((path) => path.includes('stripe'))).toEqual([]);
  // The downloads must contain no words of any later screen.
  const source = (await Promise.all(sources)).join();
  expect(source).toContain('I am Self-Nominating');
  for (const words of [
    'Graduation year',
    'Choose this membership',
    'Buy Now',
    'Upgrade Now',
    'Drop your',
    'Shop Now',
  ])
    expect(source.includes(words), words).toBe(false);
  const withoutScripts = await browser.newContext({ javaScriptEnabled: false, baseURL: baseURL! });
  const plain = await withoutScripts.newPage();
  await plain.goto('/registration/get-started');
  await expect(heading(plain, 'Get Started')).toBeVisible();
  await expect(button(plain, 'I have an Invite Code')).toBeVisible();
  const [told, title] = await Promise.all([
    plain.locator('noscript').boundingBox(),
    heading(plain, 'Get Started').boundingBox(),
  ]);
  expect(told!.y).toBeLessThan(title!.y);
  await withoutScripts.close();
});

for (const path of ['/registration/get-started', '/initialize/checkout?vid=103&mp=1'])
  test(`a page that comes in pieces is shown when it is whole: ${path}`, async ({ page, baseURL }) => {
    await using pieces = await serveInPieces(baseURL!, ['Questions? ', '<main', '</h1>']);
    const shifts = await watchShifts(page);
    await page.goto(pieces.url + path);
    await expect(button(page, path.includes('checkout') ? 'Buy Now' : 'Submit')).toBeVisible();
    await page.waitForLoadState('networkidle');
    expect(await shifts()).toEqual([]);
  });

test('a page whose scripts were lost on the way says after a while that it can be reloaded', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/);
  const late = page.getByText('please reload it');
  const isLost = (url: URL) => /^\/static\/js\/index\./.test(url.pathname);
  await page.route(isLost, (route) => route.abort('connectionreset'));
  for (const path of ['/registration/get-started', '/registration/checkout']) {
    await page.goto(path);
    await expect(late).toBeHidden();
    // Finishes the style sheet's animations, as if twenty seconds had passed: Playwright's fake clock does not move them.
    await page.evaluate(() => {
      for (const animation of document.getElementById('late')!.getAnimations()) animation.finish();
    });
    await expect(late).toBeVisible();
  }
  await unroute(page, isLost);
  await page.goto('/registration/get-started');
  await expect(late).toHaveCount(0);
});

test('a chunk that does not load is the router’s error screen, with the chunk’s own message', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/, /Loading chunk \S+ failed/, /Error/);
  await endDownloads(page);
  const reported = page.waitForRequest('**/api/browser-reports');
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await button(page, 'Submit').click();
  await expect(page.getByRole('heading', { name: 'Unexpected Application Error!' })).toBeVisible();
  await expect(page.getByText(/Loading chunk \S+ failed/).first()).toBeVisible();
  const { fault } = (await reported).postDataJSON();
  expect(fault).toMatchObject({ kind: 'chunk', error: 'ChunkLoadError' });
  // No join exists yet, so the page must not say that what was entered is saved.
  await expect(page.getByText(/is saved/)).toHaveCount(0);
});

test('a card form that does not load says so, and one that could not be told of a new total; Try again brings it, and only then it pays', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(
    /^Failed to load resource/,
    /could not be loaded|Failed to load Stripe/,
    /does not have your new total yet/,
  );
  await orderingJoin(page);
  const notLoaded = 'The card form could not be loaded. Nothing was charged. Please check your connection.';
  const again = button(page, 'Try again');
  await test.step('its script', async () => {
    const script = /stripe[^/]*\.js(\?|$)/;
    await page.route(script, (route) => route.abort('connectionrefused'));
    await page.goto('/registration/checkout');
    await expect(page.getByRole('alert')).toHaveText(notLoaded);
    await again.click();
    await expect(page.getByRole('alert')).toBeVisible();
    await unroute(page, script);
    await again.click();
    await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  });
  await test.step('a part of it, which is logged', async () => {
    await page.route('**/v1/payment_intents/*', (route) => route.abort('connectionrefused'));
    await page.goto('/registration/checkout');
    await expect(page.getByRole('alert')).toHaveText(notLoaded);
    await expect(button(page, 'Buy Now')).toHaveCount(0);
    expect(complaints.seen.some((text) => text.includes('card form could not be loaded'))).toBe(true);
    await unroute(page);
    await again.click();
    await typeCard(page);
  });
  await test.step('a new total', async () => {
    await page.route('**/v1/payment_intents/*', (route) => route.abort('connectionrefused'));
    await button(page, 'Donate $25').click();
    await expect(page.getByRole('alert')).toContainText('does not have your new total yet');
    await expect(button(page, 'Buy Now')).toBeDisabled();
    // Buy Now is disabled. Enter within the card form must not pay either.
    await cardForm(page).getByLabel('Security code').press('Enter');
    await again.click();
    await expect(page.getByRole('alert')).toContainText('does not have your new total yet');
    await unroute(page);
    await again.click();
    await expect(button(page, 'Buy Now')).toBeEnabled();
    await buyNow(page);
    expect(await stripeApi.taken(await paidIntent(page))).toEqual([9000]);
  });
});

/** A picture that is three times as high as it is wide. */
const PORTRAIT = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="100" height="300"/>')}`;

test('a picture of a product fills its square, and a drawn one takes the place of one that is lost', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 404/);
  await orderingJoin(page);
  await page.route('**/lost.png', (request) => request.fulfill({ status: 404 }));
  await alter(page, 'getCheckoutDetails', ({ recommendedProducts: [pin, stole] }) => {
    pin.icon = '/lost.png';
    stole.icon = PORTRAIT;
  });
  await page.goto('/registration/checkout');
  const item = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  const picture = item('Honor Stole').locator('img');
  await expect(picture).toBeVisible();
  expect(await picture.boundingBox()).toEqual(await picture.locator('..').boundingBox());
  await expect(item('Lapel Pin').locator('svg')).toBeVisible();
  await expect(item('Lapel Pin').locator('img')).toHaveCount(0);
});

test('Get Started is taken over as it was painted, with what was typed before; Submit cannot be pressed again while the server is asked', async ({
  page,
  complaints,
}) => {
  const arrive = await holdRequests(page, '**/static/js/index*');
  await page.goto('/', { waitUntil: 'commit' });
  await page.getByRole('contentinfo').waitFor();
  const painted = await page.evaluateHandle(() => [...document.querySelectorAll('#root, #root *')]);
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await expect(button(page, 'Submit')).toBeDisabled();
  arrive();
  await expect(button(page, 'Submit')).toBeEnabled();
  expect(await painted.evaluate((elements) => elements.filter((one) => !one.isConnected).length)).toBe(0);
  expect(complaints.seen).toEqual([]);
  const answer = await hold(page, 'checkEligibility');
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/eligibility/check')) calls++;
  });
  await button(page, 'Submit').click();
  await expect(button(page, 'Submitting...')).toBeDisabled();
  await page.getByLabel('Invite code').press('Enter');
  answer();
  await expect(page).toHaveURL('/registration/student-details');
  expect(calls).toBe(1);
});

test('any other screen shows whose it is and that it loads before any script, and stays in view until it is drawn', async ({
  page,
}) => {
  await startedJoin(page);
  const arrive = await holdRequests(page, '**/static/js/index*');
  await page.goto('/registration/student-details', { waitUntil: 'commit' });
  await expect(page.getByRole('status')).toHaveText('Loading…');
  await expect(page.getByRole('banner')).toContainText('Collegiate Honor Society');
  await page.evaluate(() => {
    const root = document.getElementById('root')!;
    new MutationObserver(() => {
      if (root.childElementCount !== 1) root.dataset.wasEmpty = 'true';
    }).observe(root, { childList: true });
  });
  arrive();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect(page.locator('#root')).not.toHaveAttribute('data-was-empty');
});

test('the next screen is there before the press: from Get Started, Student Details and Membership', async ({
  page,
  complaints,
}) => {
  // Each screen downloads the next screen's code in advance. The test makes all downloads fail right before it opens the next
  // screen. So that screen fails to download the code of the screen after it.
  complaints.expectFailedRequests();
  // On Membership, the download of the code that sanitizes HTML fails, too.
  complaints.expect(/Loading chunk \S+ failed/);
  const downloads = watchDownloads(page);
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await expect.poll(downloads).toEqual(expect.arrayContaining(['start', 'studentDetails']));
  await page.waitForLoadState('networkidle');
  await endDownloads(page);
  await button(page, 'Submit').click();
  await expect(heading(page, 'Student Details')).toBeVisible();
  // The heading alone proves nothing, since the screen's placeholder has the same heading. But while the placeholder is shown,
  // the URL is still that of the previous screen.
  await expect(page).toHaveURL('/registration/student-details');

  await unroute(page, '**/static/js/async/**');
  await page.reload();
  await fillDetails(page);
  await expect.poll(downloads).toContain('membership');
  await endDownloads(page);
  await button(page, 'Save').click();
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();

  await unroute(page, '**/static/js/async/**');
  await page.reload();
  await expect.poll(downloads).toEqual(expect.arrayContaining(['checkout', 'purify']));
  await page.waitForLoadState('networkidle');
  await endDownloads(page);
  await button(page, 'Choose this membership: Membership').click();
  await typeCard(page);
  await expect(button(page, 'Buy Now')).toBeEnabled();
});

test('a step shows the placeholder of the next screen while its data loads, and Back leaves it', async ({
  page,
}) => {
  await startedJoin(page);
  await page.goto('/registration/student-details');
  await fillDetails(page);
  const answer = await hold(page, 'getMembershipDetails');
  await button(page, 'Save').click();
  const placeholder = page.getByRole('main').getByRole('status').filter({ hasText: 'Loading' });
  await expect(placeholder.locator('[data-count="2"] > div')).toHaveCount(2);
  await expect(page).toHaveTitle('Membership');
  await expect(page.getByLabel('First name')).toHaveCount(0);
  answer();
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
  await expect(heading(page, 'Choose your membership')).toBeFocused();
  await page.goBack();
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
});

test('nothing is prefetched for somebody who saves data', async ({ page }) => {
  await page.addInitScript(() =>
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } }),
  );
  const downloads = watchDownloads(page);
  await startedJoin(page);
  await page.goto('/registration/student-details', { waitUntil: 'networkidle' });
  await fillDetails(page);
  await page.waitForLoadState('networkidle');
  expect(downloads()).not.toContain('membership');
  await button(page, 'Save').click();
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
});

test('only Checkout loads the card provider’s script; Membership makes its connection', async ({ page }) => {
  // Removes the emulator's script from the page, so that the page loads Stripe's own, as with real keys.
  await page.route('**/registration/membership', async (route) => {
    const page = await route.fetch();
    const body = (await page.text()).replace(/"scriptUrl":"[^"]*"/, '"scriptUrl":null');
    await route.fulfill({ response: page, body });
  });
  const asked: string[] = [];
  page.on('request', (request) => {
    if (/stripe[^/]*(\.js|\/)/.test(request.url()) && request.resourceType() === 'script')
      asked.push(request.url());
  });
  await page.route('https://js.stripe.com/**', (route) => route.abort('connectionrefused'));
  await detailedJoin(page);
  await page.goto('/registration/membership');
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
  await expect(page.locator('link[rel="preconnect"]')).toHaveAttribute('href', 'https://js.stripe.com');
  await page.waitForLoadState('networkidle');
  expect(asked).toEqual([]);

  await unroute(page, '**/registration/membership');
  await page.reload();
  await button(page, 'Choose this membership: Membership').click();
  await typeCard(page);
  expect(asked.length).toBeGreaterThan(0);
});
