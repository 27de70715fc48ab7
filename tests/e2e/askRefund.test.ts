import { paidJoin } from './arrange.ts';
import { enterDesk, personOf } from './desk.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button } from './steps.ts';

test('a member sees what would come back, asks once more, and staff find the request from Today @phone-only', async ({
  page,
  browser,
}) => {
  const { uuid } = await paidJoin(page);
  await page.goto('/registration/congratulations');
  await button(page, 'Ask for a refund').click();
  const section = page.getByRole('region', { name: 'Changed your mind?' });
  await expect(section.getByText('Refunded: Membership')).toBeVisible();
  await expect(section.getByText(/A refund ends your Membership/)).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await button(page, 'Keep my membership').click();
  await button(page, 'Ask for a refund').click();
  await button(page, 'Yes, request a refund of $65.00').click();
  await expect(section.getByText(/^You asked for a refund of \$65\.00 on /)).toBeVisible();
  await page.reload();
  await expect(section.getByText(/^You asked for a refund of \$65\.00 on /)).toBeVisible();
  await expect(button(page, 'Ask for a refund')).toBeHidden();

  const desk = await browser.newPage();
  await enterDesk(desk, 'Ada Requests');
  await desk.getByRole('link', { name: /^Refund requests/ }).click();
  const person = `/people/${await personOf(uuid)}`;
  const requests = desk.getByRole('table', { name: 'Refund requests' });
  await expect(requests.locator(`a[href="${person}"]`)).toBeVisible();
  await desk.close();
});
