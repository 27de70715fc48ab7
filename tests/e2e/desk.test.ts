import type { Page } from '@playwright/test';
import { bringAuthenticator, deskLink, enterDesk, linkOfOperator, signIn, test } from './desk.ts';
import { expect, expectAccessible, theInduct } from './fixtures.ts';
import { button, heading } from './steps.ts';

const banner = (page: Page) => page.getByRole('banner');
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search people' });

/** Opens the menu of the member of staff who is signed in. */
const openMenu = (page: Page, name: string) => button(page, name).click();

test('a link signs one browser in, once, at the press of a button, and its secret leaves the address', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto(`/?${new URLSearchParams({ refused: 'Call 555 0100 and read out your sign-in link.' })}`);
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expect(page.getByText(/555 0100/), 'somebody else may have written it').toHaveCount(0);

  const link = await linkOfOperator('Ada Link');
  const called: string[] = [];
  page.on('request', (request) => called.push(new URL(request.url()).pathname));
  await page.goto(link);
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expect(page).toHaveURL('/enter');
  expect(called).not.toContain('/api/desk/enter');
  await button(page, 'Sign in').click();
  await expect(heading(page, 'Today')).toBeVisible();
  await expect(banner(page)).toContainText('Test data: no money moves.');

  await page.goto(link);
  await button(page, 'Sign in').click();
  await expect(page.getByRole('alert')).toHaveText(
    'This link was used already, or has expired. Ask for a new one.',
  );
  await expectAccessible(page);
  // In the same tab, the new URL differs only after the `#`.
  await page.goto(await deskLink('Ada Link'));
  await expect(page).toHaveURL('/enter');
  await button(page, 'Sign in').click();
  await expect(heading(page, 'Today')).toBeVisible();
});

test('what is typed while the page is first loaded stays, and Today is asked for once', async ({ page }) => {
  await enterDesk(page, 'Eve Early');
  const held = Promise.withResolvers<void>();
  let asked = 0;
  await page.route('**/api/desk/today', async (route) => {
    asked++;
    await held.promise;
    await route.continue();
  });
  await page.goto('/', { waitUntil: 'commit' });
  await search(page).pressSequentially('lop');
  held.resolve();
  await expect(page.getByText('answering').first()).toBeVisible();
  await expect(search(page)).toBeFocused();
  await page.keyboard.type('ez');
  await expect(search(page)).toHaveValue('lopez');
  expect(asked).toBe(1);
});

test('a passkey is added, and signs in after signing out, and again in the middle of work', async ({
  page,
  context,
  complaints,
}) => {
  const name = 'Ben Passkey';
  await bringAuthenticator(context, page);
  await enterDesk(page, name);
  await openMenu(page, name);
  await page.getByRole('link', { name: 'Passkeys' }).click();
  await expect(heading(page, 'Passkeys')).toBeFocused();
  await button(page, 'Add a passkey').click();
  await expect(page.getByText('This device has a passkey now.')).toBeVisible();

  complaints.expectFailedRequests();
  await openMenu(page, name);
  await button(page, 'Sign out').click();
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Sign in with a passkey').click();
  await expect(heading(page, 'Today')).toBeVisible();

  await context.clearCookies();
  await search(page).fill('nobody is called this');
  await search(page).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await expect(page.getByText('Nobody found.')).toBeVisible();
  await expect(search(page)).toHaveValue('nobody is called this');

  await page.goto('/passkeys');
  await button(page, 'Sign out everywhere').click();
  await expect(heading(page, 'Sign in')).toBeVisible();
});

test('where a link leads to a passkey, the session begins with it', async ({ page, context }) => {
  const name = 'Cleo Live';
  await signIn(page, name);
  // The answer of a server in live mode to the link.
  const { url } = theInduct().desk!;
  const answer = await page.request.post(`${url}/api/desk/passkey/options`, {
    data: { isNew: true },
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
  });
  const { options } = (await answer.json()).data;
  await context.clearCookies();
  await page.route('**/api/desk/enter', (route) =>
    route.fulfill({ json: { success: true, status: 'success', data: { options } } }),
  );
  await bringAuthenticator(context, page);
  await page.goto(await deskLink(name));
  await button(page, 'Sign in').click();
  await expect(heading(page, 'Add a passkey')).toBeFocused();
  await expectAccessible(page);
  await button(page, 'Add a passkey').click();
  await expect(heading(page, 'Today')).toBeVisible();
});

test('a person is found and opened by keyboard alone, and each tab has an address', async ({
  page,
  invitation,
}) => {
  await enterDesk(page, 'Dora Keys');
  await page.keyboard.press('/');
  await expect(search(page)).toBeFocused();
  await page.keyboard.type(invitation.email);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'People')).toBeFocused();
  await expect(page).toHaveURL(`/people?text=${encodeURIComponent(invitation.email)}`);
  const rows = page.getByRole('table').getByRole('link');
  await expect(rows).toHaveText(['Jordan Rivera']);
  await page.keyboard.press('Tab');
  await expect(rows.first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Jordan Rivera')).toBeFocused();
  await expect(page.getByRole('main')).toContainText(invitation.email);

  const { pathname } = new URL(page.url());
  for (const [path, tab] of [
    ['/story', 'Story'],
    ['/letters', 'Letters'],
    ['/documents', 'Documents'],
    ['/hubspot', 'HubSpot'],
  ]) {
    const link = page.getByRole('main').getByRole('link', { name: tab!, exact: true });
    await link.focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(pathname + path);
    await expect(link).toHaveAttribute('aria-current', 'page');
    await page.reload();
    await expect(link).toHaveAttribute('aria-current', 'page');
  }
  await page.goto('/people?text=nobody%20is%20called%20this');
  await expect(page.getByText('Nobody found.')).toBeVisible();
  await expect(page.getByText('HubSpot was asked as well and knows nobody')).toBeVisible();
});

test('the arrows move between the rows that were found, and the same search again begins the list anew', async ({
  page,
}) => {
  await signIn(page, 'Ed Arrows');
  await page.goto('/people?text=Rivera');
  const rows = page.getByRole('table').getByRole('link');
  await rows.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(rows.nth(2)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(rows.nth(1)).toBeFocused();
  // More persons have this name than fit on a page.
  await expect(rows).toHaveCount(50);
  await button(page, 'Show more').click();
  await expect(rows.nth(50)).toBeFocused();
  await search(page).press('Enter');
  await expect(rows).toHaveCount(50);
});

test('single keys are listed at ?, and can be switched off; opened from the menu they give the focus back to it', async ({
  page,
}) => {
  const name = 'Fay Voice';
  await enterDesk(page, name);
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel('Use single keys').uncheck();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.reload();
  await expect(heading(page, 'Today')).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.press('?');
  await expect(search(page)).not.toBeFocused();
  await expect(dialog).toHaveCount(0);
  await button(page, name).focus();
  await page.keyboard.press('Enter');
  await button(page, 'Keys').focus();
  await page.keyboard.press('Enter');
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(button(page, name)).toBeFocused();
});

test('what cannot be loaded says so with its reference, and tries again; what does not exist has a way back', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await enterDesk(page, 'Gil Failure');
  await page.route('**/api/desk/today', (route) =>
    route.fulfill({
      status: 500,
      json: { success: false, status: 'error', message: 'Something went wrong.', reference: '1a2b3c4d' },
    }),
  );
  await page.goto('/');
  await expect(heading(page, 'This could not be loaded.')).toBeVisible();
  await expect(page.getByText('Reference: 1a2b3c4d')).toBeVisible();
  await expectAccessible(page);
  await page.unroute('**/api/desk/today');
  await button(page, 'Try again').click();
  await expect(heading(page, 'Today')).toBeVisible();

  await page.goto('/people/999999999');
  await page.getByRole('link', { name: 'Go to People' }).click();
  await expect(heading(page, 'People')).toBeVisible();
  await page.goto('/nowhere');
  await page.getByRole('link', { name: 'Go to Today' }).click();
  await expect(heading(page, 'Today')).toBeVisible();
});
