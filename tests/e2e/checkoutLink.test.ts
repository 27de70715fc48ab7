import { alter, unroute } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { letterTo } from './passes.ts';
import { button, field, heading } from './steps.ts';

const PAYING_FOR = 'Paying for Jordan R.';
const personal = /Rivera|Oak Street|\b78701\b|example\.com|Lincoln/;
const theirs = 'Only the student can see these details.';

test('a checkout link that went to a parent pays for the student, and shows their details to the student alone @phone-only', async ({
  page,
  invitation,
}) => {
  await page.goto(`/initialize/checkout?vid=${invitation.contactId}`);
  await expect(page.getByText(PAYING_FOR, { exact: true })).toBeVisible();
  await expect(button(page, 'Buy Now')).toBeVisible();
  expect(await page.content()).not.toMatch(personal);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  for (const payingFor of [`${'Wolfeschlegel'.repeat(6)} S.`, null])
    await test.step('a long name breaks, and without a name nothing is said', async () => {
      await alter(page, 'getCheckoutDetails', (data) => {
        data.payingFor = payingFor;
      });
      await page.reload();
      await expect(button(page, 'Buy Now')).toBeVisible();
      await expect(page.getByText(/^Paying for/)).toHaveCount(payingFor ? 1 : 0);
      await expectNoSidewaysScroll(page);
    });
  await unroute(page);

  await page.goto('/registration/student-details');
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect(page.getByRole('main')).toContainText(theirs);
  await expect(page.getByLabel('Address line 1')).toHaveCount(0);
  expect(await page.content()).not.toMatch(personal);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('link', { name: 'Back to checkout' }).click();
  await expect(page.getByText(PAYING_FOR)).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('main')).toContainText(theirs);

  await button(page, 'Email me a code').click();
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expectAccessible(page);
  const { email } = invitation;
  const [code] = /^\d{6}$/m.exec((await letterTo(email, 'Your code')).text!)!;
  // A phone may reload the page when its user returns from the mail client.
  await page.reload();
  await page.getByLabel('Six-digit code').fill(code);
  await button(page, 'Continue with the code').click();
  await expect(field(page, 'Last name')).toHaveValue('Rivera');
  await expect(page).toHaveURL('/registration/student-details');
  await expect(page.getByLabel('Address line 1')).toHaveValue('12 Oak Street');
  await page.goto('/registration/checkout');
  await expect(page.getByText(`Receipt to ${email}`)).toBeVisible();
});
