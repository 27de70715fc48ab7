import { paidJoin } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button } from './steps.ts';

test('confetti is thrown for three seconds, but not for who prefers reduced motion', async ({ page }) => {
  const { upgradePath } = await paidJoin(page);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(upgradePath, { waitUntil: 'networkidle' });
  await expect(button(page, 'Upgrade Now')).toBeVisible();
  const canvas = page.locator('canvas');
  await expect(canvas).toHaveCount(0);
  expect(asked.filter((url) => url.includes('confetti'))).toEqual([]);

  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.clock.install();
  await page.reload();
  await expect(canvas).toHaveCount(1);
  // From here on the clock is stopped, and moves only when the test advances it.
  await page.clock.pauseAt(Date.now() + 1000);
  await page.clock.runFor(300);
  await expect(canvas).toHaveCount(1);
  await page.clock.runFor(2700);
  await expect(canvas).toHaveCount(0);
});
