import type { Page } from '@playwright/test';
import { NO_ANSWER, PAYMENT_IS_SLOW } from '../../packages/core/sentences.ts';
import { call, hold, orderingJoin, route, unroute } from './arrange.ts';
import { test as base, expect, expectAccessible, expectFits, theInduct } from './fixtures.ts';
import {
  bankQuestion,
  button,
  buyNow,
  cardForm,
  heading,
  paidIntent,
  runClockUntil,
  typeBillingAddress,
  typeCard,
} from './steps.ts';

interface Fixtures {
  /** The join, which is at Checkout in `page`. */
  uuid: string;
  /** The page in which its link is open, in a separate browser. */
  payer: Page;
}

const test = base.extend<Fixtures>({
  uuid: async ({ page }, use) => use(await orderingJoin(page)),
  payer: async ({ page, uuid: _, browser, complaints }, use) => {
    complaints.expectFailedRequests();
    await page.goto('/registration/checkout');
    await button(page, 'Ask someone else to pay').click();
    const link = page.getByRole('link', { name: /\/pay\// });
    const address = (await link.getAttribute('href'))!;
    expect(address).toMatch(new RegExp(`^${theInduct().server.url}/pay/[\\w-]{22}$`));
    const context = await browser.newContext({ viewport: page.viewportSize() });
    complaints.watch(context);
    const payer = await context.newPage();
    await payer.goto(address);
    await expect(heading(payer, "Pay for Jordan's membership")).toBeVisible();
    await use(payer);
    await context.close();
  },
});

async function fillIn(payer: Page, card?: string): Promise<void> {
  await payer.getByLabel('Your email').fill('alex.rivera@example.com');
  await typeBillingAddress(payer);
  await typeCard(payer, card);
}

test('somebody else pays after a declined card, and the joiner’s page goes on by itself @phone-only', async ({
  page,
  payer,
}) => {
  await expect(payer.getByText('Jordan R. asks you to pay')).toBeVisible();
  await expectAccessible(payer);
  await expectFits(payer);
  await fillIn(payer, '4000000000000002');
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByText('Your card was declined.')).toBeVisible();
  // What the membership includes is plain text, so nothing is downloaded to sanitize it.
  const downloaded = await payer.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => name),
  );
  expect(downloaded.filter((name) => name.includes('/js/async/pay'))).toHaveLength(1);
  expect(downloaded.filter((name) => name.includes('purify'))).toEqual([]);
  await typeCard(payer);
  await button(payer, 'Pay $65.00').click();
  await expect(heading(payer, 'Thank you')).toBeVisible();
  await expect(payer.getByText('alex.rivera@example.com')).toBeVisible();
  await expectAccessible(payer);

  await expect(page).toHaveURL(/\/registration\/upgrade/);
  await button(page, 'Upgrade Now').click();
  await expect(page.getByRole('heading', { name: 'Your card' })).toBeVisible();
  await expect(button(page, /saved card/)).toBeHidden();
  await typeCard(page);
  await cardForm(page).getByLabel('ZIP code').fill('78701');
  await button(page, 'Pay $45.00').click();
  await expect(page).toHaveURL('/registration/congratulations');
  await expect(page.getByText(/^Paid by/)).toBeVisible();

  await payer.reload();
  await expect(payer.getByText('This membership has already been paid for.')).toBeVisible();
});

test('a payer sees that the order has changed and pays the new total; their bank’s question is answered on their page, while the joiner is told that somebody pays', async ({
  page,
  payer,
  uuid,
}) => {
  await fillIn(payer, '4000002500003155');
  await button(page, 'Donate $25').click();
  await expect(button(page, 'Remove Donation to scholarships $25.00')).toBeVisible();
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByText('The order has changed: the total is now $90.00.')).toBeVisible();
  await expect(cardForm(payer).getByLabel('Card number')).toHaveValue('4000 0025 0000 3155');
  await button(payer, 'Pay $90.00').click();
  const complete = bankQuestion(payer).getByRole('button', { name: 'Complete authentication' });
  await expect(complete).toBeVisible();
  await expect(page.getByText('Someone is paying for your membership right now.')).toBeVisible();
  await expect(button(page, 'Buy Now')).toBeHidden();
  const { isBeingPaid } = await call(page, 'getPayLink', { uuid });
  expect(isBeingPaid).toBe(true);
  await complete.click();
  await expect(heading(payer, 'Thank you')).toBeVisible();
  await expect(payer.getByText('$90.00').first()).toBeVisible();
  await expect(page).toHaveURL(/\/registration\/upgrade/);
});

test('a payer who comes second is told that their card was not charged', async ({ page, payer }) => {
  await fillIn(payer);
  await typeCard(page);
  await buyNow(page);
  await paidIntent(page);
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByText('Your card was not charged.')).toBeVisible();
});

test('a payer is told to check a connection that is gone, and that a slow one takes long @phone-only', async ({
  payer,
}) => {
  await fillIn(payer);
  await payer.route(route('beginPayPage'), (request) => request.abort());
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByRole('main').getByRole('alert')).toHaveText(NO_ANSWER);
  await unroute(payer, route('beginPayPage'));
  const release = await hold(payer, 'beginPayPage');
  await payer.clock.install();
  await button(payer, 'Pay $65.00').click();
  await runClockUntil(payer, () => payer.getByText(PAYMENT_IS_SLOW).isVisible());
  await expectAccessible(payer);
  release();
  await expect(heading(payer, 'Thank you')).toBeVisible();
});

test('Start Over ends the link, and an unknown one says what to do', async ({ page, payer }) => {
  const ended = page.waitForResponse(/end-pay-link/);
  await button(page, 'Start Over').click();
  await ended;
  await payer.reload();
  await expect(payer.getByRole('main').getByText('This payment link has ended.')).toBeVisible();
});
