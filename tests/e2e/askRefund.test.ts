import { paidJoin } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button } from './steps.ts';

test('a member sees what would come back, asks once more, and finds the request after a reload @phone-only', async ({
  page,
}) => {
  await paidJoin(page);
  await page.goto('/registration/congratulations');
  await button(page, 'Ask for a refund').click();
  const section = page.getByRole('region', { name: 'Changed your mind?' });
  await expect(section.getByText('Comes back: Membership')).toBeVisible();
  await expect(section.getByText(/With the refund ends: Membership/)).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await button(page, 'Keep my membership').click();
  await button(page, 'Ask for a refund').click();
  await button(page, 'Yes, ask for $65.00 back').click();
  await expect(section.getByText(/^You asked for \$65\.00 back on /)).toBeVisible();
  await page.reload();
  await expect(section.getByText(/^You asked for \$65\.00 back on /)).toBeVisible();
  await expect(button(page, 'Ask for a refund')).toBeHidden();
});
