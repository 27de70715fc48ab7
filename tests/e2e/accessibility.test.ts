import type { Page } from '@playwright/test';
import { pdf } from '../harness/documents.ts';
import { detailedJoin, hold, orderingJoin, paidJoin, selfNomination, startedJoin } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button, cardForm, heading, total } from './steps.ts';

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

const CHECKOUT = '/registration/checkout';
const file = { name: 'transcript.pdf', mimeType: 'application/pdf', buffer: pdf() };

test('axe finds nothing on Get Started: empty, broken, refused, self-nominating @phone-only', async ({
  page,
}) => {
  await page.goto('/');
  await inspect(page);
  await page.getByLabel('Invite code').fill('not a code');
  await expect(page.getByText('Invite code must contain only letters and numbers.')).toBeVisible();
  await inspect(page);
  await page.getByLabel('Invite code').fill('EXPIRED2025');
  await button(page, 'Submit').click();
  await expect(page.getByRole('alert')).toBeVisible();
  await inspect(page);
  await button(page, 'I am Self-Nominating').click();
  await inspect(page);
});

test('axe finds nothing on Student Details: empty, with every error, filled @phone-only', async ({
  page,
}) => {
  await selfNomination(page);
  await page.goto('/registration/student-details');
  await expect(page.getByLabel('First name')).toBeVisible();
  await inspect(page);
  await button(page, 'Save').click();
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on Membership: loading, to choose, chosen, refused @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await orderingJoin(page);
  const go = await hold(page, 'getMembershipDetails');
  await page.route('**/set-membership', (route) => route.fulfill({ status: 500, json: { success: false } }));
  await page.goto('/registration/membership');
  await expect(page.getByRole('main').getByRole('status')).toBeVisible();
  await expectAccessible(page);
  go();
  await expect(button(page, 'Selected: Membership')).toBeVisible();
  await inspect(page);
  await button(page, 'Choose this membership: Membership with Honor Cord').click();
  await expect(page.getByText('An error occurred while setting membership.')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on Checkout: empty, with an order, with errors @phone-only', async ({
  page,
  isMobile,
}) => {
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await inspect(page);
  await button(page, 'Donate $25').click();
  await expect(button(page, 'Donate $25')).toHaveAttribute('aria-pressed', 'true');
  await button(page, 'Add Lapel Pin').click();
  await expect(button(page, 'Add Lapel Pin')).toHaveCount(0);
  if (isMobile) await button(page, 'Show order summary').click();
  await expect(total(page)).toHaveText('$102.00');
  await inspect(page);
  await page.getByLabel('Custom amount').fill('ten');
  await button(page, 'Also add donation').click();
  await button(page, 'Buy Now').click();
  await expect(cardForm(page).getByText('Your card number is incomplete.')).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on Checkout without its card form, or without an order', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/, /could not be loaded/);
  await orderingJoin(page);
  await page.route(/stripe[^/]*\.js(\?|$)/, (route) => route.abort());
  await page.goto(CHECKOUT);
  await expect(page.getByRole('alert')).toBeVisible();
  await inspect(page);
  await page.route('**/checkout-details', (route) => route.abort());
  await page.goto(CHECKOUT);
  await expect(page.getByText('Failed to fetch checkout details')).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on the upgrade: offered, refused @phone-only', async ({ page }) => {
  const { upgradePath } = await paidJoin(page);
  await page.route('**/create-upgrade-charge', (route) =>
    route.fulfill({ json: { success: true, status: 'success', data: { status: 'failed' } } }),
  );
  await page.goto(upgradePath);
  await expect(button(page, 'Upgrade Now')).toBeVisible();
  await inspect(page);
  await button(page, 'Upgrade Now').click();
  await expect(page.getByText('Upgrade failed!')).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on uploads and the welcome: empty, refused, uploaded @phone-only', async ({
  page,
}) => {
  await paidJoin(page, selfNomination);
  await page.goto('/registration/upload-transcript');
  await expect(page.locator('input[type=file]')).toHaveCount(1);
  await inspect(page);
  const choose = page.getByLabel('Choose your transcript');
  await choose.setInputFiles({ ...file, name: 'notes.txt', buffer: Buffer.from('My grades') });
  await expect(page.getByRole('alert')).toContainText('not accepted');
  await inspect(page);
  await choose.setInputFiles(file);
  await expect(page.getByRole('link', { name: 'Continue', exact: true })).toBeVisible();
  await inspect(page);
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await inspect(page);
  await page.goto('/upload-resume/101');
  await inspect(page);
  await page.getByLabel('Choose your resume').setInputFiles(file);
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeVisible();
  await inspect(page);
});

test('axe finds nothing on the screens between: links, return, not found, error', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^Failed to load resource/, /Contact ID is missing|misses its parameters/);
  for (const path of [
    '/registration/999999999/init',
    '/initialize/checkout',
    '/initialize/checkout?vid=999999999',
    '/upload-resume/',
    '/registration/initiate/upgrade',
  ]) {
    await page.goto(path);
    await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
    await inspect(page);
  }
  await startedJoin(page);
  for (const path of ['/registration/post-payment', '/no/such/page']) {
    await page.goto(path);
    await expect(page.getByRole('main').getByRole('link').first()).toBeVisible();
    await inspect(page);
  }
});

test('an upload is busy with a progress bar and its file name, and axe finds nothing', async ({ page }) => {
  const go = await hold(page, 'uploadResume');
  await page.goto('/upload-resume/101');
  await page.getByLabel('Choose your resume').setInputFiles(file);
  await expect(page.getByRole('progressbar', { name: 'transcript.pdf' })).toBeVisible();
  await expect(page.locator('input[type=file]')).toHaveCount(1);
  await expectAccessible(page);
  go();
  await expect(heading(page, 'Resume Uploaded Successfully!')).toBeVisible();
});

test('the order summary of a phone opens and closes, and hidden it is nowhere for a screen reader @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await expect(button(page, 'Show order summary')).toBeVisible();
  await expect(page.getByText('$65.00').first()).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Order summary' })).toHaveCount(0);
  await button(page, 'Add Lapel Pin').click();
  await button(page, 'Show order summary').click();
  const summary = page.getByRole('complementary', { name: 'Order summary' });
  await expect(summary.getByText('(once)')).toBeVisible();
  await expect(total(page)).toHaveText('$77.00');
  await button(page, 'Remove Lapel Pin').click();
  await expect(total(page)).toHaveText('$65.00');
  await button(page, 'Hide order summary').click();
  await expect(summary).toHaveCount(0);
});

test('the progress bar has three steps, links back, and names the current one', async ({ page }) => {
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  const steps = page.getByRole('navigation', { name: 'Progress' });
  await expect(steps.getByRole('listitem')).toHaveText([/Student Details/, /Membership/, /Checkout/]);
  await expect(steps.getByRole('link')).toHaveCount(2);
  await expect(steps.locator('[aria-current=step]')).toHaveText(/Checkout/);
  await steps.getByRole('link', { name: /Student Details/ }).click();
  await expect(page).toHaveURL('/registration/student-details');
  await expect(steps.getByRole('link')).toHaveCount(0);
});

test('the choices of Student Details: ten years from this one, GPA 0.0 to 4.0, regions of the country; a GPA below the rules gets a note', async ({
  page,
}) => {
  await detailedJoin(page);
  await page.goto('/registration/student-details');
  const year = new Date().getFullYear();
  await expect(page.getByLabel('Graduation year').getByRole('option')).toHaveText([
    'Choose…',
    ...Array.from({ length: 10 }, (_, index) => String(year + index)),
  ]);
  const gpas = page.getByLabel('High school GPA').getByRole('option');
  await expect(gpas).toHaveCount(42);
  await expect(gpas.nth(1)).toHaveText('0.0');
  await expect(gpas.last()).toHaveText('4.0');
  const note = page.getByText('An SAT score of 1300 or an ACT score of 27 also makes you eligible.');
  await page.getByLabel('High school GPA').selectOption('3.5');
  await expect(note).toBeHidden();
  await page.getByLabel('High school GPA').selectOption('3.4');
  await expect(note).toBeVisible();
  await page.getByLabel('Country').selectOption('Chile');
  await expect(page.getByRole('combobox', { name: /^State\/Province/ })).toHaveValue('');
});
