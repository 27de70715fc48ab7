import type { Page } from '@playwright/test';
import { orderingJoin, refuse, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, cardForm } from './steps.ts';

/** Submits Get Started by keyboard and makes the call fail with a sentence, which a toast then shows. */
async function failWith(page: Page, sentence: string): Promise<void> {
  await unroute(page);
  await refuse(page, 'checkEligibility', 500, sentence);
  const answered = page.waitForResponse('**/eligibility/check');
  await page.getByLabel('Invite code').press('Enter');
  await answered;
  await expect(toasts(page).filter({ hasText: sentence })).toBeVisible();
}

const SAID = 'The server says why not.';
const toasts = (page: Page) => page.getByRole('dialog', { name: 'Error' });
const toastWith = (page: Page, title: string, text: string) =>
  page.getByRole('dialog', { name: title, exact: true }).filter({ hasText: text });

test.beforeEach(({ complaints }) => complaints.expectFailedRequests());

async function openGetStarted(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
}

test('toasts: 401, 400 and others have their words, stand top right, and go after five seconds or when closed', async ({
  page,
}) => {
  await openGetStarted(page);
  await page.clock.install();
  await refuse(page, 'checkEligibility', 401, SAID);
  await button(page, 'Submit').click();
  const unauthorized = toastWith(page, 'Unauthorized', 'Please log in again.');
  await expect(unauthorized).toBeVisible();
  const box = (await unauthorized.boundingBox())!;
  expect(box.y).toBeLessThan(120);
  expect(box.x + box.width).toBeGreaterThan(1280 - 40);
  await unauthorized.hover();
  await unauthorized.getByRole('button', { name: 'Close' }).click();
  await expect(unauthorized).toHaveCount(0);

  await refuse(page, 'checkEligibility', 400, SAID);
  await button(page, 'Submit').click();
  const badRequest = toastWith(page, 'Bad Request', 'There was a problem with your request.');
  await expect(badRequest).toBeVisible();
  await page.mouse.move(10, 500);
  // From here on the clock is stopped, and moves only when the test advances it.
  await page.clock.pauseAt(Date.now() + 1000);
  await page.clock.runFor(2000);
  await expect(badRequest).toBeVisible();
  await page.clock.runFor(3000);
  await expect(badRequest).toHaveCount(0);
});

test('wherever a phone is scrolled to, a toast covers no total; it goes after five seconds while a card is typed, too @phone-only', async ({
  page,
}) => {
  await page.clock.install();
  await orderingJoin(page);
  await page.goto('/registration/checkout');
  await expect(button(page, 'Buy Now')).toBeEnabled();
  await refuse(page, 'setSessionProduct', 500, SAID);
  await button(page, 'Donate $25').click();
  await expect(toasts(page)).toBeVisible();
  await toasts(page).hover();
  for (const top of [0, 30, 400, 1200, 1900]) {
    await page.evaluate((y) => window.scrollTo(0, y), top);
    await expect
      .poll(() =>
        page.evaluate(() => {
          const box = (element: Element) => element.getBoundingClientRect();
          const toast = box(document.querySelector('[role=dialog]')!);
          return [...document.querySelectorAll('[data-keep-clear]')].filter(
            (total) => box(total).width > 0 && box(total).top < toast.bottom && box(total).bottom > toast.top,
          ).length;
        }),
      )
      .toBe(0);
  }
  // Uses the mouse directly, because a click would wait for animation frames, which the stopped clock does not produce.
  await page.mouse.move(10, 800);
  const cardNumber = cardForm(page).getByLabel('Card number');
  await cardNumber.focus();
  await expect(cardNumber).toBeFocused();
  await page.clock.runFor(6_000);
  await expect(toasts(page)).toHaveCount(0);
});

test('F6 brings the focus to the toasts, Escape closes one and brings the focus back; at most three are shown, each once, the newest first, and stay while the pointer is on them', async ({
  page,
}) => {
  await openGetStarted(page);
  await failWith(page, 'First.');
  await page.keyboard.press('F6');
  const region = page.getByRole('region', { name: 'Notifications' });
  await expect(region).toBeFocused();
  await expect(region).toHaveAttribute('aria-live', 'polite');
  await page.keyboard.press('Tab');
  await expect(toasts(page)).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(toasts(page).getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(toasts(page)).toHaveCount(0);
  await expect(page.getByLabel('Invite code')).toBeFocused();

  await page.clock.install();
  for (const sentence of ['First.', 'First.']) await failWith(page, sentence);
  await expect(button(page, 'Submit')).toBeEnabled();
  await expect(toasts(page)).toHaveCount(1);
  await toasts(page).hover();
  for (const sentence of ['Second.', 'Third.', 'Fourth.']) await failWith(page, sentence);
  await expect(toasts(page)).toContainText(['Fourth.', 'Third.', 'Second.']);
  await page.clock.runFor(20_000);
  await expect(toasts(page)).toHaveCount(3);
  await page.mouse.move(10, 500);
  await page.clock.runFor(6_000);
  await expect(toasts(page)).toHaveCount(0);
});

test('a finger that swipes a toast up or to the right closes it, and a short one does not @phone-only', async ({
  page,
}) => {
  await openGetStarted(page);
  const touches = await page.context().newCDPSession(page);
  for (const [x, y] of [
    [80, 0],
    [0, -80],
  ] as const) {
    await failWith(page, 'First.');
    const box = (await toasts(page).boundingBox())!;
    const start = { x: box.x + 60, y: box.y + box.height / 2 };
    const swipe = async (length: number) => {
      await touches.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [start] });
      for (const part of [0.1, 0.5, 1])
        await touches.send('Input.dispatchTouchEvent', {
          type: 'touchMove',
          touchPoints: [{ x: start.x + x * part * length, y: start.y + y * part * length }],
        });
      await touches.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    await swipe(0.3);
    await expect(toasts(page)).toHaveCSS('transform', /^(none|matrix\(1, 0, 0, 1, 0, 0\))$/);
    await swipe(1);
    await expect(toasts(page)).toHaveCount(0);
  }
});
