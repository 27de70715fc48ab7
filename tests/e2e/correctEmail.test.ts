import { call, paidJoin, refuse, route, unroute } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { letterTo } from './passes.ts';
import { button } from './steps.ts';

test('a member corrects their email on the welcome page: the new one gets the confirmation, the old one is told @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { uuid } = await paidJoin(page);
  const { email: former } = await call(page, 'getWelcome', { uuid });
  await page.goto('/registration/congratulations');
  await button(page, 'Correct the email').click();
  const field = page.getByLabel('Your email');
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(former);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await field.fill('no email');
  await button(page, 'Save').click();
  await expect(page.getByRole('alert')).toContainText('email');
  await expect(field).toHaveValue('no email');
  await refuse(page, 'correctEmail', 500);
  const corrected = `corrected.${uuid}@example.com`;
  await field.fill(corrected);
  await button(page, 'Save').click();
  await expect(page.getByText('Your email could not be changed. Please try again.')).toBeVisible();
  await unroute(page, route('correctEmail'));
  await button(page, 'Save').click();
  await expect(page.getByText(`From now on we write to ${corrected}.`)).toBeVisible();
  await expect(page.getByRole('main')).not.toContainText(former, { useInnerText: true });
  await expectAccessible(page);
  expect((await letterTo(corrected, 'Your membership is confirmed')).text).toContain('Jordan');
  expect((await letterTo(former, 'was changed')).text).not.toContain(corrected);
  await page.reload();
  await expect(page.getByText(corrected).first()).toBeVisible();
});
