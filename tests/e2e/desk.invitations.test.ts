import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { enterDesk, signIn, test } from './desk.ts';
import { expect, expectAccessible } from './fixtures.ts';
import { button, heading } from './steps.ts';

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

test('a file is checked, imported, and its codes are explained, withdrawn and extended', async ({ page }) => {
  await enterDesk(page, 'Lea Invites');
  await link(page, 'Invitations').click();
  await expect(heading(page, 'Invitations')).toBeFocused();
  await link(page, 'Upload').click();
  await expect(heading(page, 'Upload invitations')).toBeFocused();
  await button(page, 'Check the file').click();
  await expect(page.getByText('Please choose a file.')).toBeVisible();

  const lines = [
    'code,contactId,firstName,lastName,email,school',
    'DESKAAA23,,,,,Desk School',
    'DESKBBB23,,,,,Desk School',
    'DESKCCC23,x,,,,',
  ];
  await page
    .getByLabel('File')
    .setInputFiles({ name: 'desk.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) });
  await page.getByLabel('Campaign').fill('Desk 2027');
  await button(page, 'Check the file').click();
  await expect(heading(page, 'desk.csv')).toBeVisible();
  await expect(page.getByText('Line 4: "x" is not a contact id')).toBeVisible();
  await expectAccessible(page);
  const downloading = page.waitForEvent('download');
  await link(page, 'Download refused lines').click();
  expect(readFileSync(await (await downloading).path(), 'utf8')).toContain('DESKCCC23,x');
  await button(page, 'Import 2 invitations').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Import 2 invitations' }).click();
  await expect(page.getByText('The file is imported.')).toBeVisible();

  await link(page, 'Back to Invitations').click();
  await page.getByLabel('Campaign').fill('Desk 2027');
  await button(page, 'Show').click();
  await expect(page).toHaveURL(/campaign=Desk/);
  const rows = page.getByRole('row').filter({ hasText: 'DESK' });
  await expect(rows).toHaveCount(2);
  await button(page, 'Withdraw').click();
  await expect(page.getByText('Tick codes first, or all that the filters find.')).toBeVisible();
  await page.getByRole('checkbox', { name: 'DESKAAA23' }).check();
  await button(page, 'Withdraw').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw 1 code' }).click();
  await expect(rows.filter({ hasText: 'DESKAAA23' })).toContainText('withdrawn');

  await page.getByRole('textbox', { name: 'Code', exact: true }).fill('deskaaa23');
  await button(page, 'Explain').click();
  await expect(
    page.getByText(/^DESKAAA23 fails: it was withdrawn on .* by Lea Invites; it led to Desk School\.$/),
  ).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Extend' }).first().click();
  const until = page.getByRole('dialog').getByLabel('Last day');
  const day = await until.inputValue();
  await until.fill('');
  await expect(page.getByText('Please enter a day.')).toBeVisible();
  await until.fill(day);
  await page.getByRole('dialog').getByRole('button', { name: 'Extend 1 code' }).click();
  await expect(page.getByText(/^DESKAAA23 works: it leads to Desk School/)).toBeVisible();
});

test('codes are made for a school, imported and downloaded; a code that is not found leads to its explanation; what the filters find is ticked anew when they change', async ({
  page,
}) => {
  await signIn(page, 'Mia Codes');
  await page.goto('/people?text=NOSUCHCODE');
  await link(page, 'Explain this code').click();
  await expect(page.getByText(/^NOSUCHCODE fails: there is no such invitation/)).toBeVisible();
  await link(page, 'Make codes').click();
  await page.getByLabel('For').selectOption('school');
  await button(page, 'Make codes').click();
  await expect(page.getByText('Please enter the school.')).toBeVisible();
  await page.getByLabel('School').fill('Maple School');
  await button(page, 'Make codes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make 1 code' }).click();
  await expect(page.getByText('The codes are made and imported.')).toBeVisible();
  const downloading = page.waitForEvent('download');
  await link(page, 'Download codes').click();
  expect(readFileSync(await (await downloading).path(), 'utf8')).toMatch(
    /^\ufeff?code,.*\r\n[2-9A-Z]{9},,,,,Maple School,/,
  );

  await page.goto('/invitations?school=Lincoln+High+School&lastDay=foo');
  const all = page.getByRole('checkbox', { name: 'All that the filters find' });
  await all.check();
  await page.getByLabel('School').fill('');
  await button(page, 'Show').click();
  await expect(page).toHaveURL(/school=(&|$)/);
  await expect(all).not.toBeChecked();
  const row = page.getByRole('row').nth(1).getByRole('checkbox');
  await page.getByRole('checkbox', { name: 'All on this page' }).check();
  await expect(row).toBeChecked();
});
