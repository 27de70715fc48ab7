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
  fillDetails,
  heading,
  save,
  selfNominate,
  total,
  typeBillingAddress,
  typeCard,
} from './steps.ts';
import { faintEdges } from './wcag.ts';

const SENTENCE = 'I am 18 or older, or my parent or guardian has read the policies and agrees that I apply.';
const MISSING = 'Please confirm your age, or that your parent or guardian agrees.';

/**
 * Runs the tests on the example of another society: only the setting SOCIETY_FILE differs. Its programme asks for guardian consent,
 * which the demo society's programmes do not.
 */
const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  baseURL: async ({}, use) => {
    guild ??= startGuild();
    await use((await guild).url);
  },
});

let guild: ReturnType<typeof startGuild> | undefined;
test.afterAll(async () => (await guild)?.end());

async function startGuild(): Promise<{ url: string; end: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-guild-'));
  const examples = resolve(import.meta.dirname, '../../society/examples');
  copyFileSync(join(examples, 'icon.png'), join(folder, 'icon.png'));
  const source = readFileSync(join(examples, 'meridian.yaml'), 'utf8');
  const file = join(folder, 'society.yaml');
  const asking = source.replace(/^( +)isTOLA: .*$/m, `$&\n$1guardianConsent: ${SENTENCE}`);
  writeFileSync(file, asking);
  const { url, end } = await npmStartApart({ SOCIETY_FILE: file });
  return {
    url,
    async end() {
      await end();
      rmSync(folder, { recursive: true });
    },
  };
}

// Each worker that runs a test of this file starts a server, so only one worker runs all of them. If a worker fixture started the
// server, Playwright would run these tests at the end, when the other workers are idle. The timeout of the first test includes
// the start of the server.
test.describe.configure({ mode: 'default', timeout: 240_000 });

const consent = (page: Page) => page.getByRole('checkbox', { name: SENTENCE, exact: true });

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  expect(await faintEdges(page)).toEqual([]);
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

test('another society runs with only its file changed: its names, its colours, its question at the end of the details, and axe finds nothing', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto('/');
  await expect(page.getByRole('banner')).toContainText('Meridian Guild of Scholars');
  await inspect(page);

  await test.step('details that were loaded before the programme asked are refused, and ask then', async () => {
    await answerOnceAsBefore(page, 'getContact');
    await selfNominate(page);
    await fillDetails(page);
    await expect(consent(page)).toHaveCount(0);
    await button(page, 'Save').click();
    await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeFocused();
    await expect(page.locator('#hasGuardianConsent-error')).toHaveText(MISSING);
    await expect(page.getByLabel('City')).toHaveValue('Austin');
  });
  await test.step('the checkbox is required, and stays ticked', async () => {
    await page.reload();
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
  });

  const choose = button(page, 'Choose this membership: Guild Membership');
  await expect(page.getByRole('button', { name: /Choose this membership/ })).toHaveCount(1);
  await expect(choose).toHaveCSS('background-color', 'rgb(31, 58, 104)');
  await inspect(page);
  await choose.click();
  await expect(total(page)).toHaveText('$48.00');
  await button(page, 'Donate $15').click();
  await expect(total(page)).toHaveText('$63.00');
  await expect(consent(page)).toHaveCount(0);
  await inspect(page);
  await typeBillingAddress(page);
  await typeCard(page);
  await buyNow(page);
  await expect(page.getByRole('heading', { name: 'Become a Fellow' })).toBeVisible();
  await inspect(page);
  await button(page, 'Skip').click();
  await expect(heading(page, 'Upload Transcript')).toBeVisible();
  await inspect(page);
  await page.goto('/registration/congratulations');
  await expect(page.getByText('you are now a member of Meridian Guild of Scholars')).toBeVisible();
  await expect(page.getByText('GUILD15')).toBeVisible();
  await inspect(page);
});

test('Checkout by a link asks beside the policies, also one that was loaded before, and Buy Now leads to what is not ticked', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await answerOnceAsBefore(page, 'getCheckoutDetails');
  await page.goto('/initialize/checkout?vid=103');
  await expect(heading(page, 'Checkout')).toBeVisible();
  const policies = page.getByLabel(/^I agree to the policies/);
  await typeBillingAddress(page);
  await typeCard(page);
  await policies.check();
  await expect(consent(page)).toHaveCount(0);
  await buyNow(page);
  await expect(page.getByRole('alert').filter({ hasText: MISSING })).toBeVisible();
  await inspect(page);
  await policies.uncheck();
  await buyNow(page);
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
  await buyNow(page);
  await expect(page).toHaveURL(/\/registration\/upgrade\?payment_intent=pi_/);
});
