import { orderingJoin } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, buyNow, heading, paidIntent, typeCard } from './steps.ts';

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
  // Words of every later screen: none of them is in what was downloaded.
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
  await withoutScripts.close();
});

test('a card form whose script does not load says so, and Try again brings it', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/^Failed to load resource/, /could not be loaded|Failed to load Stripe/);
  await orderingJoin(page);
  const script = /stripe[^/]*\.js(\?|$)/;
  await page.route(script, (route) => route.abort('connectionrefused'));
  await page.goto('/registration/checkout');
  await expect(page.getByRole('alert')).toHaveText(
    'The card form could not be loaded. Nothing was charged. Please check your connection.',
  );
  await button(page, 'Try again').click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.unroute(script);
  await button(page, 'Try again').click();
  await typeCard(page);
  await buyNow(page);
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([6500]);
});

test('a chunk that does not load is the router’s error screen, with the chunk’s own message', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/, /Loading chunk \S+ failed/, /Error/);
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await page.route('**/static/js/async/**', (route) => route.abort('connectionrefused'));
  await button(page, 'Submit').click();
  await expect(page.getByRole('heading', { name: 'Unexpected Application Error!' })).toBeVisible();
  await expect(page.getByText(/Loading chunk \S+ failed/).first()).toBeVisible();
});

test('Submit says Submitting... and cannot be pressed again while the server is asked', async ({ page }) => {
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let calls = 0;
  await page.route('**/eligibility/check', async (route) => {
    calls++;
    await asked;
    await route.continue();
  });
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await button(page, 'Submit').click();
  await expect(button(page, 'Submitting...')).toBeDisabled();
  await page.getByLabel('Invite code').press('Enter');
  answer();
  await expect(heading(page, 'Student Details')).toBeVisible();
  expect(calls).toBe(1);
});

test('waiting has the size of what comes: skeletons for details, two cards and the upgrade, a loader for Checkout', async ({
  page,
}) => {
  await orderingJoin(page);
  let open = () => {};
  await page.route('**/api/public/join-session/**', async (route) => {
    await new Promise<void>((resolve) => {
      open = resolve;
    });
    await route.continue();
  });
  const waiting = page.getByRole('main').getByRole('status').filter({ hasText: 'Loading' });
  for (const path of ['student-details', 'membership', 'checkout']) {
    await page.goto(`/registration/${path}`);
    await expect(waiting.first()).toBeVisible();
    if (path === 'membership') await expect(waiting.locator('[data-count="2"] > div')).toHaveCount(2);
    open();
  }
});

test('what is typed before the scripts have arrived is not lost', async ({ page }) => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route('**/static/js/index*', async (route) => {
    await arrived;
    await route.continue();
  });
  await page.goto('/', { waitUntil: 'commit' });
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await expect(page.getByRole('button', { name: 'Submit' })).toBeDisabled();
  arrive();
  await page.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL('/registration/student-details');
});
