import { expect, type Page, type Response } from '@playwright/test';
import { details } from './arrange.ts';

/** The steps of a joiner. Elements are found by the words that the joiner reads. */

export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) });

export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, ...(typeof name === 'string' && { exact: true }) });

export const field = (page: Page, label: string) => page.getByRole('textbox', { name: label });

/**
 * Advances Playwright's clock, a second at a time, until the check holds. A single `runFor` may come too early: React shows a text
 * before it runs the effect that starts the text's timer.
 */
export async function runClockUntil(page: Page, holds: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(async () => {
      await page.clock.runFor(1_000);
      return holds();
    })
    .toBe(true);
}

export async function enterCode(page: Page, code: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('Invite code').fill(code);
  await button(page, 'Submit').click();
}

export async function selfNominate(page: Page, programme = ''): Promise<void> {
  await page.goto(`/registration/get-started${programme && `?programme=${programme}`}`);
  await button(page, 'I am Self-Nominating').click();
  await page.getByLabel('Yes, I confirm I meet the eligibility requirements').check();
  await button(page, 'Submit').click();
}

/** Fills every required field, as a joiner without a contact must. */
export async function fillDetails(page: Page, change: Record<string, string> = {}): Promise<void> {
  await expect(heading(page, 'Student Details')).toBeVisible();
  const given = details(change) as unknown as Record<string, string>;
  await page.getByLabel('First name').fill(given.firstName!);
  await page.getByLabel('Last name').fill(given.lastName!);
  await page.getByLabel('Personal email').fill(given.personalEmail!);
  await page.getByLabel('Address line 1').fill(given.address1!);
  await page.getByLabel('City').fill(given.city!);
  await page.getByLabel('State/Province').selectOption(given.state!);
  await page.getByLabel('Zipcode').fill(given.zipcode!);
  await page.getByLabel('High school name').fill(given.highSchoolName!);
  await page.getByLabel('Graduation year').selectOption(given.highSchoolGraduationYear!);
  await page.getByLabel('High school GPA').selectOption(given.highSchoolGpa!);
  await page.getByLabel('I agree to the policies').check();
}

export async function save(page: Page): Promise<void> {
  await button(page, 'Save').click();
  await expect(page).toHaveURL('/registration/membership');
}

export async function chooseMembership(page: Page, name = 'Membership'): Promise<void> {
  await button(page, `Choose this membership: ${name}`).click();
  await expect(page).toHaveURL('/registration/checkout');
}

/**
 * These three locate frames of the card provider, which are of another origin: the card's fields, the billing address, and the
 * bank's authentication question.
 */
export const cardForm = (page: Page) => page.frameLocator('iframe[title="Secure payment input frame"]');
export const addressForm = (page: Page) => page.frameLocator('iframe[title="Secure address input frame"]');
export const bankQuestion = (page: Page) =>
  page.frameLocator('dialog[aria-label="Authenticate your payment"] iframe');

/** Gives the page's device a wallet. The Stripe stand-in has a switch for this, which would affect the pages of all tests. */
export const giveWallet = (page: Page) =>
  page.route('**/frame.html', async (request) => {
    const response = await request.fetch();
    const body = (await response.text()).replace('<html ', '<html data-wallet ');
    await request.fulfill({ response, body });
  });

/** The wallet's button, in a frame of the card provider. */
export const walletButton = (page: Page) =>
  page
    .frameLocator('iframe[title="Secure express checkout frame"]')
    .getByRole('button', { name: 'Pay with Google Pay' });

/** Presses the wallet's button. Returns the wallet's sheet, which opens as a window. */
export async function openSheet(page: Page): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await walletButton(page).click();
  return opened;
}

export async function typeCard(page: Page, number = '4242424242424242'): Promise<void> {
  const card = cardForm(page);
  await card.getByLabel('Card number').fill(number);
  await card.getByLabel('Expiration date').fill('1234');
  await card.getByLabel('Security code').fill('123');
}

export async function typeBillingAddress(page: Page): Promise<void> {
  const address = addressForm(page);
  await address.getByLabel('Full name').fill('Jordan Rivera');
  await address.getByLabel('Address line 1').fill('12 Oak Street');
  await address.getByLabel('City').fill('Austin');
  await address.getByLabel('State').selectOption('Texas');
  await address.getByLabel('ZIP code').fill('78701');
}

export async function buyNow(page: Page): Promise<void> {
  await button(page, 'Buy Now').click();
}

/**
 * Scrolls until Buy Now is at the lower edge of the screen, so that what appears below the button is outside the visible part.
 */
export async function scrollBuyNowToEdge(page: Page): Promise<void> {
  await button(page, 'Buy Now').evaluate((element) => element.scrollIntoView({ block: 'end' }));
}

/** Pays with a card that is accepted. Returns the payment intent's id. */
export async function pay(page: Page): Promise<string> {
  await typeCard(page);
  await buyNow(page);
  return paidIntent(page);
}

/** Waits for the Upgrade screen. Returns the payment intent's id from its URL. */
export async function paidIntent(page: Page): Promise<string> {
  await expect(page).toHaveURL(/\/registration\/upgrade\?payment_intent=pi_/);
  return new URL(page.url()).searchParams.get('payment_intent')!;
}

export const total = (page: Page) =>
  page
    .getByText('Total Due Today', { exact: true })
    .locator('..')
    .getByRole('definition')
    .locator('span')
    .first();

export interface IntentAnswer {
  clientSecret: string;
  amount: number;
  revision: number;
}

/** Returns a list that collects every payment intent in the server's answers to the page. */
export function watchIntents(page: Page): IntentAnswer[] {
  const answers: IntentAnswer[] = [];
  page.on('response', (response: Response) => {
    if (!response.url().endsWith('/create-payment-intent') || !response.ok()) return;
    void response.json().then(
      ({ data }) => answers.push(data),
      () => {},
    );
  });
  return answers;
}
