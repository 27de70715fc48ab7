import type { Page } from '@playwright/test';
import { alter, call, details, fillOrder, orderingJoin, paidJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, test } from './fixtures.ts';
import { screens } from './screens.ts';
import { button, heading, total } from './steps.ts';

// Names, orders and letters larger than anybody drew the pages for.

test.use({ contextOptions: { reducedMotion: 'reduce' } });

const LONG = 'Maximiliana-Theodora Konstantinopoulou-Featherstonehaugh';

/** The size that a reader asks the browser for. */
async function doubleText(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
  });
}

for (const { name, arrange, isThere } of screens) {
  test(`${name} holds letters of twice the size, and keeps its words in forced colours`, async ({
    page,
    complaints,
  }) => {
    complaints.expect(/The payment was not completed/);
    await page.goto(await arrange(page));
    await expect(isThere(page)).toBeVisible();
    await page.emulateMedia({ forcedColors: 'active' });
    await expectAccessible(page);
    await page.emulateMedia({ forcedColors: 'none' });
    // 640 px at twice the size are 320 at once.
    await page.setViewportSize({ width: 640, height: 900 });
    await doubleText(page);
    await expectFits(page);
    await expectAccessible(page);
  });
}

test('in forced colours a chosen membership, a chosen gift and the current step are told by more than colour', async ({
  page,
}) => {
  await orderingJoin(page);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/registration/membership');
  const chosen = page.getByRole('listitem').filter({ has: button(page, 'Selected: Membership') });
  await expect(chosen.first()).toHaveCSS('outline-style', 'solid');
  await expect(button(page, 'Selected: Membership')).toHaveText('Selected');
  await page.goto('/registration/checkout');
  await button(page, 'Donate $25').click();
  await expect(button(page, 'Donate $25')).toHaveAttribute('aria-pressed', 'true');
  await expect(button(page, 'Donate $25').locator('svg')).toBeVisible();
});

test('a long name and a long school fit Student Details at 320 px @phone', async ({ page }) => {
  const uuid = await startedJoin(page);
  const body = details({ firstName: LONG, lastName: LONG, highSchoolName: `${LONG} ${LONG} Academy` });
  await call(page, 'submitDetails', { uuid }, body);
  await page.goto('/registration/student-details');
  await expect(page.getByLabel('First name')).toHaveValue(LONG);
  await expectNoSidewaysScroll(page);
});

test('a long name fits the welcome page and its receipt at 320 px @phone', async ({ page }) => {
  await paidJoin(page);
  await alter(page, 'getWelcome', (data) => {
    data.firstName = LONG;
    data.receipt.name = `${LONG} ${LONG}`;
  });
  await page.goto('/registration/congratulations');
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await expectNoSidewaysScroll(page);
});

test('twenty items, each at $499.99 and some with long names, fit the order summary at 320 px @phone', async ({
  page,
  isMobile,
}) => {
  await orderingJoin(page);
  await fillOrder(page, LONG.replaceAll(' ', ''));
  await page.goto('/registration/checkout');
  if (isMobile) await button(page, 'Show order summary').click();
  await expect(total(page)).toHaveText('$10,064.80');
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});
