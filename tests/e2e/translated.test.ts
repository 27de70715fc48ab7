import { pdf } from '../harness/documents.ts';
import { expect, test } from './fixtures.ts';
import {
  button,
  buyNow,
  chooseMembership,
  fillDetails,
  heading,
  pay,
  save,
  selfNominate,
  typeCard,
} from './steps.ts';
import { translatePages } from './translation.ts';

test('whose browser translates the page can correct, choose, give, be declined, pay and send a transcript @phone-only', async ({
  page,
  context,
  complaints,
  stripeApi,
}) => {
  // React renders a page again, and reports error 418, if the page is translated before it is hydrated.
  complaints.expect(/status of 402/, /React error #418/);
  await translatePages(context);
  await selfNominate(page);
  await fillDetails(page, { personalEmail: 'jordan.rivera@gmial.com' });
  await button(page, 'jordan.rivera@gmail.com').click();
  await expect(page.getByText('Did you mean')).toBeHidden();
  await page.getByLabel('First name').fill('');
  await button(page, 'Save').click();
  await expect(page.getByText('First name is required.').first()).toBeVisible();
  await page.getByLabel('First name').fill('Jordan');
  const country = page.getByLabel('Country');
  const state = page.getByLabel('State/Province');
  for (const [name, first] of [
    ['Canada', 'Quebec'],
    ['Germany', 'Bayern'],
    ['United States', 'New York'],
  ] as const) {
    await country.selectOption(name);
    await state.selectOption(first);
    await expect(country).toHaveValue(name);
    await expect(state).toHaveValue(first);
    await expect(state.locator('option:checked')).toHaveText(`[${first}]`);
  }
  const sent = page.waitForRequest('**/submit-student-details');
  await save(page);
  expect((await sent).postDataJSON()).toMatchObject({
    firstName: 'Jordan',
    country: 'United States',
    state: 'New York',
    highSchoolGraduationYear: expect.stringMatching(/^\d{4}$/),
    highSchoolGpa: expect.stringMatching(/^\d\.\d$/),
  });
  await chooseMembership(page, 'Membership with Honor Cord');
  await button(page, 'Donate $25').click();
  await expect(page.getByText('$114.00', { exact: true }).first()).toBeVisible();
  await page.goBack();
  await chooseMembership(page, 'Membership');
  await expect(page.getByText('$90.00', { exact: true }).first()).toBeVisible();
  await typeCard(page, '4000000000000002');
  await buyNow(page);
  await expect(page.getByRole('alert').filter({ hasText: 'Your card was declined.' })).toBeVisible();
  const intent = await pay(page);
  expect(await stripeApi.taken(intent)).toEqual([9000]);
  await button(page, 'Skip').click();
  const transcript = { name: 'transcript.pdf', mimeType: 'application/pdf', buffer: pdf({ size: 2345 }) };
  await page.getByLabel('Choose your transcript').setInputFiles(transcript);
  await expect(page.getByRole('region', { name: 'Uploaded files' })).toContainText('transcript.pdf');
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await page.getByText('More', { exact: true }).click();
  await page.getByText('Copy the press release as text').click();
  await page.getByRole('button', { name: 'Copy text' }).click();
  await page.getByText('Copy the press release as text').click();
  await page.getByText('Copy the press release as text').click();
  await expect(page.getByLabel('Text of the press release')).toBeVisible();
  await page.getByRole('switch', { name: 'Let others verify my membership' }).click();
  await expect(page.getByText('is told that there is no such membership')).toBeVisible();
});
