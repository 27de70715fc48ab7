import type { Page } from '@playwright/test';
import { orderingJoin, paidJoin } from './arrange.ts';
import { personOf, signIn, test } from './desk.ts';
import { expect, expectAccessible, expectContrast, expectNoSidewaysScroll, theInduct } from './fixtures.ts';
import { stripe } from './providers.ts';
import { button, field, heading } from './steps.ts';

/** Does not locate the dialog by its role, because toasts have the same role. */
const dialog = (page: Page) => page.locator('dialog');
const inDialog = (page: Page, name: string | RegExp) =>
  dialog(page).getByRole('button', { name, exact: true });

/** Finds and opens the page of the person who made a payment or has an email. */
async function openPerson(page: Page, text: string): Promise<void> {
  await page.goto(`/people?text=${encodeURIComponent(text)}`);
  await page.getByRole('table').getByRole('link').click();
  await expect(page).toHaveURL(/\/people\/\d+$/);
}

/** Returns the path of the page of a join's person. */
const personPage = async (uuid: string) => `/people/${await personOf(uuid)}`;

/** Goes to a URL as Back or Forward does, without loading the document again. */
function goWithin(page: Page, address: string): Promise<void> {
  return page.evaluate((to) => {
    history.pushState(null, '', to);
    window.dispatchEvent(new PopStateEvent('popstate', { state: null }));
  }, address);
}

/** Counts the calls of an action that are not trials. */
function watchPresses(page: Page, path: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() !== 'POST' || !new URL(request.url()).pathname.endsWith(path)) return;
    if (!(request.postDataJSON() as { trial: boolean }).trial) count++;
  });
  return () => count;
}

test('a refund is shown, made once however it is pressed, and seen to be made', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { intent } = await paidJoin(page);
  await signIn(page, 'Kay Refund');
  await openPerson(page, intent);
  const presses = watchPresses(page, '/refund');
  await button(page, 'Refund').click();
  await expect(inDialog(page, 'Cancel')).toBeFocused();
  await expect(dialog(page).getByLabel('Membership')).toBeChecked();
  await expect(dialog(page)).toContainText('$65.00 of Membership to Visa ending in 4242.');
  await expect(dialog(page)).toContainText('The membership ends: Membership.');
  await dialog(page).getByLabel('Membership').uncheck();
  await expect(dialog(page)).toContainText('Nothing is ticked that could go back.');
  await expect(inDialog(page, /^Refund/)).toHaveCount(0);
  await dialog(page).getByLabel('Membership').check();

  const refund = inDialog(page, 'Refund $65.00');
  await refund.focus();
  // A key that is held down repeats.
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await expect(page.getByText('Made: $65.00.')).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByText(/^Not a member any more/)).toBeVisible();
  await expect(page.getByRole('list', { name: 'Refunds' })).toContainText('$65.00 back, made');
  expect(presses()).toBe(1);
  const [charge] = await stripe(theInduct().stripe).charges(intent);
  expect(charge).toMatchObject({ amount_refunded: 6500 });
});

test('a correction says what follows, ticks what a new email calls for, and leads to the fields that are wrong', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { intent, uuid } = await paidJoin(page);
  const person = await personPage(uuid);
  await signIn(page, 'Lou Correct');
  await page.goto(person);
  await page.getByRole('link', { name: 'Correct' }).click();
  await page.getByLabel('Personal email').fill('nonsense');
  await page.getByLabel('Country').selectOption('Canada');
  await button(page, 'Continue').click();
  const summary = page.getByRole('alert').filter({ hasText: 'There is a problem' });
  await expect(summary).toBeFocused();
  await expect(summary.getByRole('link')).toHaveText([
    'Invalid email address.',
    'State/Province is required.',
  ]);
  // Only the server knows which emails no mail server would accept.
  await page.getByLabel('Personal email').fill('jordan..rivera@example.com');
  await page.getByLabel('State/Province').selectOption('Ontario');
  await button(page, 'Continue').click();
  await expect(summary.getByRole('link')).toHaveText(['Invalid email address.']);

  const email = `${intent.slice(3).toLowerCase()}@example.com`;
  await page.getByLabel('Personal email').fill(email);
  await button(page, 'Continue').click();
  await expect(dialog(page)).toContainText(`→ ${email}`);
  await expect(dialog(page)).toContainText('Country: United States → Canada');
  await expect(dialog(page).getByLabel('Send the confirmation again')).toBeChecked();
  await dialog(page).getByLabel('End links already sent').uncheck();
  await expect(dialog(page)).not.toContainText('Links in letters already sent stop working.');
  await inDialog(page, 'Correct').click();
  await expect(page).toHaveURL(person);
  await expect(page.getByRole('main')).toContainText(email);
});

test('a note is added, stays while it could not be, and its removal leaves who and when', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { uuid } = await paidJoin(page);
  await signIn(page, 'Max Note');
  await page.goto(`${await personPage(uuid)}/story`);
  const note = field(page, 'Note');
  await button(page, 'Add a note').click();
  await expect(note).toBeFocused();
  await note.fill('Called.\nSends a passport.');
  await page.route('**/notes', (route) => route.abort(), { times: 1 });
  await button(page, 'Add a note').click();
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(note).toHaveValue('Called.\nSends a passport.');
  await button(page, 'Add a note').click();
  const story = page.getByRole('main').getByRole('listitem');
  await expect(story.filter({ hasText: 'Sends a passport.' })).toBeVisible();
  await expect(note).toHaveValue('');
  await button(page, 'Remove').click();
  await expect(dialog(page)).toContainText('Called.');
  await inDialog(page, 'Remove').click();
  await expect(story.filter({ hasText: 'A note, which Max Note removed on' })).toBeVisible();
  await page.getByLabel('Staff only').check();
  await expect(story).toHaveCount(1);
});

test('a link is made, copied and downloaded as a QR code, and a certificate as a PDF', async ({
  page,
  context,
  invitation,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { uuid } = await paidJoin(page);
  await signIn(page, 'Nia Link');
  await openPerson(page, invitation.email);
  await button(page, 'Make a link').click();
  await dialog(page).getByLabel('Sell a membership or an upgrade (checkout)').check();
  await dialog(page).getByLabel('Price in dollars').fill('1');
  await expect(dialog(page).getByRole('alert')).toContainText('floor');
  await dialog(page).getByLabel('Price in dollars').fill('60');
  await expect(dialog(page)).toContainText('The link sells Membership at $60.00');
  await inDialog(page, 'Make the link').click();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await inDialog(page, 'Copy').click();
  await expect(dialog(page)).toContainText('Copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`${theInduct().server.url}/initialize/checkout?`);
  await expect(dialog(page).getByRole('img', { name: 'QR code of the link' })).toBeVisible();
  const picture = page.waitForEvent('download');
  await inDialog(page, 'Download').click();
  expect((await picture).suggestedFilename()).toBe('link.svg');

  await page.goto(await personPage(uuid));
  await button(page, 'Certificate').click();
  const file = page.waitForEvent('download');
  await inDialog(page, 'Download').click();
  expect((await file).suggestedFilename()).toBe('certificate.pdf');
});

test('what mends a problem opens from Today and on the person’s page, and Back closes it', async ({
  page,
}) => {
  const { intent, uuid } = await paidJoin(page);
  await stripe(theInduct().stripe).refund(intent, 1000);
  await signIn(page, 'Oz Problem');
  // Reads the refunds from Stripe.
  await page.goto(`${await personPage(uuid)}?do=settle`);
  await inDialog(page, 'Settle').click();
  await expect(page.getByText('Settled.')).toBeVisible();
  await page.goto('/');
  const notice = page.getByRole('listitem').filter({ hasText: intent });
  await notice.getByRole('link', { name: 'What was it for?' }).click();
  await expect(dialog(page)).toContainText('$10.00 of');
  await page.goBack();
  await expect(heading(page, 'Today')).toBeVisible();
  await notice.getByRole('link', { name: 'Jordan Rivera' }).click();
  const problems = page.getByRole('region', { name: 'Problems' });
  await problems.getByRole('link', { name: 'What was it for?' }).click();
  await dialog(page)
    .getByLabel(/^Nothing that was bought/)
    .check();
  await inDialog(page, 'Assign $10.00').click();
  await expect(page.getByText('The refund is assigned.')).toBeVisible();
  await expect(problems).toHaveCount(0);
});

test('every dialog of a person: axe finds nothing, nothing scrolls sideways, and the focus comes back', async ({
  page,
}) => {
  await orderingJoin(page);
  const { intent, uuid } = await paidJoin(page);
  const person = await personPage(uuid);
  await signIn(page, 'Pat Dialogs');
  await page.goto(person);
  for (const [query, name] of [
    ['do=refund', 'What goes back?'],
    ['do=settle', 'Settle with Stripe?'],
    [`do=refund-payment&payment=${intent}`, 'Give this payment back?'],
    ['do=certificate', 'Certificate'],
    ['do=make-link', 'Make a link'],
    ['do=send-link', "Send the join's link?"],
    ['do=stop-reminders', 'Stop reminders?'],
    ['do=end-links', 'End links already sent?'],
    ['do=add-transcript', 'Add a transcript'],
    ['do=retry-hubspot', 'Send to HubSpot again?'],
    ['do=link-contact&contact=x', 'Link to a contact'],
  ])
    await test.step(name!, async () => {
      await goWithin(page, `${person}?${query}`);
      await expect(page.getByRole('dialog', { name: name! })).toBeVisible();
      await expect(page.getByText('Loading')).toHaveCount(0);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'light' });
      await expectContrast(page);
      await expectNoSidewaysScroll(page);
      await page.keyboard.press('Escape');
      await expect(dialog(page)).toHaveCount(0);
      await expect(page).toHaveURL(person);
    });
  await page.getByText('More', { exact: true }).click();
  await expectAccessible(page);
  await button(page, 'Stop reminders').click();
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('More', { exact: true })).toBeFocused();
  await button(page, 'Refund').click();
  await expect(dialog(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(button(page, 'Refund')).toBeFocused();
});
