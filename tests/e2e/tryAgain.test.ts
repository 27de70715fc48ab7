import type { Page } from '@playwright/test';
import { pdf } from '../harness/documents.ts';
import { call, detailedJoin, paidJoin, route, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, runClockUntil } from './steps.ts';

// Tests that the page tries again automatically when a server is temporarily unavailable (503 with Retry-After).

const LATER = 'We cannot reach our records right now.';
const status = (page: Page) => page.getByRole('status').filter({ hasText: 'of 3' });

/** Answers every request of a call with 503, and counts them. */
async function busy(
  page: Page,
  name: Parameters<typeof route>[0],
  retryAfter: number,
): Promise<{ calls: number }> {
  const counted = { calls: 0 };
  await page.route(route(name), (request) => {
    counted.calls += 1;
    return request.fulfill({
      status: 503,
      headers: { 'retry-after': String(retryAfter) },
      json: { success: false, status: 'error', message: LATER },
    });
  });
  return counted;
}

test('a screen asks again by itself, not before the server asked for it, and three times at most', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await detailedJoin(page);
  const counted = await busy(page, 'getMembershipDetails', 10);
  await page.clock.install();
  await page.goto('/registration/membership');
  await expect(page.getByRole('main').getByRole('alert')).toContainText(LATER);
  await expect(status(page)).toContainText('(1 of 3)');
  const before = counted.calls;
  await page.clock.runFor(8_000);
  expect(counted.calls).toBe(before);
  /** Advances the clock by `ms`, and waits until the page has the answer to its next retry. */
  const retried = async (ms: number) => {
    const answered = page.waitForResponse(route('getMembershipDetails'));
    await page.clock.runFor(ms);
    await answered;
  };
  await retried(5_000);
  await expect(status(page)).toContainText('(2 of 3)');
  await retried(13_000);
  await expect(status(page)).toContainText('(3 of 3)');
  await retried(16_000);
  await expect(status(page)).toHaveCount(0);
  const after = counted.calls;
  await page.clock.runFor(60_000);
  expect(counted.calls).toBe(after);
  await unroute(page);
  await button(page, 'Try again').click();
  await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
});

test('a resume that cannot be looked at now is sent again by itself, and taken', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const counted = await busy(page, 'uploadResume', 5);
  await page.clock.install();
  await page.goto('/upload-resume/101');
  const file = { name: 'resume.pdf', mimeType: 'application/pdf', buffer: pdf() };
  await page.getByLabel('Choose your resume').setInputFiles(file);
  await expect(page.getByRole('main').getByRole('alert')).toContainText(LATER);
  await expect(status(page)).toContainText('(1 of 3)');
  await runClockUntil(page, () => status(page).filter({ hasText: '(2 of 3)' }).isVisible());
  expect(counted.calls).toBe(2);
  await unroute(page);
  const uploaded = page.getByRole('heading', { name: 'Resume Uploaded Successfully!' });
  await runClockUntil(page, () => uploaded.isVisible());
});

test('a payment return that the server cannot answer now is looked at again by itself, and goes on', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 503/, /ApiError|records/);
  const { uuid, intent } = await paidJoin(page);
  await call(page, 'getUpgradeDetails', { uuid });
  await busy(page, 'postPayment', 2);
  await page.clock.install();
  const query = `payment_intent=${intent}&payment_intent_client_secret=${intent}_secret_x&redirect_status=succeeded`;
  await page.goto(`/registration/post-payment?${query}`);
  await expect(page.getByText(/You will not be charged twice/)).toBeVisible();
  await expect(status(page)).toContainText('(1 of 3)');
  await unroute(page);
  await page.route(route('postPayment'), (request) =>
    request.fulfill({
      json: {
        success: true,
        status: 'success',
        data: { status: 'succeeded', paymentIntent: intent, refunded: null, goOn: null },
      },
    }),
  );
  await runClockUntil(page, async () =>
    page.url().endsWith(`/registration/upgrade?payment_intent=${intent}`),
  );
});
