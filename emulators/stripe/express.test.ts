import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { expect, type Page } from '@playwright/test';
import type Stripe from 'stripe';
import { openTestPage } from './test-page/open.ts';
import { CARDS_ONLY } from './test-support.ts';

const { emulator, site, browser, stripe, close } = await openTestPage();
after(close);

const offer = (wallet: boolean) =>
  fetch(`${emulator.url}/_emulator/browser`, { method: 'POST', body: JSON.stringify({ wallet }) });
await offer(true);

const wallet = (page: Page) => page.frameLocator('iframe[title="Secure express checkout frame"]');
const walletButton = (page: Page) => wallet(page).getByRole('button', { name: 'Pay with Google Pay' });
const expectShown = (page: Page, text: string | RegExp) => page.locator('output').getByText(text).waitFor();
const seen = (page: Page) =>
  page.evaluate(() => (window as unknown as { seen: { express: [string, unknown][] } }).seen.express);
const visa = (sheet: Page) => sheet.getByRole('button', { name: 'Visa ending 4242' });

/** Opens the page with a wallet's button for a new intent. `answer` decides how the page answers the click. */
async function open(t: TestContext, answer: string, options: object = {}) {
  const intent = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 6500 });
  const page = await browser.newPage({ viewport: { width: 390, height: 1400 } });
  t.after(() => page.close());
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  const query = new URLSearchParams({
    secret: intent.client_secret!,
    express: answer,
    options: JSON.stringify(options),
  });
  await page.goto(`${site.url}/?${query}`);
  return { page, intent, errors };
}

async function openSheet(page: Page): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await walletButton(page).click();
  return opened;
}

test('a wallet shows the order, pays from its frame with its own address, and leaves the card form alone', async (t) => {
  const { page, intent, errors } = await open(t, 'resolve');
  const sheet = await openSheet(page);
  await expect(sheet.getByRole('heading')).toHaveText('Pay The Society');
  await expect(sheet.getByRole('listitem')).toHaveText(['Membership: $65.00', 'Total: $65.00']);
  const closed = sheet.waitForEvent('close');
  const sent = page.waitForRequest('**/confirm');
  await visa(sheet).click();
  assert.equal(new URL((await sent).frame().url()).origin, emulator.url);
  await expectShown(page, 'paid');
  await closed;
  const paid = await stripe.paymentIntents.retrieve(intent.id, {
    expand: ['payment_method', 'latest_charge'],
  });
  const method = paid.payment_method as Stripe.PaymentMethod;
  assert.equal(method.card!.wallet!.type, 'google_pay');
  const { name, email, address } = method.billing_details;
  assert.deepEqual([name, email, address?.postal_code], ['Jordan Rivera', null, '78701']);
  const { card } = (paid.latest_charge as Stripe.Charge).payment_method_details!;
  assert.deepEqual([card!.wallet!.type, card!.checks!.cvc_check], ['google_pay', null]);
  const told = (await seen(page)).map(([event]) => event);
  assert.deepEqual(told.slice(-3), ['ready', 'click', 'confirm']);
  await expect(page.frameLocator('iframe[title^="Secure payment"]').getByLabel('Card number')).toHaveValue(
    '',
  );
  assert.deepEqual(errors, []);
});

test('what the page refuses and what the bank declines is told in the sheet, which takes another choice', async (t) => {
  const { page } = await open(t, 'resolve', { emailRequired: true });
  const sheet = await openSheet(page);
  await sheet.getByLabel('Billing address').selectOption('FR');
  await visa(sheet).click();
  await expect(sheet.getByRole('alert')).toHaveText('Not from there.');
  const [name, confirmed] = (await seen(page)).at(-1)!;
  const { billingDetails } = confirmed as { billingDetails: { email: string; address: object } };
  assert.equal(name, 'confirm');
  assert.equal(billingDetails.email, 'wallet@example.com');
  await sheet.getByLabel('Billing address').selectOption('US');
  await sheet.getByRole('button', { name: 'Visa ending 0002' }).click();
  await expect(sheet.getByRole('alert')).toHaveText('Your card was declined.');
  await expectShown(page, 'Your card was declined.');
  await visa(sheet).click();
  await expectShown(page, 'paid');
});

test('a sheet that is closed is cancelled, and the button opens it again', async (t) => {
  const { page } = await open(t, 'resolve');
  await (await openSheet(page)).close();
  await expect.poll(async () => (await seen(page)).at(-1)).toEqual(['cancel', null]);
  await visa(await openSheet(page)).click();
  await expectShown(page, 'paid');
});

test('the sheet has the amount of the time when its Elements were made, whatever is fetched later', async (t) => {
  const { page, intent } = await open(t, 'resolve');
  await walletButton(page).waitFor();
  await stripe.paymentIntents.update(intent.id, { amount: 9000 });
  await page.getByRole('button', { name: 'Update the wallet' }).click();
  await expectShown(page, 'the wallet is updated');
  const old = await openSheet(page);
  await expect(old.getByText('Total: $65.00')).toBeVisible();
  await old.close();
  await page.reload();
  await expect((await openSheet(page)).getByText('Total: $90.00')).toBeVisible();
});

for (const [answer, error] of [
  ['nothing', /should be resolved or rejected within 1 second/],
  ['too much', /The amount 6500 is less than the total amount of the line items/],
] as const)
  test(`a click that the page answers with ${answer} opens no sheet and is an error`, async (t) => {
    const { page, errors } = await open(t, answer);
    await walletButton(page).click();
    await expect.poll(() => errors.join()).toMatch(error);
    assert.equal(page.context().pages().length, 1);
  });

test('a click that the page rejects opens no sheet', async (t) => {
  const { page, errors } = await open(t, 'reject');
  await walletButton(page).click();
  await expect.poll(async () => (await seen(page)).at(-1)).toEqual(['click', 'google_pay']);
  await page.getByRole('button', { name: 'Submit the wallet' }).click();
  await expectShown(page, /A wallet can be submitted only after the 'confirm' event/);
  assert.deepEqual([page.context().pages().length, errors], [1, []]);
});

test('a device without a wallet has no button', async (t) => {
  await offer(false);
  t.after(() => offer(true));
  const { page } = await open(t, 'resolve');
  await expect.poll(async () => (await seen(page)).at(-1)).toEqual(['ready', undefined]);
  await expect(wallet(page).getByRole('button')).toHaveCount(0);
});

for (const [options, error] of [
  [{ colour: 'red' }, /Unrecognized .*colour is not a recognized parameter/],
  [{ buttonHeight: 60 }, /buttonHeight.*between 40 and 55/],
  [{ paymentMethods: { link: 'auto' } }, /does not stand in for amazonPay/],
  [{ paymentMethods: { googlePay: 'sometimes' } }, /googlePay cannot be sometimes/],
  [{ phoneNumberRequired: true }, /does not stand in for phoneNumberRequired/],
  [{ lineItems: [{ name: 'Membership', amount: 65.5 }] }, /amount should be an integer/],
] as const)
  test(`an element made with ${JSON.stringify(options)} is an error`, async (t) => {
    const { errors } = await open(t, 'resolve', options);
    await expect.poll(() => errors.join()).toMatch(error);
  });
