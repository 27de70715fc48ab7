import { expect, test } from './fixtures.ts';
import {
  addressForm,
  button,
  buyNow,
  chooseMembership,
  enterCode,
  fillDetails,
  heading,
  paidIntent,
  pay,
  save,
  selfNominate,
  total,
  typeCard,
} from './steps.ts';

test('a personal invite: one tick, a card, and a member @phone-only', async ({
  page,
  invitation,
  stripeApi,
}) => {
  await enterCode(page, invitation.code.toLowerCase());
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
  await expect(page.getByLabel('Address line 1')).toHaveValue('12 Oak Street');
  await expect(page.getByLabel('State/Province')).toHaveValue('Texas');
  await expect(page.getByLabel('Country')).toHaveValue('United States');
  await expect(page.getByLabel('Personal email')).toHaveValue(invitation.email);
  await expect(page.getByLabel('High school GPA')).toHaveValue('3.8');
  await page.getByLabel('I agree to the policies').check();
  await save(page);
  await expect(page.getByText('Student details submitted successfully!')).toBeVisible();
  await chooseMembership(page);
  await expect(addressForm(page).getByLabel('Full name')).toHaveValue('Jordan Rivera');
  await expect(addressForm(page).getByLabel('ZIP code')).toHaveValue('78701');
  const intent = await pay(page);
  expect(await stripeApi.taken(intent)).toEqual([6500]);
  await button(page, 'Skip').click();
  await expect(page).toHaveURL('/registration/congratulations');
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await expect(page.getByText('Welcome to the society')).toBeVisible();
  await expect(page.getByText('Jordan, you are now a member of Collegiate Honor Society.')).toBeVisible();
  await expect(
    page.getByRole('list').filter({ hasText: 'Membership confirmation' }).getByRole('listitem'),
  ).toHaveCount(3);
  await expect(page.getByText('15% off')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Shop Now' })).toBeVisible();
  await expect(page.getByRole('main').getByRole('link', { name: '(555) 010-0144' })).toBeVisible();
});

test('an undergraduate reads other rules, pays $95, and is declined before the second card pays', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 402/);
  await page.goto('/registration/get-started?programme=undergraduate');
  await button(page, 'I am Self-Nominating').click();
  for (const rule of [
    'GPA of at least 3.4 on a 4.0 scale',
    'First- or second-year undergraduate',
    'At least one term of full-time study but no more than half the degree requirements',
  ])
    await expect(page.getByText(rule, { exact: true })).toBeVisible();
  await expect(
    page.getByText(/recent transcript is required at the end. A \$5 processing fee/),
  ).toBeVisible();
  await selfNominate(page, 'undergraduate');
  await fillDetails(page);
  await save(page);
  await chooseMembership(page);
  await expect(total(page)).toHaveText('$95.00');
  await typeCard(page, '4000000000000002');
  await buyNow(page);
  await expect(page.getByRole('alert').filter({ hasText: 'Your card was declined.' })).toBeVisible();
  await typeCard(page);
  await buyNow(page);
  const intent = await paidIntent(page);
  expect(await stripeApi.taken(intent)).toEqual([9500]);
  expect((await stripeApi.charges(intent)).map(({ status }) => status)).toEqual(['succeeded', 'failed']);
});
