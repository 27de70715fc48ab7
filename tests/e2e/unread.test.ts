import { alter, paidJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, test } from './fixtures.ts';
import { button, fillDetails, heading, save } from './steps.ts';

// Tests of contact values that the form does not offer, and of typed values that cannot be right.

test('what the record says and the form does not offer leaves the choice open, with what it says beside it; an email and a ZIP code that cannot be right are questioned and taken @phone-only', async ({
  page,
}) => {
  const record = {
    country: 'Atlantis',
    state: 'Bavaria',
    highSchoolGpa: '3.85',
    highSchoolGraduationYear: 'Class of 2027',
  };
  await alter(page, 'getContact', (data) => Object.assign(data, record));
  await startedJoin(page);
  await page.goto('/registration/student-details');
  const country = page.getByLabel('Country');
  await expect(country).toHaveValue('');
  for (const said of Object.values(record))
    await expect(page.getByText(`Your record says: ${said}`)).toBeVisible();
  await expect(page.getByLabel('High school GPA')).toHaveValue('');
  await expect(page.getByLabel('Graduation year')).toHaveValue('');
  await button(page, 'Save').click();
  await expect(page.getByText('Country is required.').last()).toBeVisible();
  await expectAccessible(page);

  await country.focus();
  await page.keyboard.type('South K');
  await expect(country).toHaveValue('Korea, Republic of');
  await expect(page.getByText('We accept only cards billed in the United States or Canada.')).toBeVisible();
  await expectAccessible(page);
  await country.selectOption({ label: 'England' });
  await expect(country).toHaveValue('United Kingdom');
  await country.selectOption('United States');
  await expect(country.locator('option:checked')).toHaveText('United States');
  await expect(page.getByText('We accept only cards billed in the United States or Canada.')).toBeHidden();

  const email = page.getByLabel('Personal email');
  await fillDetails(page);
  await email.fill('mailto:x@gmail..com;');
  await page.getByLabel('Zipcode').fill('2139');
  await page.getByLabel('City').focus();
  await expect(email).toHaveValue('x@gmail..com');
  await expect(page.getByText('Is this right? We cannot send mail to it.')).toBeVisible();
  await expect(page.getByText('A ZIP code has five digits.')).toBeVisible();
  await expectAccessible(page);
  await page.getByLabel('State/Province').selectOption('Massachusetts');
  await expect(page.getByText('A ZIP code has five digits.')).toBeHidden();
  await save(page);
  await page.goBack();
  await expect(page.getByLabel('Zipcode')).toHaveValue('02139');
});

test('a member whose email cannot be written to is told so where the emails are promised @phone-only', async ({
  page,
}) => {
  await paidJoin(page);
  await alter(page, 'getWelcome', (data) => {
    data.unwritable = { email: 'x@gmail..com', writtenTo: null };
  });
  await page.goto('/registration/congratulations');
  await expect(page.getByText('We cannot send email to x@gmail..com')).toBeVisible();
  await expectAccessible(page);
});

test('a programme that is not open is named on Get Started, with the way to the others @phone-only', async ({
  page,
}) => {
  await page.goto('/registration/get-started?programme=law');
  await expect(page.getByText('This link names a program that is not open: “law”.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Go to Honor Collegians' }).click();
  await expect(page).toHaveURL('/registration/get-started?programme=undergraduate');
  await expect(page.getByText('This link names a program')).toBeHidden();
  await expect(heading(page, 'Get Started')).toBeVisible();
});
