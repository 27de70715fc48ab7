import { readFileSync } from 'node:fs';
import { paidJoin, startedJoin } from './arrange.ts';
import { enterDesk, test } from './desk.ts';
import { expect, expectAccessible } from './fixtures.ts';
import { button, heading } from './steps.ts';

/** The id of a product with goods: a membership with a cord. */
const WITH_CORD = 2;

test('what waits is reached from Today, ticked, marked as sent with a note, and taken back', async ({
  page,
}) => {
  const { intent } = await paidJoin(page, startedJoin, 'pm_card_visa', WITH_CORD);
  const { intent: other } = await paidJoin(page, startedJoin, 'pm_card_visa', WITH_CORD);
  await enterDesk(page, 'Kai Parcels');
  await page.getByRole('link', { name: 'Parcels to send' }).click();
  await expect(heading(page, 'Parcels')).toBeFocused();
  await expect(page).toHaveURL('/parcels');

  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download packing list' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^parcels-to-send-.*\.csv$/);
  expect(readFileSync(await download.path(), 'utf8')).toContain('Honor Cord');

  await button(page, 'Mark as sent').click();
  await expect(page.getByText('Tick what was sent first.')).toBeVisible();
  const tickOf = (id: string) => page.locator(`input[aria-describedby="parcel-${id}-0"]`);
  await tickOf(intent).check();
  await button(page, 'Mark 1 as sent').click();
  const dialog = page.getByRole('dialog', { name: 'Was this sent?' });
  await expect(dialog.getByRole('listitem')).toHaveText(/^Honor Cord to Jordan Rivera, /);
  await dialog.getByLabel('Note').fill('TRACK 77');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Mark 1 as sent' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Marked just now: 1 item' })).toBeVisible();
  await expect(tickOf(intent)).toHaveCount(0);
  await expect(tickOf(other)).not.toBeChecked();

  await page.getByRole('link', { name: 'Sent', exact: true }).click();
  await expect(page).toHaveURL('/parcels/sent');
  const row = page.getByRole('row').filter({ hasText: 'TRACK 77' });
  await row.getByRole('button', { name: /^Take back/ }).click();
  const back = page.getByRole('dialog', { name: 'Take back that this was sent?' });
  await back.getByRole('button', { name: 'Take back' }).click();
  await expect(row).toHaveCount(0);
  await page.getByRole('link', { name: 'To send' }).click();
  await expect(tickOf(intent)).toBeVisible();
});
