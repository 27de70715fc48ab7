import type { Page } from '@playwright/test';
import { PAYMENT_IS_SLOW } from '../../packages/core/sentences.ts';
import { hold, orderingJoin, refuse, route, selfNomination, unroute } from './arrange.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, test, theInduct } from './fixtures.ts';
import {
  bankQuestion,
  button,
  buyNow,
  cardForm,
  giveWallet,
  openSheet,
  paidIntent,
  runClockUntil,
  scrollBuyNowToEdge,
  total,
  typeCard,
  walletButton,
  watchIntents,
} from './steps.ts';

const CHECKOUT = '/registration/checkout';

test('a joiner whose card provider never answers goes on once the payment is made', async ({ page }) => {
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page);
  await page.route('**/v1/payment_intents/*/confirm', (request) => request.fetch());
  await page.clock.install();
  await buyNow(page);
  await runClockUntil(page, async () => new URL(page.url()).pathname === '/registration/upgrade');
});

test('a donation added after the card was typed keeps the card, the client secret and raises the intent', async ({
  page,
  stripeApi,
}) => {
  const answers = watchIntents(page);
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page);
  await button(page, 'Donate $25').click();
  await expect(total(page)).toHaveText('$90.00');
  await page.getByLabel('Custom amount').fill('12.34');
  await button(page, 'Also add donation').click();
  await expect(total(page)).toHaveText('$102.34');
  await expect(page.getByLabel('Custom amount')).toHaveValue('');
  await button(page, 'Add Lapel Pin').click();
  await expect(total(page)).toHaveText('$114.34');
  await expect(button(page, 'Add Lapel Pin')).toBeHidden();
  await button(page, 'Remove Lapel Pin').click();
  await expect(total(page)).toHaveText('$102.34');
  await expect(button(page, 'Add Lapel Pin')).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await expect(cardForm(page).getByLabel('Security code')).toHaveValue('123');
  await expect.poll(() => answers.at(-1)?.amount).toBe(10234);
  expect(new Set(answers.map(({ clientSecret }) => clientSecret)).size).toBe(1);
  const id = answers[0]!.clientSecret.split('_secret_')[0]!;
  expect((await stripeApi.intent(id)).amount).toBe(10234);
  await buyNow(page);
  expect(await paidIntent(page)).toBe(id);
  expect(await stripeApi.taken(id)).toEqual([10234]);
});

test('donations add up, which the block says, and each can be removed there or by a second press; a failed one is told below all the amounts @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  const block = page.getByRole('region', { name: 'Add a donation' });
  await button(page, 'Donate $10').click();
  await button(page, 'Also add $50').click();
  await expect(block.getByText('Your donations: $60.00')).toBeVisible();
  await page.getByLabel('Custom amount').fill('7.50');
  await button(page, 'Also add donation').click();
  await expect(block.getByText('Your donations: $67.50')).toBeVisible();
  await expect(page.getByText('Total $132.50 USD')).toBeVisible();
  await block.getByText('Your donations').click();
  for (const amount of ['$10.00', '$7.50', '$50.00']) {
    await block.getByRole('button', { name: `Remove ${amount}`, exact: true }).click();
    await expect(block.getByRole('button', { name: `Remove ${amount}`, exact: true })).toHaveCount(0);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2');
  }
  await expect(block.getByText('Your donations')).toHaveCount(0);
  await expect(button(page, 'Donate $50')).toHaveAttribute('aria-pressed', 'false');
  const preset = button(page, 'Donate $25');
  await preset.click();
  await expect(preset).toHaveAttribute('aria-pressed', 'true');
  await preset.click();
  await expect(preset).toHaveAttribute('aria-pressed', 'false');
  await expect(preset).toBeFocused();
  await expect(page.getByText('Total $65.00 USD')).toBeVisible();
  await expect(page.getByText(/· Receipt to jordan\..*@example\.com$/)).toBeVisible();

  await refuse(page, 'setSessionProduct', 500, 'Not now.');
  await button(page, 'Donate $10').click();
  const told = block.getByRole('alert');
  await expect(told).toHaveText('Not now.');
  const [last, alert] = await Promise.all([button(page, 'Donate $50').boundingBox(), told.boundingBox()]);
  expect(alert!.y).toBeGreaterThan(last!.y + last!.height);
});

test('a total that changed in another tab is shown first, and charged only when Buy Now is pressed again', async ({
  page,
  context,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 409/);
  const answers = watchIntents(page);
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page);
  const other = await context.newPage();
  await other.goto(CHECKOUT);
  await button(other, 'Add Lapel Pin').click();
  await expect(total(other)).toHaveText('$77.00');
  await expect(total(page)).toHaveText('$65.00');
  await buyNow(page);
  // The sentence appears next to Buy Now. A toast shows it as well, as for every failed response.
  const payment = page.getByRole('region', { name: 'Payment', exact: true });
  await expect(payment.getByText('Your order has changed: the total is now $77.00.')).toBeVisible();
  await expect(total(page)).toHaveText('$77.00');
  const id = answers[0]!.clientSecret.split('_secret_')[0]!;
  expect(await stripeApi.charges(id)).toEqual([]);
  await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await buyNow(page);
  expect(await paidIntent(page)).toBe(id);
  expect(await stripeApi.charges(id)).toEqual([
    expect.objectContaining({ amount: 7700, status: 'succeeded' }),
  ]);
});

test('Buy Now and Upgrade Now pressed twice charge once; meanwhile Start Over cannot be pressed, and one is told that it takes long', async ({
  page,
  stripeApi,
}) => {
  const uuid = await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page);
  const release = await hold(page, 'beginPayment');
  await page.clock.install();
  await button(page, 'Buy Now').dblclick();
  await expect(button(page, 'Start Over')).toBeDisabled();
  await runClockUntil(page, () => page.getByText(PAYMENT_IS_SLOW).isVisible());
  release();
  const intent = await paidIntent(page);
  await button(page, 'Upgrade Now').dblclick();
  await expect(page).toHaveURL('/registration/congratulations');
  expect(await stripeApi.charges(intent)).toHaveLength(1);
  const charges = await Promise.all((await stripeApi.intentsOf(uuid)).map(({ id }) => stripeApi.charges(id)));
  expect(
    charges
      .flat()
      .map(({ amount }) => amount)
      .sort(),
  ).toEqual([4500, 6500]);
});

test('what is missing asks nothing, a decline and a failed authentication charge nothing and are told in view, and the same page takes another card @phone-only', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 402/);
  await page.setViewportSize({ width: 390, height: 664 });
  const intents = watchIntents(page);
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await cardForm(page).getByLabel('Card number').fill('4242');
  const asked: string[] = [];
  page.on('request', (request) => request.url().includes('/api/') && asked.push(request.url()));
  await scrollBuyNowToEdge(page);
  await buyNow(page);
  const answer = page.getByRole('alert');
  await expect(answer).toHaveText('Your card number is incomplete.');
  await expect(answer).toBeInViewport({ ratio: 1 });
  await expect(cardForm(page).getByText('Your card number is incomplete.')).toBeVisible();
  await expect(button(page, 'Buy Now')).toBeEnabled();
  expect(asked).toEqual([]);
  await typeCard(page, '4000000000009995');
  await scrollBuyNowToEdge(page);
  await buyNow(page);
  await expect(answer).toHaveText('Your card has insufficient funds.');
  await expect(page).toHaveTitle('Error: Checkout');
  await expect(answer).toBeInViewport({ ratio: 1 });
  await expect(page).toHaveURL(CHECKOUT);
  await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4000 0000 0000 9995');
  await typeCard(page, '4000002500003155');
  await buyNow(page);
  await bankQuestion(page).getByRole('button', { name: 'Fail authentication' }).click();
  await expect(answer).toHaveText(
    'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  );
  const id = intents[0]!.clientSecret.split('_secret_')[0]!;
  expect(await stripeApi.taken(id)).toEqual([]);
  await typeCard(page);
  await buyNow(page);
  expect(await paidIntent(page)).toBe(id);
  expect(await stripeApi.taken(id)).toEqual([6500]);
});

const wallets = (page: Page) => page.getByRole('region', { name: 'Pay with a wallet' });

test('under the policy of real keys, a wallet shows the order and pays it, whatever is typed below, and leads to the upgrade', async ({
  page,
  stripeApi,
}) => {
  // Anything that the content security policy blocks is an error in the console, which fails the test.
  const uuid = await orderingJoin(page, selfNomination);
  const answer = await page.goto(CHECKOUT);
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await expect(page.getByText('Or pay with a card')).toBeHidden();
  await expect(page.getByTitle('Secure express checkout frame')).toHaveCount(0);
  const { origin } = new URL(page.url());
  const form = new URL((await cardForm(page).owner().getAttribute('src')) ?? '').origin;
  expect(form).not.toBe(origin);
  const headers = answer!.headers();
  expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
  expect(headers['content-security-policy']).toContain(`frame-src ${form};`);
  expect(headers['content-security-policy']).toContain(`script-src 'self' ${form};`);
  expect(headers['permissions-policy']).toContain(`payment=(self "${form}")`);

  await giveWallet(page);
  await page.reload();
  await expect(wallets(page).getByText('Or pay with a card')).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await expect(cardForm(page).getByRole('button', { name: /wallet/ })).toHaveCount(0);
  await cardForm(page).getByLabel('Card number').fill('4242');
  await button(page, 'Donate $25').click();
  await expect(total(page)).toHaveText('$90.00');
  await expect(button(page, 'Buy Now')).toBeEnabled();
  const sheet = await openSheet(page);
  await expect(sheet.getByRole('listitem')).toHaveText([
    'Membership: $65.00',
    'Donation to scholarships: $25.00',
    'Total: $90.00',
  ]);
  await button(sheet, 'Visa ending 3155').click();
  await bankQuestion(page).getByRole('button', { name: 'Complete authentication' }).click();
  const id = await paidIntent(page);
  const { receipt_email } = await stripeApi.intent(id);
  expect(receipt_email).toMatch(/^jordan\..*@example\.com$/);
  expect(await stripeApi.taken(id)).toEqual([9000]);
  const [charge] = await stripeApi.charges(id);
  expect(charge!.payment_method_details.card.wallet?.type).toBe('google_pay');
  await expect(page.getByText('Visa ending 3155')).toBeVisible();
  await button(page, 'Upgrade Now').click();
  await bankQuestion(page).getByRole('button', { name: 'Fail authentication' }).click();
  await expect(page.getByRole('alert')).toContainText('We are unable to authenticate your payment method.');
  await button(page, 'Upgrade Now').click();
  await bankQuestion(page).getByRole('button', { name: 'Complete authentication' }).click();
  await expect(page).toHaveURL('/registration/upload-transcript');
  const charges = await Promise.all((await stripeApi.intentsOf(uuid)).map((one) => stripeApi.taken(one.id)));
  expect(charges.flat().sort()).toEqual([4500, 9000]);
});

test('a wallet asks for the policies before its sheet opens, and no address beyond the United States and Canada pays @phone-only', async ({
  page,
  invitation,
  stripeApi,
}) => {
  await page.setViewportSize({ width: 390, height: 664 });
  await giveWallet(page);
  await page.goto(`/initialize/checkout?vid=${invitation.contactId}`);
  await expect(wallets(page)).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await walletButton(page).click();
  const policies = page.getByLabel(/^I agree to the policies/);
  await expect(policies).toBeFocused();
  await expect(policies).toBeInViewport();
  await expect(page.getByText('You must agree to the policies.')).toBeVisible();
  expect(page.context().pages()).toHaveLength(1);
  await policies.check();

  const begun: string[] = [];
  page.on('request', (request) => request.url().endsWith('/begin-payment') && begun.push(request.url()));
  const withdrawn = await openSheet(page);
  await policies.uncheck();
  await button(withdrawn, 'Visa ending 4242').click();
  await expect(withdrawn.getByRole('alert')).toHaveText(/^What your wallet showed is out of date/);
  await withdrawn.close();
  await policies.check();
  const sheet = await openSheet(page);
  await sheet.getByLabel('Billing address').selectOption('FR');
  await button(sheet, 'Visa ending 4242').click();
  const told = 'We accept only cards billed in the United States or Canada.';
  await expect(sheet.getByRole('alert')).toHaveText(told);
  await expect(wallets(page).getByRole('alert')).toHaveText(told);
  await expect(wallets(page).getByRole('alert')).toBeInViewport({ ratio: 1 });
  expect(begun).toEqual([]);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
  });
  await expectFits(page);
  await sheet.getByLabel('Billing address').selectOption('US');
  await button(sheet, 'Visa ending 4242').click();
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([6500]);
  expect(begun).toHaveLength(1);
});

test('a wallet whose order has changed in another tab charges nothing, says so even if its button cannot be made anew, and shows the new total when it is pressed again', async ({
  page,
  context,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 4(02|09|29)/);
  await orderingJoin(page);
  await giveWallet(page);
  await page.goto(CHECKOUT);
  const first = await openSheet(page);
  const other = await context.newPage();
  await other.goto(CHECKOUT);
  await button(other, 'Donate $25').click();
  await expect(total(other)).toHaveText('$90.00');
  await test.step('the button cannot be made anew', async () => {
    await unroute(page, '**/frame.html');
    await button(first, 'Visa ending 4242').click();
    await expect(wallets(page)).toHaveCount(0);
    const payment = page.getByRole('region', { name: 'Payment' });
    await expect(payment.getByText('Your order has changed: the total is now $90.00.')).toBeVisible();
    await giveWallet(page);
    await page.reload();
  });
  const sheet = await openSheet(page);
  await button(other, 'Donate $25').click();
  await expect(total(other)).toHaveText('$65.00');
  await button(other, 'Add Lapel Pin').click();
  await expect(total(other)).toHaveText('$77.00');
  // The wallet's part of the page is created again, which closes the sheet.
  const closed = sheet.waitForEvent('close');
  await button(sheet, 'Visa ending 4242').click();
  await closed;
  await expect(wallets(page).getByRole('status')).toHaveText(
    'Your order has changed: the total is now $77.00. Please check it and try again.',
  );
  await expect(total(page)).toHaveText('$77.00');
  await expect(button(page, 'Buy Now')).toBeEnabled();

  const next = await openSheet(page);
  await expect(next.getByText('Total: $77.00')).toBeVisible();
  const paused = 'Too many cards were declined. Please wait 10 minutes and try again. Nothing was charged.';
  await refuse(page, 'beginPayment', 429, paused);
  await button(next, 'Visa ending 4242').click();
  await expect(next.getByRole('alert')).toHaveText(paused);
  await expect(wallets(page).getByRole('alert')).toHaveText(paused);
  await unroute(page, route('beginPayment'));
  await button(next, 'Visa ending 0002').click();
  await expect(next.getByRole('alert')).toHaveText('Your card was declined.');
  await expect(wallets(page).getByRole('alert')).toHaveText('Your card was declined.');
  await next.close();
  await typeCard(page);
  await buyNow(page);
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([7700]);
});

test('a bank that asks on a page of its own leads back, and the payment is confirmed', async ({
  page,
  stripeApi,
}) => {
  const intents = watchIntents(page);
  await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page, '4000002500003155');
  await stripeApi.askByRedirect(intents[0]!.clientSecret.split('_secret_')[0]!);
  await buyNow(page);
  await expect(page.getByRole('heading', { name: 'Authenticate your payment' })).toBeVisible();
  expect(new URL(page.url()).origin).toBe(new URL(theInduct().stripe.url).origin);
  await button(page, 'Complete authentication').click();
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([6500]);
});
