import type { Page } from '@playwright/test';
import { studentDetailsFields } from '../../packages/core/studentDetails.ts';
import { pdf } from '../harness/documents.ts';
import { expect, test } from './fixtures.ts';
import { serveSpecified } from './specified.ts';
import {
  button,
  buyNow,
  chooseMembership,
  enterCode,
  heading,
  pay,
  save,
  selfNominate,
  typeBillingAddress,
  typeCard,
} from './steps.ts';

// Tests the pages with a server that answers exactly as the specification describes, and no more (decision 3).

const file = { name: 'transcript.pdf', mimeType: 'application/pdf', buffer: pdf() };
const toast = (page: Page) => page.getByRole('dialog');

/** The order's total: on a phone in the bar at the top, elsewhere in the summary. */
const amount = (page: Page, total: string) =>
  page.getByText(total, { exact: true }).filter({ visible: true }).last();

/** Opens the order summary, which is closed on a phone. */
async function openSummary(page: Page): Promise<void> {
  const summary = button(page, 'Show order summary');
  if (await summary.isVisible()) await summary.click();
}

/** Allows the browser's own messages about the calls that are not answered. */
test.beforeEach(({ complaints }) => complaints.expectFailedRequests());

test('a join by code goes from its start to the welcome page on the specified answers alone @phone-only', async ({
  page,
  stripeApi,
}) => {
  const { asked, unanswered } = await serveSpecified(page);
  await test.step('Get Started and Student Details', async () => {
    await enterCode(page, 'HONOR101');
    await expect(page.getByLabel('First name')).toHaveValue('Jordan');
    await expect(page.getByLabel('State/Province')).toHaveValue('Texas');
    await expect(page.getByText('Your record says')).toHaveCount(0);
    await page.getByLabel('I agree to the policies').check();
    await save(page);
    const sent = asked.find(({ call }) => call.endsWith('submit-student-details'))!.body;
    expect(Object.keys(sent).sort()).toEqual([...studentDetailsFields, 'isTOLA'].sort());
    await expect(toast(page)).toContainText('Student details submitted successfully!');
    await button(page, 'Close').click();
  });
  await test.step('Membership', async () => {
    await expect(heading(page, 'Choose your membership')).toBeVisible();
    await expect(page.getByRole('heading', { name: /are you eligible/ })).toHaveCount(0);
    await chooseMembership(page);
  });
  await test.step('the order', async () => {
    await page.getByRole('button', { name: 'Donate $25' }).click();
    await expect(amount(page, '$90.00')).toBeVisible();
    await page.getByLabel('Custom amount').fill('10');
    await button(page, 'Also add donation').click();
    await expect(amount(page, '$100.00')).toBeVisible();
    await button(page, 'Add Lapel pin').click();
    await expect(amount(page, '$112.00')).toBeVisible();
    await openSummary(page);
    await button(page, 'Remove Lapel pin').click();
    await expect(amount(page, '$100.00')).toBeVisible();
    await expect(page.getByRole('alert').filter({ hasText: /\S/ })).toHaveCount(0);
    await expect(toast(page)).toHaveCount(0);
    await expect(page.getByLabel(/^I agree to the policies/)).toHaveCount(0);
  });
  await test.step('the payment', async () => {
    await typeBillingAddress(page);
    const intent = await pay(page);
    expect(await stripeApi.taken(intent)).toEqual([10_000]);
  });
  await test.step('the upgrade', async () => {
    await expect(page.getByText('For life', { exact: true })).toBeVisible();
    await expect(page.getByText('Charged to')).toHaveCount(0);
    await button(page, 'Upgrade Now').click();
    await expect(heading(page, 'Upload Transcript')).toBeVisible();
  });
  await test.step('the upload and the welcome page', async () => {
    await expect(page.getByText('Continue on your phone')).toHaveCount(0);
    await page.getByLabel('Choose your transcript').setInputFiles(file);
    await page.getByRole('link', { name: 'Continue', exact: true }).click();
    await expect(heading(page, 'Congratulations')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'What comes next' })).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expect(toast(page)).toHaveCount(0);
  });
  expect(unanswered.map(({ call }) => call.replace(/.*\//, ''))).toEqual(
    expect.arrayContaining(['begin-payment', 'documents', 'welcome']),
  );
});

test('Skip, a self-nomination and an invitation by link go on without what only we offer', async ({
  page,
}) => {
  await serveSpecified(page, { isSelfNomination: false });
  await selfNominate(page);
  await expect(page).toHaveURL('/registration/student-details');
  await page.goto('/registration/101/init');
  await expect(page).toHaveURL('/registration/student-details');
  await page.goto('/');
  await expect(heading(page, 'Get Started')).toBeVisible();
  await page.goto('/registration/upgrade?payment_intent=pi_1');
  await button(page, 'Skip').click();
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await expect(toast(page)).toHaveCount(0);
});

test('a checkout by link, with a card that is declined before, and a resume go through on the specified answers alone @phone-only', async ({
  page,
  stripeApi,
}) => {
  const { asked } = await serveSpecified(page, { isCheckoutOnly: true });
  await page.goto('/initialize/checkout?vid=101&mp=1&c=6500');
  await expect(amount(page, '$65.00')).toBeVisible();
  await typeBillingAddress(page);
  await typeCard(page, '4000000000000002');
  await buyNow(page);
  await expect(page.getByText('Your card was declined.').last()).toBeVisible();
  expect(await stripeApi.taken(await pay(page))).toEqual([6500]);
  expect(asked.some(({ call }) => call.endsWith('post-payment-handler'))).toBe(true);
  await page.goto('/upload-resume/101');
  await page.getByLabel('Choose your resume').setInputFiles({ ...file, name: 'resume.pdf' });
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeVisible();
});
