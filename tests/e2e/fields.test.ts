import { orderingJoin, refuse, selfNomination } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button } from './steps.ts';

// Tests that an invalid value is reported at its field before anything is sent.

test('the rules of an invite code are told under its field, Submit waits for a right one, and the title begins with an error', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto('/');
  const code = page.getByLabel('Invite code');
  await expect(button(page, 'Submit')).toBeDisabled();
  await code.fill('LINCOLN-2026');
  await expect(page.locator('#inviteCode-error')).toHaveText(
    'Invite code must contain only letters and numbers.',
  );
  await expect(button(page, 'Submit')).toBeDisabled();
  await code.fill('NOSUCHCODE');
  await button(page, 'Submit').click();
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
  await expect(page).toHaveTitle('Error: Get Started');
  await code.fill('LINCOLN2026');
  await expect(page).toHaveTitle('Get Started');
  await expect(page.locator('#inviteCode-error')).toHaveCount(0);
  await expect(button(page, 'Submit')).toBeEnabled();
});

test('the rules of student details: each under its field, in a summary that takes the focus and leads there', async ({
  page,
}) => {
  await selfNomination(page);
  await page.goto('/registration/student-details');
  await page.getByLabel('Personal email').fill('jordan');
  await button(page, 'Save').click();
  const required: Record<string, string> = {
    firstName: 'First name is required.',
    lastName: 'Last name is required.',
    personalEmail: 'Invalid email address.',
    address1: 'Address Line 1 is required.',
    city: 'City is required.',
    state: 'State/Province is required.',
    zipcode: 'Zipcode is required.',
    highSchoolName: 'High School Name is required.',
    highSchoolGraduationYear: 'Graduation Year is required.',
    highSchoolGpa: 'High School GPA is required.',
    agreeToPolicies: 'You must agree to the policies.',
  };
  const summary = page.getByRole('alert', { name: 'There is a problem' });
  await expect(summary).toBeFocused();
  await expect(page).toHaveTitle('Error: Student Details');
  await expect(summary.getByRole('link')).toHaveText(Object.values(required));
  for (const [name, sentence] of Object.entries(required)) {
    const field = page.locator(`[name=${name}]`);
    await expect(page.locator(`#${name}-error`)).toHaveText(sentence);
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await expect(field).toHaveAccessibleDescription(new RegExp(sentence.replace(/[.]/g, '\\.')));
  }
  await expect(button(page, 'Save')).toBeDisabled();
  await expect(button(page, 'Save')).toHaveAccessibleDescription(
    '11 answers are missing or need a correction. They are marked above and listed at the top.',
  );
  await summary.getByRole('link', { name: 'City is required.' }).click();
  await expect(page.getByLabel('City')).toBeFocused();
  await page.keyboard.type('A');
  await expect(page.locator('#city-error')).toHaveCount(0);
  await expect(summary.getByRole('link', { name: 'City is required.' })).toHaveCount(0);
  await page.getByLabel('Personal email').fill('');
  await page.getByLabel('Country').selectOption('Gibraltar');
  await expect(page.locator('#state-error')).toHaveCount(0);
});

const NOT_DOLLARS = 'Please enter an amount in dollars, such as 25 or 25.50.';

test('a custom donation that is no amount sends nothing, and a screen reader hears why it or a failed one was not added', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await orderingJoin(page);
  await refuse(page, 'setCustomDonation', 409, 'Not now.');
  await page.goto('/registration/checkout');
  await expect(button(page, 'Buy Now')).toBeEnabled();
  const amount = page.getByLabel('Custom amount');
  const alert = page.getByRole('region', { name: 'Add a donation' }).getByRole('alert');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/')) sent.push(request.url());
  });
  for (const [typed, sentence] of [
    ['', NOT_DOLLARS],
    ['0', 'Please enter an amount from $0.50 to $10,000.00.'],
    ['20,50', NOT_DOLLARS],
  ] as const) {
    await amount.fill(typed);
    await button(page, 'Add donation').click();
    await expect(page.locator('#customAmount-error')).toHaveText(sentence);
  }
  expect(sent).toEqual([]);
  await expect(alert).toHaveText(NOT_DOLLARS);
  await expect(amount).toBeFocused();
  await expect(amount).toHaveAccessibleDescription(NOT_DOLLARS);
  await expect(page).toHaveTitle('Error: Checkout');
  await amount.fill('10');
  await expect(alert).toHaveCount(0);
  await expect(page).toHaveTitle('Checkout');
  await button(page, 'Add donation').click();
  await expect(alert).toHaveText('Not now.');
  await expect(amount).toHaveValue('10');
  await expect(amount).not.toHaveAttribute('aria-invalid');
  await expect(page).toHaveTitle('Error: Checkout');
});
