import { orderingJoin, paidJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, test } from './fixtures.ts';

const HOME = '/registration/get-started';

/**
 * Paths of each kind, with the path to which the page redirects a browser that has no stored session. The other paths are in
 * packages/core/navigation.test.ts.
 */
const withoutSession: Record<string, string> = {
  '/registration/101/init': '/registration/student-details',
  '/registration/student-details': HOME,
  '/registration/congratulations': HOME,
  '/initialize/checkout?vid=101': '/registration/checkout',
  '/upload/a-code-of-yesterday': '/upload/a-code-of-yesterday',
  '/unsubscribe/a-token-of-nobody': '/unsubscribe/a-token-of-nobody',
  '/no/such/page': HOME,
};

test('without a stored session a path of each kind leads where the guard says', async ({
  page,
  complaints,
}) => {
  // No code, token or number in these paths is valid.
  complaints.expectFailedRequests();
  for (const [path, end] of Object.entries(withoutSession)) {
    await page.goto(path);
    await expect(page, path).toHaveURL(end);
    await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
    await page.evaluate(() => localStorage.clear());
  }
});

test('an address that the site does not have is 404, whatever the browser is shown there', async ({
  page,
}) => {
  for (const path of ['/metrics', '/wp-login.php', '/registration/get-started%', '/%ff']) {
    const response = await page.goto(path);
    expect(response?.status(), path).toBe(404);
    await expect(page, path).toHaveURL(HOME);
  }
  expect((await page.goto('/registration/checkout'))?.status()).toBe(200);
  expect((await page.goto('/upload-resume/101/extra'))?.status()).toBe(404);
  const main = page.getByRole('main');
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible();
  await expect(main.getByText(/join/), 'there is none').toHaveCount(0);
  await expect(main.getByRole('link', { name: 'Get Started' })).toBeVisible();
});

test('the guard takes nothing of an address along but the programme', async ({ page }) => {
  const secret = 'payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_2&redirect_status=succeeded';
  await page.goto(`/registration/post-payment?${secret}`);
  await expect(page).toHaveURL(HOME);
  await page.goto(`/?${secret}`);
  await expect(page).toHaveURL(HOME);
  await page.goto(`/registration/upgrade?${secret}&programme=undergraduate`);
  await expect(page).toHaveURL(`${HOME}?programme=undergraduate`);
  await expect(page.getByText('Honor Collegians')).toHaveCount(0);
  await page.getByRole('button', { name: 'I am Self-Nominating' }).click();
  await expect(page.getByText('Honor Collegians').first()).toBeVisible();
});

test('a joiner whose bank leads back to a browser that knows no join reads how to open the join there', async ({
  page,
}) => {
  await page.addInitScript(() => {
    for (const storage of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, storage, {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      });
  });
  await page.goto('/registration/get-started');
  const note = page.getByRole('status').filter({ hasText: 'If you have just paid' });
  await expect(page.getByRole('heading', { level: 1, name: 'Get Started' })).toBeVisible();
  await expect(note).toHaveCount(0);
  const secret = 'payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_2&redirect_status=succeeded';
  await page.goto(`/registration/post-payment?${secret}`);
  await expect(page).toHaveURL(HOME);
  await expect(note).toBeVisible();
  await expectAccessible(page);
  expect(
    await page.evaluate(() => JSON.stringify(history.state) + document.documentElement.innerHTML),
  ).not.toContain('pi_1');
  await note.getByRole('link', { name: 'Send me my link' }).click();
  await expect(page).toHaveURL('/pass');
});

const CHECKOUT = '/registration/checkout';
const DETAILS = '/registration/student-details';
const WELCOME = '/registration/congratulations';
test('in each of its states a join opens the screens that it allows, a paid one where it left off, and is charged once', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 409/, /payment return misses its parameters/);
  // The other paths are in packages/core/joinSession.test.ts.
  const leads = async (ends: Record<string, string>) => {
    for (const [path, end] of Object.entries(ends)) {
      await page.goto(path);
      await expect(page, path).toHaveURL(end);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    }
  };
  const uuid = await startedJoin(page);
  const same = async () => uuid;
  await test.step('just started', () =>
    leads({
      '/': HOME,
      '/registration/membership': DETAILS,
      [WELCOME]: DETAILS,
      '/registration/initiate/upgrade?payment_intent=pi_1': DETAILS,
      '/no/such/page': '/no/such/page',
    }));
  await orderingJoin(page, same);
  await test.step('at Checkout', () =>
    leads({ [DETAILS]: DETAILS, [CHECKOUT]: CHECKOUT, [WELCOME]: CHECKOUT }));
  const { intent, upgradePath } = await paidJoin(page, same);
  await test.step('paid', async () => {
    for (const path of [DETAILS, CHECKOUT, '/registration/initiate/upgrade']) {
      await page.goto(path);
      await expect(page.getByRole('button', { name: 'Upgrade Now' }), path).toBeVisible();
    }
    await page.goto(upgradePath);
    await page.getByRole('button', { name: 'Skip' }).click();
    await expect(page).toHaveURL(WELCOME);
    await leads({ [CHECKOUT]: WELCOME, [upgradePath]: WELCOME });
  });
  expect(await stripeApi.taken(intent)).toEqual([6500]);
});

test('a session that no longer exists is told so at every screen, which has no form then, and one can start over', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto('/');
  for (const screen of [
    'student-details',
    'membership',
    'checkout',
    'upgrade',
    'upload-transcript',
    'congratulations',
  ])
    await test.step(screen, async () => {
      await page.evaluate(() =>
        localStorage.setItem('joinSessionUuid', '00000000-0000-4000-8000-000000000000'),
      );
      await page.goto(`/registration/${screen}`);
      await expect(page.getByRole('main').getByRole('alert')).toContainText(
        'This join session was not found. Please start over.',
      );
      await expect(page.getByRole('textbox')).toHaveCount(0);
      await expect(page.getByRole('button', { name: 'Save' })).toHaveCount(0);
      await page.getByRole('button', { name: 'Start Over' }).click();
      await expect(page).toHaveURL(HOME);
      expect(await page.evaluate(() => localStorage.getItem('joinSessionUuid'))).toBeNull();
    });
});
