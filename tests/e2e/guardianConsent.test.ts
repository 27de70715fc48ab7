import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from '@playwright/test';
import type { CallName } from '../../packages/contract/calls.ts';
import { npmStartApart } from '../harness/npmStart.ts';
import { route, routeOnce } from './arrange.ts';
import { test as base, expect, expectAccessible, expectNoSidewaysScroll } from './fixtures.ts';
import {
  button,
  buyNow,
  chooseMembership,
  fillDetails,
  heading,
  save,
  selfNominate,
  typeBillingAddress,
  typeCard,
} from './steps.ts';

const SENTENCE = 'I am 18 or older, or my parent or guardian has read the policies and agrees that I apply.';
const MISSING = 'Please confirm your age, or that your parent or guardian agrees.';

/**
 * Runs the tests on a server of the demo society, with a society file in which the high-school programme asks for guardian
 * consent.
 */
const test = base.extend<object, { asking: string }>({
  asking: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'induct-asking-'));
      const demo = resolve(import.meta.dirname, '../../society');
      copyFileSync(join(demo, 'icon.png'), join(folder, 'icon.png'));
      const source = readFileSync(join(demo, 'society.yaml'), 'utf8');
      const file = join(folder, 'society.yaml');
      writeFileSync(file, source.replace(/# guardianConsent: .*/, `guardianConsent: ${SENTENCE}`));
      const induct = await npmStartApart({ SOCIETY_FILE: file });
      await use(induct.url);
      await induct.end();
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ asking }, use) => use(asking),
});

// Each worker that runs a test of this file starts a server, so one worker runs all of them, in one project.
test.describe.configure({ mode: 'default' });

const consent = (page: Page) => page.getByRole('checkbox', { name: SENTENCE, exact: true });

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

/**
 * Removes guardian consent from the first answer to an API call. The page then behaves as if it had been loaded before the
 * programme began to ask for consent.
 */
async function answerOnceAsBefore(page: Page, name: CallName): Promise<void> {
  await routeOnce(page, route(name), async (request) => {
    const answer = await (await request.fetch()).json();
    answer.data.guardianConsent = null;
    await request.fulfill({ json: answer });
  });
}

test('a programme that asks has a required checkbox beside the policies, which stays ticked, and the join is paid @phone-only', async ({
  page,
}) => {
  await selfNominate(page);
  await fillDetails(page);
  await expect(consent(page)).not.toBeChecked();
  await expect(consent(page)).toHaveAttribute('required');
  await inspect(page);
  await button(page, 'Save').click();
  const summary = page.getByRole('alert', { name: 'There is a problem' });
  await expect(summary).toBeFocused();
  await expect(page).toHaveTitle('Error: Student Details');
  await expect(summary.getByRole('link')).toHaveText([MISSING]);
  await expect(page.locator('#hasGuardianConsent-error')).toHaveText(MISSING);
  await expect(consent(page)).toHaveAttribute('aria-invalid', 'true');
  await expect(consent(page)).toHaveAccessibleDescription(MISSING);
  await inspect(page);
  await summary.getByRole('link', { name: MISSING }).click();
  await expect(consent(page)).toBeFocused();
  await page.keyboard.press('Space');
  await expect(consent(page)).toBeChecked();
  await expect(summary).toHaveCount(0);
  await save(page);
  await page.goBack();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect(consent(page)).toBeChecked();
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await expect(consent(page), 'it is known from the server').toBeChecked();
  await expect(page.getByLabel('I agree to the policies')).toBeChecked();
  await save(page);
  await chooseMembership(page);
  await typeBillingAddress(page);
  await typeCard(page);
  await expect(consent(page)).toHaveCount(0);
  await buyNow(page);
  await expect(page).toHaveURL(/\/registration\/upgrade\?payment_intent=pi_/);
});

test('Checkout by a link asks beside the policies, and Buy Now leads to what is not ticked @phone-only', async ({
  page,
}) => {
  await page.goto('/initialize/checkout?vid=103');
  await expect(heading(page, 'Checkout')).toBeVisible();
  await typeBillingAddress(page);
  await typeCard(page);
  await inspect(page);
  await buyNow(page);
  const policies = page.getByLabel(/^I agree to the policies/);
  await expect(policies).toBeFocused();
  await expect(page.locator('#agreeToPolicies-error')).toHaveText('You must agree to the policies.');
  await expect(page.locator('#hasGuardianConsent-error')).toHaveText(MISSING);
  await inspect(page);
  await policies.check();
  await expect(page.locator('#agreeToPolicies-error')).toHaveCount(0);
  await buyNow(page);
  await expect(consent(page)).toBeFocused();
  await expect(consent(page)).toHaveAccessibleDescription(MISSING);
  await consent(page).check();
  await expect(page.locator('#hasGuardianConsent-error')).toHaveCount(0);
  await inspect(page);
  await buyNow(page);
  await expect(page).toHaveURL(/\/registration\/upgrade\?payment_intent=pi_/);
});

test('a programme that does not ask shows no checkbox, beside one that does @phone-only', async ({
  page,
}) => {
  await selfNominate(page, 'undergraduate');
  await expect(page.getByLabel('I agree to the policies')).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(1);
});

test('Student Details that were loaded before the programme asked are refused, and ask then @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await answerOnceAsBefore(page, 'getContact');
  await selfNominate(page);
  await fillDetails(page);
  await expect(consent(page)).toHaveCount(0);
  await button(page, 'Save').click();
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeFocused();
  await expect(page.locator('#hasGuardianConsent-error')).toHaveText(MISSING);
  await expect(page.getByLabel('City')).toHaveValue('Austin');
  await consent(page).check();
  await save(page);
});

test('a Checkout that was loaded before the programme asked is refused, and asks then @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await answerOnceAsBefore(page, 'getCheckoutDetails');
  await page.goto('/initialize/checkout?vid=101');
  await typeBillingAddress(page);
  await typeCard(page);
  await page.getByLabel(/^I agree to the policies/).check();
  await expect(consent(page)).toHaveCount(0);
  await buyNow(page);
  await expect(page.getByRole('alert').filter({ hasText: MISSING })).toBeVisible();
  await consent(page).check();
  await buyNow(page);
  await expect(page).toHaveURL(/\/registration\/upgrade\?payment_intent=pi_/);
});
