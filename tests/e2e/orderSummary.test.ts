import type { Page } from '@playwright/test';
import { alter, fillOrder, orderingJoin } from './arrange.ts';
import { expect, expectAccessible, test } from './fixtures.ts';
import { addressForm, button, cardForm, pay } from './steps.ts';

test('on a phone the order summary drops down under its bar, wherever one has scrolled @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  await page.goto('/registration/checkout');
  await expect(button(page, 'Change billing address')).toBeVisible();
  const summary = page.getByRole('complementary', { name: 'Order summary' });
  await expect(summary).toBeHidden();
  await expect(cardForm(page).getByLabel('Security code')).toBeVisible();
  await page.evaluate(() => window.scrollTo(0, 900));
  const scrolled = await page.evaluate(() => window.scrollY);
  expect(scrolled).toBeGreaterThan(600);
  // Taps at the button's coordinates. Playwright's own tap would scroll first, since it does not know that the bar is sticky.
  const press = async (name: string) => {
    const { x, y, width, height } = (await button(page, name).boundingBox())!;
    await page.touchscreen.tap(x + width / 2, y + height / 2);
  };
  await press('Show order summary');
  const total = summary.getByText('Total Due Today');
  await expect(total).toBeInViewport({ ratio: 1 });
  const [bar, panel] = [await button(page, 'Hide order summary').boundingBox(), await summary.boundingBox()];
  expect(panel!.y).toBeGreaterThanOrEqual(bar!.y + bar!.height - 1);
  expect(panel!.y).toBeLessThan(120);
  expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);
  await expectAccessible(page);

  await page.keyboard.press('Escape');
  await expect(summary).toBeHidden();
  await expect(button(page, 'Show order summary')).toBeFocused();

  // Reads the animations before the first frame, as a busy machine may do at any time.
  const moving = await button(page, 'Show order summary').evaluate(async (opener: HTMLElement) => {
    opener.click();
    await Promise.resolve();
    return document.getAnimations().map((animation) => (animation as CSSAnimation).animationName);
  });
  expect(moving, 'nothing moves where motion is reduced').toEqual([]);
  await expect(summary).toBeVisible();
  await page.getByLabel('Custom amount').focus();
  await expect(summary).toBeHidden();
});

async function openFolded(page: Page): Promise<void> {
  await orderingJoin(page);
  await page.goto('/registration/checkout');
  await expect(page.getByText('Jordan Rivera, 12 Oak Street, Austin, TX 78701')).toBeVisible();
  await expect(cardForm(page).getByLabel('Security code')).toBeVisible();
  await expect(addressForm(page).getByLabel('City')).toBeHidden();
}

test('on a phone a known billing address is text, so that the card field is in the second screenful, and the card is charged with it @phone-only', async ({
  page,
  stripeApi,
}) => {
  await openFolded(page);
  const { y, height } = (await cardForm(page).getByLabel('Card number').boundingBox())!;
  // 664 px: an iPhone's screen without the bars of its browser.
  expect(y + height).toBeLessThan(2 * 664);
  const [charge] = await stripeApi.charges(await pay(page));
  expect(charge!.billing_details.address).toMatchObject({ line1: '12 Oak Street', postal_code: '78701' });
});

test('on a phone Change opens the form of a known billing address, and the card is charged with what was changed @phone-only', async ({
  page,
  stripeApi,
}) => {
  await openFolded(page);
  await button(page, 'Change billing address').press('Enter');
  await expect(addressForm(page).getByLabel('Full name')).toBeFocused();
  await expect(button(page, 'Change billing address')).toBeHidden();
  await addressForm(page).getByLabel('ZIP code').fill('78702');
  const [charge] = await stripeApi.charges(await pay(page));
  expect(charge!.billing_details.address).toMatchObject({ line1: '12 Oak Street', postal_code: '78702' });
});

test('on a phone the form of a billing address is open if a part is unknown, or the card provider does not accept it @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  for (const postalCode of [null, '787']) {
    await alter(page, 'getCheckoutDetails', ({ billing }) => (billing.postalCode = postalCode));
    await page.goto('/registration/checkout');
    await expect(addressForm(page).getByLabel('ZIP code')).toHaveValue(postalCode ?? '');
    await expect(addressForm(page).getByLabel('ZIP code')).toBeVisible();
    await expect(button(page, 'Change billing address')).toBeHidden();
    await expect(cardForm(page).getByLabel('Security code')).toBeVisible();
    await expect(addressForm(page).getByLabel('Full name')).not.toBeFocused();
  }
});

test('a long order on a desktop shows that it goes on, and the keyboard reaches each of its lines', async ({
  page,
}) => {
  await orderingJoin(page);
  await fillOrder(page, 'framed');
  await page.goto('/registration/checkout');
  const lines = page.getByRole('complementary', { name: 'Order summary' }).getByRole('list').first();
  await expect(lines.getByRole('listitem')).toHaveCount(21);
  await expect(page.getByText('Total Due Today', { exact: true })).toBeInViewport({ ratio: 1 });
  await expect(lines).toHaveCSS('background-attachment', /^local, .*scroll$/);
  const remove = lines.getByRole('button');
  await remove.last().focus();
  await expect(lines.getByRole('listitem').last().locator('p').first()).toBeInViewport({ ratio: 1 });
  for (let line = 18; line >= 12; line--) {
    await page.keyboard.press('Shift+Tab');
    await expect(remove.nth(line)).toBeFocused();
    await expect(
      lines
        .getByRole('listitem')
        .nth(line + 1)
        .locator('p')
        .first(),
    ).toBeInViewport({ ratio: 1 });
  }
  await expectAccessible(page);
});
