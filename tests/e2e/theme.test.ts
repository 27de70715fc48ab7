import type { Page } from '@playwright/test';
import { npmStartApart } from '../harness/npmStart.ts';
import { test as base, expect, expectAccessible, expectNoSidewaysScroll } from './fixtures.ts';
import {
  button,
  fillDetails,
  heading,
  save,
  selfNominate,
  total,
  typeBillingAddress,
  typeCard,
} from './steps.ts';
import { faintEdges } from './wcag.ts';

/** Runs the tests on the example of another society: only the setting SOCIETY_FILE differs. */
const test = base.extend<object, { guild: string }>({
  guild: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
    async ({}, use) => {
      const induct = await npmStartApart({ SOCIETY_FILE: 'society/examples/meridian.yaml' });
      await use(induct.url);
      await induct.end();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ guild }, use) => use(guild),
});

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  expect(await faintEdges(page)).toEqual([]);
}

test('another society runs with only its file changed: its names, its colours, one membership, and axe finds nothing', async ({
  page,
}) => {
  await page.goto('/');
  await expect(page.getByRole('banner')).toContainText('Meridian Guild of Scholars');
  await inspect(page);
  await selfNominate(page);
  await expect(heading(page, 'Student Details')).toBeVisible();
  await inspect(page);
  await button(page, 'Save').click();
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeVisible();
  await inspect(page);
  await fillDetails(page);
  await save(page);
  const choose = button(page, 'Choose this membership: Guild Membership');
  await expect(page.getByRole('button', { name: /Choose this membership/ })).toHaveCount(1);
  await expect(choose).toHaveCSS('background-color', 'rgb(31, 58, 104)');
  await inspect(page);
  await choose.click();
  await expect(total(page)).toHaveText('$48.00');
  await button(page, 'Donate $15').click();
  await expect(total(page)).toHaveText('$63.00');
  await inspect(page);
  await typeBillingAddress(page);
  await typeCard(page);
  await button(page, 'Buy Now').click();
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
