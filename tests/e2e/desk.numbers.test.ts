import { readFileSync } from 'node:fs';
import { paidJoin } from './arrange.ts';
import { enterDesk, test } from './desk.ts';
import { expect, expectAccessible } from './fixtures.ts';
import { button, heading } from './steps.ts';

test('a join shows among the numbers of the month, its money in the ledger', async ({ page }) => {
  const { intent } = await paidJoin(page);
  await enterDesk(page, 'Lia Numbers');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Numbers' }).click();
  await expect(heading(page, 'Numbers')).toBeFocused();
  const paid = page.getByRole('table', { name: 'The whole period' }).getByRole('row', { name: /^Paid/ });
  await expect(paid.getByRole('cell').first()).not.toHaveText('0');
  await page.getByLabel('By', { exact: true }).selectOption('programme');
  await button(page, 'Show').click();
  await expect(page).toHaveURL(/by=programme/);
  await expect(page.getByRole('table', { name: 'By programme' })).toContainText('Honor Scholars');

  const day = page.getByRole('slider', { name: 'Day' });
  await day.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await expect(day).toHaveAttribute('aria-valuetext', /^\w{3} \d+, \d{4}: /);

  await button(page, /^Read this month from Stripe$|^Read again$/).click();
  const download = page.getByRole('link', { name: 'Download ledger' });
  await expect(download).toBeVisible();
  await expect(page.getByRole('table', { name: 'Money by kind' })).toContainText('dues');
  await expectAccessible(page);
  const downloading = page.waitForEvent('download');
  await download.click();
  expect(readFileSync(await (await downloading).path(), 'utf8')).toContain(intent);

  await page.getByRole('link', { name: 'Last month' }).click();
  await expect(page.getByText('No joins began in this period.')).toBeVisible();
});

test('an owner invites somebody, who signs in, and ends their access again', async ({
  page,
  browser,
  complaints,
}) => {
  const owner = 'Mo Owner';
  await enterDesk(page, owner);
  await button(page, owner).click();
  await page.getByRole('link', { name: 'Staff' }).click();
  await expect(heading(page, 'Staff')).toBeFocused();
  await button(page, 'Invite').click();
  const form = page.getByRole('dialog', { name: 'Invite' });
  await form.getByRole('button', { name: 'Continue' }).click();
  await expect(form.getByText('Please enter a name.')).toBeVisible();
  await expectAccessible(page);
  const name = 'New Colleague';
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Email').fill('new.colleague@example.com');
  await form.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make the link' }).click();
  const shown = page.getByRole('dialog', { name: `Sign-in link for ${name}` });
  const link = await shown.getByLabel('Link').inputValue();
  await expectAccessible(page);
  await shown.getByRole('button', { name: 'Close' }).click();

  const other = await browser.newContext();
  const theirs = await other.newPage();
  await theirs.goto(link);
  await button(theirs, 'Sign in').click();
  await expect(heading(theirs, 'Today')).toBeVisible();
  await expect(theirs.getByRole('link', { name: 'Staff' })).toHaveCount(0);

  const row = page
    .getByRole('table', { name: 'Who is among the staff' })
    .getByRole('row')
    .filter({ hasText: name });
  await row.getByRole('button', { name: 'End access' }).click();
  const dialog = page.getByRole('dialog', { name: `End the access of ${name}?` });
  await dialog.getByRole('button', { name: 'End access' }).click();
  await expect(row).toContainText('ended');
  complaints.expectFailedRequests();
  await theirs.reload();
  await expect(heading(theirs, 'Sign in')).toBeVisible();
  await other.close();
});
