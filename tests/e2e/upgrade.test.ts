import type { Page, Route } from '@playwright/test';
import { alter, call, openIntent, paidJoin, refuse, twoJoins, unroute } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test, theInduct } from './fixtures.ts';
import { stripe } from './providers.ts';
import { bankQuestion, button, buyNow, cardForm, heading, runClockUntil, typeCard } from './steps.ts';

const CHECKOUT = '/registration/checkout';
const WELCOME = '/registration/congratulations';

async function inspect(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

/** Makes a paid join whose card the bank declines from now on. */
async function declinedLater(page: Page): Promise<{ uuid: string; upgradePath: string }> {
  const { stripe: account } = theInduct();
  const join = await paidJoin(page);
  await stripe(account).declineFromNowOn(join.intent, 'insufficient_funds');
  return join;
}

/** Types another card. There are no fields for a billing address next to this card form, so the form asks for the postal code. */
async function typeOther(page: Page, number?: string): Promise<void> {
  await typeCard(page, number);
  await cardForm(page).getByLabel('ZIP code').fill('78701');
}

/** Returns the amounts that were really charged for a join (cents). */
async function takenFor(uuid: string): Promise<number[]> {
  const api = stripe(theInduct().stripe);
  const taken = await Promise.all((await api.intentsOf(uuid)).map(({ id }) => api.taken(id)));
  return taken.flat().sort((a, b) => a - b);
}

test('a decline of the saved card offers another card, which is declined, authenticated and pays the exact amount on the button @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 4(02|29)/);
  const { uuid, upgradePath } = await declinedLater(page);
  await page.goto(upgradePath);
  await expect(page.getByText('Visa ending 4242')).toBeVisible();
  await expect(button(page, 'Use another card')).toHaveCount(0);
  await button(page, 'Upgrade Now').click();
  await expect(page.getByRole('alert')).toHaveText('Your card has insufficient funds.');
  await inspect(page);
  await button(page, 'Use another card').click();
  await expect(heading3(page, 'Another card')).toBeFocused();
  await expect(button(page, 'Skip')).toBeEnabled();
  await expect(page.getByText('Visa ending 4242', { exact: true })).toHaveCount(0);
  await test.step('back to the saved card, which is tried with its name on the screen', async () => {
    await button(page, 'Use Visa ending 4242').click();
    await expect(page.getByText('Visa ending 4242', { exact: true })).toBeVisible();
    await expect(cardForm(page).getByLabel('Card number')).toHaveCount(0);
    await button(page, 'Upgrade Now').click();
    await expect(page.getByRole('alert')).toHaveText('Your card has insufficient funds.');
    await button(page, 'Use another card').click();
  });
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await expect(button(page, 'Pay $45.00')).toBeEnabled();
  await inspect(page);

  await button(page, 'Pay $45.00').click();
  await expect(page.getByRole('alert').first()).toContainText('Your card number is incomplete.');
  await inspect(page);
  await typeOther(page, '4000000000000002');
  await button(page, 'Pay $45.00').click();
  await expect(page.getByRole('alert')).toHaveText('Your card was declined.');
  await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4000 0000 0000 0002');
  expect(await takenFor(uuid)).toEqual([6500]);
  await typeOther(page, '4000000000003220');
  await test.step('a call that fails is told near the button, and what was typed stays', async () => {
    await refuse(page, 'createUpgradeCharge', 429, 'Too many cards were declined. Please wait.');
    await button(page, 'Pay $45.00').click();
    await expect(page.getByRole('main').getByRole('alert')).toHaveText(/^Too many cards were declined/);
    await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4000 0000 0000 3220');
    await unroute(page);
  });
  await button(page, 'Pay $45.00').click();
  await bankQuestion(page).getByRole('button', { name: 'Fail authentication' }).click();
  await expect(page.getByRole('alert')).toContainText('We are unable to authenticate your payment method.');
  expect(await takenFor(uuid)).toEqual([6500]);
  await test.step('whoever takes long to answer the bank is waited for', async () => {
    await page.clock.install();
    const asked = page.waitForResponse(/pay-link/);
    await button(page, 'Pay $45.00').click();
    await expect(bankQuestion(page).getByRole('button', { name: 'Complete authentication' })).toBeVisible();
    let isAsked = false;
    void asked.then(() => (isAsked = true));
    await runClockUntil(page, async () => isAsked);
    await page.clock.runFor(1_000);
    await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
    await expect(button(page, 'Upgrading...')).toBeVisible();
    await page.clock.resume();
  });
  await bankQuestion(page).getByRole('button', { name: 'Complete authentication' }).click();
  await expect(page).toHaveURL(WELCOME);
  expect(await takenFor(uuid)).toEqual([4500, 6500]);
});

test('Skip in one tab ends the card form in another: nothing is charged, and it is led on', async ({
  page,
  context,
  complaints,
}) => {
  complaints.expect(/status of 409/);
  const { uuid, upgradePath } = await declinedLater(page);
  await page.goto(upgradePath);
  await button(page, 'Upgrade Now').click();
  await button(page, 'Use another card').click();
  await typeOther(page);
  const other = await context.newPage();
  await other.goto(upgradePath);
  await button(other, 'Skip').click();
  await expect(other).toHaveURL(WELCOME);
  await button(page, 'Pay $45.00').click();
  await expect(
    page.getByText('This upgrade is no longer available, so nothing was charged.').first(),
  ).toBeVisible();
  await expect(page).toHaveURL(WELCOME);
  expect(await takenFor(uuid)).toEqual([6500]);
});

test('an upgrade sold in one tab leads the card form in another on, without a second charge', async ({
  page,
  context,
  stripeApi,
}) => {
  const { intent, uuid, upgradePath } = await paidJoin(page);
  await stripeApi.declineFromNowOn(intent, 'insufficient_funds');
  await page.goto(upgradePath);
  await button(page, 'Upgrade Now').click();
  await button(page, 'Use another card').click();
  await typeOther(page);
  await stripeApi.declineFromNowOn(intent, null);
  const other = await context.newPage();
  await other.goto(upgradePath);
  await button(other, 'Upgrade Now').click();
  await expect(other).toHaveURL(WELCOME);
  await button(page, 'Pay $45.00').click();
  await expect(page).toHaveURL(WELCOME);
  expect(await takenFor(uuid)).toEqual([4500, 6500]);
});

test('a bank that leads back with the upgrade paid lands on the next screen, without the secret', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/The payment was not completed: requires_payment_method/);
  const { uuid, intent } = await paidJoin(page);
  const { clientSecret } = await call(
    page,
    'createUpgradeCharge',
    { uuid },
    { paymentIntent: intent, charge: false },
  );
  const id = clientSecret.split('_secret_')[0];
  const query = `payment_intent=${id}&payment_intent_client_secret=${clientSecret}&redirect_status=`;
  await page.goto(`/registration/post-payment?${query}failed`);
  await expect(page).toHaveURL('/registration/post-payment');
  await page.getByRole('link', { name: 'Continue' }).click();
  await expect(page).toHaveURL(`/registration/upgrade?payment_intent=${intent}`);
  await stripeApi.confirm(id, 'pm_card_mastercard', theInduct().server.url);
  await page.goto(`/registration/post-payment?${query}succeeded`);
  await expect(page).toHaveURL(WELCOME);
});

test('another price than the one on the screen is shown before it is charged', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 409/);
  const { uuid, upgradePath } = await paidJoin(page);
  const earlier = async (route: Route) => {
    const answer = await (await route.fetch()).json();
    answer.data.upgradeOption.price = '40.00';
    await route.fulfill({ json: answer });
  };
  await page.route('**/upgrade-details', earlier);
  await page.goto(upgradePath);
  await expect(page.getByText('$40', { exact: true })).toBeVisible();
  await unroute(page, '**/upgrade-details', earlier);
  await button(page, 'Upgrade Now').click();
  await expect(
    page
      .getByRole('main')
      .getByText('The price of this upgrade is now $45.00. Please check it and try again.'),
  ).toBeVisible();
  await expect(page.getByText('$45', { exact: true })).toBeVisible();
  expect(await takenFor(uuid)).toEqual([6500]);
  await button(page, 'Upgrade Now').click();
  await expect(page).toHaveURL(WELCOME);
  expect(await takenFor(uuid)).toEqual([4500, 6500]);
});

test('of two payments of one person the second goes back by itself, and both joins are told', async ({
  page,
  browser,
  baseURL,
  invitation,
  stripeApi,
}) => {
  const elsewhere = await browser.newContext({ baseURL: baseURL! });
  const winner = await elsewhere.newPage();
  const { uuid, pays } = await twoJoins(page, winner, invitation);
  const { id, secret } = await openIntent(page, uuid);
  await pays();
  // The intent of the unpaid join was opened before the other join was paid, so Stripe still accepts its payment.
  const returnUrl = `${theInduct().server.url}/registration/post-payment`;
  await stripeApi.confirm(id, 'pm_card_mastercard', returnUrl);
  await page.goto(
    `/registration/post-payment?payment_intent=${id}&payment_intent_client_secret=${secret}&redirect_status=succeeded`,
  );
  await expect(heading(page, 'Payment refunded')).toBeFocused();
  const main = page.getByRole('main');
  await expect(main.getByRole('status')).toContainText('already been paid for by another registration');
  // If the webhook arrived before this page reported the payment, the refund is still in progress.
  await expect(main).toContainText(
    /Your payment of \$65\.00 (was|is being) refunded in full to Mastercard ending 4444\./,
  );
  await expect(main.getByRole('link', { name: /@/ })).toBeVisible();
  await expect(page).toHaveURL('/registration/post-payment');
  await inspect(page);
  await page.reload();
  await expect(main).toContainText('Your payment of $65.00 was refunded in full to Mastercard ending 4444.');
  await alter(page, 'postPayment', ({ refunded }) => Object.assign(refunded, { why: 'other_amount' }));
  await page.reload();
  await expect(main).toContainText(
    'not the amount of your order, so nothing was bought with it. You can pay',
  );

  await winner.goto(WELCOME);
  await expect(winner.getByRole('main').getByRole('status').first()).toHaveText(
    'We received a second payment of $65.00 for this membership, and have refunded it in full.',
  );
  await inspect(winner);
  await elsewhere.close();
  await button(page, 'Start Over').click();
  await expect(heading(page, 'Get Started')).toBeVisible();
});

test('who became a member by another join is told so at Checkout and Membership, without a card form', async ({
  page,
  browser,
  baseURL,
  complaints,
  invitation,
}) => {
  complaints.expect(/status of 409/);
  const elsewhere = await browser.newContext({ baseURL: baseURL! });
  const { pays } = await twoJoins(page, await elsewhere.newPage(), invitation);
  await page.goto(CHECKOUT);
  await typeCard(page);
  await pays();
  await elsewhere.close();
  const told = page.getByRole('main').getByText(/belongs to someone who is already a member/);
  // The page still shows Checkout as it was before the other join was paid, with a card typed in.
  await buyNow(page);
  await expect(told).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toHaveCount(0);
  await page.goto(CHECKOUT);
  await expect(told).toBeVisible();
  await expect(cardForm(page).getByLabel('Card number')).toHaveCount(0);
  await inspect(page);
  await page.goto('/registration/membership');
  await expect(told).toBeVisible();
  await expect(page.getByRole('button', { name: /Choose this membership/ })).toHaveCount(0);
  await inspect(page);
  await button(page, 'Start Over').click();
  await expect(heading(page, 'Get Started')).toBeVisible();
});

function heading3(page: Page, name: string) {
  return page.getByRole('heading', { level: 3, name });
}
