import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from '@playwright/test';
import type Stripe from 'stripe';
import { findChromium } from '../../local/chromium.ts';
import { type StripeEmulator, startStripeEmulator } from './server.ts';
import { serveTestPage } from './test-page/serve.ts';
import { CARDS_ONLY, clientOf } from './test-support.ts';

let emulator: StripeEmulator;
let site: { url: string; close(): Promise<void> };
let browser: Browser;
let stripe: Stripe;

before(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stripe-emulator-'));
  emulator = await startStripeEmulator({ host: '127.0.0.1', port: 0, dataDir });
  site = await serveTestPage(emulator.url);
  stripe = clientOf(emulator.url);
  browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking'],
  });
});
after(async () => {
  await browser.close();
  await site.close();
  await emulator.close();
});

/** The payment page for a new intent, with everything that its console complained about. */
async function open(t: TestContext, query = '') {
  const intent = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 6500 });
  const page = await browser.newPage({ viewport: { width: 390, height: 1400 } });
  t.after(() => page.close());
  const complaints: string[] = [];
  page.on('console', (message) => /warning|error/.test(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${site.url}/?secret=${intent.client_secret}${query}`);
  await page.getByLabel('Card number').waitFor();
  return { page, intent, complaints };
}

async function typeAddress(page: Page): Promise<void> {
  await page.getByLabel('Address line 1').fill('12 Oak Street');
  await page.getByLabel('City').fill('Austin');
  await page.getByLabel('State').selectOption('Texas');
  await page.getByLabel('ZIP code').fill('78701');
}

async function typeCard(page: Page, number: string): Promise<void> {
  await page.getByLabel('Card number').pressSequentially(number);
  await page.getByLabel('Expiration date').pressSequentially('1234');
  await page.getByLabel('Security code').pressSequentially('123');
}

const pay = (page: Page) => page.getByRole('button', { name: 'Pay', exact: true }).click();
const said = (page: Page, text: string | RegExp) => page.locator('output').getByText(text).waitFor();

test('a card that is typed pays, with the name and address beside it, under a strict policy and without a complaint', async (t) => {
  const { page, intent, complaints } = await open(t);
  await typeAddress(page);
  await typeCard(page, '4242424242424242');
  assert.equal(await page.getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
  assert.equal(await page.getByLabel('Expiration date').inputValue(), '12 / 34');
  await pay(page);
  await said(page, 'succeeded');
  const paid = await stripe.paymentIntents.retrieve(intent.id, { expand: ['payment_method'] });
  const { billing_details: billing } = paid.payment_method as Stripe.PaymentMethod;
  assert.equal(billing.name, 'Jordan Rivera');
  assert.deepEqual(billing.address, {
    line1: '12 Oak Street',
    line2: null,
    city: 'Austin',
    state: 'TX',
    postal_code: '78701',
    country: 'US',
  });
  assert.equal(paid.receipt_email, 'payer@example.com');
  assert.deepEqual(complaints, []);
});

test('after payment the page goes to the return address with what Stripe appends', async (t) => {
  const { page, intent } = await open(t, '&redirect=always');
  await typeAddress(page);
  await page.getByRole('button', { name: 'Use 4242 4242 4242 4242 (pays)' }).click();
  await pay(page);
  await page.waitForURL('**/return?*');
  const { searchParams } = new URL(page.url());
  assert.equal(searchParams.get('payment_intent'), intent.id);
  assert.equal(searchParams.get('payment_intent_client_secret'), intent.client_secret);
  assert.equal(searchParams.get('redirect_status'), 'succeeded');
});

test('what is incomplete is told under its field, and the first fault has the focus', async (t) => {
  const { page } = await open(t);
  await pay(page);
  await said(page, 'This field is incomplete.');
  const number = page.getByLabel('Card number');
  assert.equal(await number.getAttribute('aria-invalid'), 'true');
  const described = await number.getAttribute('aria-describedby');
  assert.equal(await page.locator(`#${described}`).textContent(), 'Your card number is incomplete.');
  assert.equal(await page.getByText("Your card's expiration date is incomplete.").isVisible(), true);
  assert.equal(await page.getByText("Your card's security code is incomplete.").isVisible(), true);
  assert.equal(
    await page.getByLabel('Address line 1').evaluate((field) => field === document.activeElement),
    true,
  );
  assert.equal(
    (await stripe.charges.list({ limit: 1, created: { gt: Math.ceil(Date.now() / 1000) } })).data.length,
    0,
  );
});

test('a wrong number and a past date are told as soon as they are whole', async (t) => {
  const { page } = await open(t);
  await page.getByLabel('Card number').fill('4242424242424241');
  await page.getByText('Your card number is invalid.').waitFor();
  await page.getByLabel('Expiration date').fill('1220');
  await page.getByText("Your card's expiration year is in the past.").waitFor();
  await page.getByLabel('Card number').fill('378282246310005');
  assert.equal(await page.getByLabel('Card number').inputValue(), '3782 822463 10005');
  assert.equal(await page.getByText('Your card number is invalid.').isVisible(), false);
});

test('editing in the middle of a number keeps the caret where it was', async (t) => {
  const { page } = await open(t);
  const number = page.getByLabel('Card number');
  await number.fill('4242 4242 4242 4242');
  await number.press('Home');
  for (let step = 0; step < 5; step += 1) await number.press('ArrowRight');
  await number.press('Backspace');
  assert.equal(await number.inputValue(), '4244 2424 2424 242', 'the digit before the space goes');
  await number.pressSequentially('2');
  assert.equal(await number.inputValue(), '4242 4242 4242 4242');
});

test('what was typed stays when the amount has changed and updates are fetched', async (t) => {
  const { page, intent } = await open(t);
  await typeAddress(page);
  await typeCard(page, '4242424242424242');
  await stripe.paymentIntents.update(intent.id, { amount: 9000 });
  await page.getByRole('button', { name: 'Update' }).click();
  await said(page, 'updated');
  assert.equal(await page.getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
  await pay(page);
  await said(page, 'succeeded');
  assert.equal((await stripe.paymentIntents.retrieve(intent.id)).amount_received, 9000);
});

test('a declined card tells so, and the next one pays', async (t) => {
  const { page, complaints } = await open(t);
  await typeAddress(page);
  await page.getByRole('button', { name: /is declined/ }).click();
  await pay(page);
  await said(page, 'Your card was declined.');
  const { error } = await page.evaluate(
    () => (window as unknown as { seen: { result: { error: Record<string, unknown> } } }).seen.result,
  );
  assert.deepEqual(
    [error.type, error.code, error.decline_code],
    ['card_error', 'card_declined', 'generic_decline'],
  );
  await page.getByLabel('Card number').fill('5555555555554444');
  await pay(page);
  await said(page, 'succeeded');
  assert.deepEqual(
    complaints.filter((text) => !/402/.test(text)),
    [],
  );
});

test('authentication is asked for in the page: failed it charges nothing, completed it pays', async (t) => {
  const { page, intent } = await open(t);
  await typeAddress(page);
  await page.getByRole('button', { name: /asks for authentication/ }).click();
  await pay(page);
  const dialog = page.getByRole('dialog', { name: 'Authenticate your payment' });
  await dialog.getByRole('button', { name: 'Fail authentication' }).click();
  await said(page, /^We are unable to authenticate your payment method/);
  assert.equal((await stripe.charges.list({ payment_intent: intent.id })).data.length, 0);
  await pay(page);
  await dialog.waitFor();
  await page.keyboard.press('Enter');
  await said(page, 'succeeded');
});

test('Escape answers the question of authentication as failed', async (t) => {
  const { page } = await open(t);
  await typeAddress(page);
  await page.getByRole('button', { name: /asks for authentication/ }).click();
  await pay(page);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await said(page, /^We are unable to authenticate/);
});

test('a Canadian address asks for a province and a postal code', async (t) => {
  const { page } = await open(t);
  await page.getByLabel('Country or region').selectOption('Canada');
  await page.getByLabel('Province').selectOption('Quebec');
  await page.getByLabel('Postal code').fill('G1R');
  await page.getByLabel('City').focus();
  await page.getByText('Your postal code is incomplete.').waitFor();
  assert.deepEqual(await page.getByLabel('Country or region').locator('option').allTextContents(), [
    'United States',
    'Canada',
  ]);
});

test('without an address element the card form asks for country and ZIP code itself', async (t) => {
  const { page, intent } = await open(t, '&no-address');
  await typeCard(page, '4242424242424242');
  await page.getByLabel('ZIP code').fill('78701');
  await pay(page);
  await said(page, 'succeeded');
  const { payment_method } = await stripe.paymentIntents.retrieve(intent.id, { expand: ['payment_method'] });
  assert.equal((payment_method as Stripe.PaymentMethod).billing_details.address?.postal_code, '78701');
});

test('the elements tell when they are ready and what was typed', async (t) => {
  const { page } = await open(t);
  await typeAddress(page);
  await page.waitForFunction(
    () => (window as unknown as { seen: { ready: string[] } }).seen.ready.length === 2,
  );
  const last = await page.evaluate(() =>
    (window as unknown as { seen: { changes: unknown[] } }).seen.changes.at(-1),
  );
  assert.deepEqual(last, {
    elementType: 'address',
    elementMode: 'billing',
    empty: false,
    complete: true,
    isNewAddress: true,
    value: {
      name: 'Jordan Rivera',
      address: {
        line1: '12 Oak Street',
        line2: null,
        city: 'Austin',
        state: 'TX',
        postal_code: '78701',
        country: 'US',
      },
    },
  });
});

test('a client secret that Stripe does not know is a load error of the element', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`${site.url}/?secret=pi_none_secret_none`);
  await page.waitForFunction(() =>
    (window as unknown as { seen?: { ready: string[] } }).seen?.ready.includes(
      "No such payment_intent: 'pi_none'",
    ),
  );
});

test('a provider that cannot be reached is an api_connection_error, and nothing typed is lost', async (t) => {
  const { page } = await open(t);
  await typeAddress(page);
  await typeCard(page, '4242424242424242');
  await page.route('**/confirm', (route) => route.abort());
  await pay(page);
  await said(page, /^We could not reach the payment provider/);
  assert.equal(await page.getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
});

test('axe finds nothing, neither in the form with its errors nor in the question of authentication', async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const { client_secret: secret } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  await page.goto(`${site.url}/?secret=${secret}`);
  await pay(page);
  await page.getByText('Your card number is incomplete.').waitFor();
  const violations = async () =>
    (await new AxeBuilder({ page }).analyze()).violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
  assert.deepEqual(await violations(), []);
  await typeAddress(page);
  await page.getByRole('button', { name: /asks for authentication/ }).click();
  await pay(page);
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await violations(), []);
});
