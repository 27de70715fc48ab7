import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { expect, type Page } from '@playwright/test';
import type Stripe from 'stripe';
import { violationsIn, WCAG } from '../../tests/harness/axe.ts';
import { openTestPage } from './test-page/open.ts';
import { serveTestPage } from './test-page/serve.ts';
import { CARDS_ONLY, CONFIRMED } from './test-support.ts';

const { emulator, site, browser, stripe, close } = await openTestPage();
after(close);

/** The frames that have the emulator's origin: those of the card's fields, of the address, and of the bank's question. */
const card = (page: Page) => page.frameLocator('iframe[title="Secure payment input frame"]');
const address = (page: Page) => page.frameLocator('iframe[title="Secure address input frame"]');
const question = (page: Page) =>
  page.getByRole('dialog', { name: 'Authenticate your payment' }).locator('iframe').contentFrame();

/** Opens the payment page for a new intent. Returns the page with the errors in its console. */
async function open(t: TestContext, query = '') {
  const intent = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 6500 });
  const page = await browser.newPage({ viewport: { width: 390, height: 1400 } });
  t.after(() => page.close());
  const complaints: string[] = [];
  page.on('console', (message) => /warning|error/.test(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${site.url}/?secret=${intent.client_secret}${query}`);
  await card(page).getByLabel('Card number').waitFor();
  return { page, intent, complaints };
}

async function typeAddress(page: Page): Promise<void> {
  await address(page).getByLabel('Address line 1').fill('12 Oak Street');
  await address(page).getByLabel('City').fill('Austin');
  await address(page).getByLabel('State').selectOption('Texas');
  await address(page).getByLabel('ZIP code').fill('78701');
}

async function typeCard(page: Page, number: string): Promise<void> {
  await card(page).getByLabel('Card number').pressSequentially(number);
  await card(page).getByLabel('Expiration date').pressSequentially('1234');
  await card(page).getByLabel('Security code').pressSequentially('123');
}

const pay = (page: Page) => page.getByRole('button', { name: 'Pay', exact: true }).click();
const expectShown = (page: Page, text: string | RegExp) => page.locator('output').getByText(text).waitFor();

test('a card that is typed pays, with the name and address beside it, under a strict policy and without a complaint', async (t) => {
  const { page, intent, complaints } = await open(t);
  await typeAddress(page);
  await typeCard(page, '4242424242424242');
  assert.equal(await card(page).getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
  assert.equal(await card(page).getByLabel('Expiration date').inputValue(), '12 / 34');
  await pay(page);
  await expectShown(page, 'succeeded');
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
  await card(page).getByRole('button', { name: 'Use 4242 4242 4242 4242 (pays)' }).click();
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
  await expectShown(page, 'This field is incomplete.');
  const number = card(page).getByLabel('Card number');
  assert.equal(await number.getAttribute('aria-invalid'), 'true');
  const described = await number.getAttribute('aria-describedby');
  assert.equal(await card(page).locator(`#${described}`).textContent(), 'Your card number is incomplete.');
  assert.equal(await card(page).getByText("Your card's expiration date is incomplete.").isVisible(), true);
  assert.equal(await card(page).getByText("Your card's security code is incomplete.").isVisible(), true);
  assert.equal(
    await address(page)
      .getByLabel('Address line 1')
      .evaluate((field) => field === document.activeElement),
    true,
  );
  assert.equal(
    (await stripe.charges.list({ limit: 1, created: { gt: Math.ceil(Date.now() / 1000) } })).data.length,
    0,
  );
});

test('a wrong number and a past date are told as soon as they are whole', async (t) => {
  const { page } = await open(t);
  await card(page).getByLabel('Card number').fill('4242424242424241');
  await card(page).getByText('Your card number is invalid.').waitFor();
  await card(page).getByLabel('Expiration date').fill('1220');
  await card(page).getByText("Your card's expiration year is in the past.").waitFor();
  await card(page).getByLabel('Card number').fill('378282246310005');
  assert.equal(await card(page).getByLabel('Card number').inputValue(), '3782 822463 10005');
  assert.equal(await card(page).getByText('Your card number is invalid.').isVisible(), false);
});

test('editing in the middle of a number keeps the caret where it was', async (t) => {
  const { page } = await open(t);
  const number = card(page).getByLabel('Card number');
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
  await expectShown(page, 'updated');
  assert.equal(await card(page).getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
  await pay(page);
  await expectShown(page, 'succeeded');
  assert.equal((await stripe.paymentIntents.retrieve(intent.id)).amount_received, 9000);
});

test('a declined card tells so, and the next one pays', async (t) => {
  const { page, complaints } = await open(t);
  await typeAddress(page);
  await card(page)
    .getByRole('button', { name: /is declined/ })
    .click();
  await pay(page);
  await expectShown(page, 'Your card was declined.');
  const { error } = await page.evaluate(
    () => (window as unknown as { seen: { result: { error: Record<string, unknown> } } }).seen.result,
  );
  assert.deepEqual(
    [error.type, error.code, error.decline_code],
    ['card_error', 'card_declined', 'generic_decline'],
  );
  await card(page).getByLabel('Card number').fill('5555555555554444');
  await pay(page);
  await expectShown(page, 'succeeded');
  assert.deepEqual(
    complaints.filter((text) => !/402/.test(text)),
    [],
  );
});

test('authentication is asked for in the page: failed it charges nothing, completed it pays', async (t) => {
  const { page, intent } = await open(t);
  await typeAddress(page);
  await card(page)
    .getByRole('button', { name: /asks for authentication/ })
    .click();
  await pay(page);
  await question(page).getByRole('button', { name: 'Fail authentication' }).click();
  await expectShown(page, /^We are unable to authenticate your payment method/);
  assert.equal((await stripe.charges.list({ payment_intent: intent.id })).data.length, 0);
  await pay(page);
  await expect(question(page).getByRole('button', { name: 'Complete authentication' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expectShown(page, 'succeeded');
});

test('Escape answers the question of authentication as failed', async (t) => {
  const { page } = await open(t);
  await typeAddress(page);
  await card(page)
    .getByRole('button', { name: /asks for authentication/ })
    .click();
  await pay(page);
  await expect(question(page).getByRole('button', { name: 'Complete authentication' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expectShown(page, /^We are unable to authenticate/);
});

test('a Canadian address asks for a province and a postal code', async (t) => {
  const { page } = await open(t);
  await address(page).getByLabel('Country or region').selectOption('Canada');
  await address(page).getByLabel('Province').selectOption('Quebec');
  await address(page).getByLabel('Postal code').fill('G1R');
  await address(page).getByLabel('City').focus();
  await address(page).getByText('Your postal code is incomplete.').waitFor();
  assert.deepEqual(await address(page).getByLabel('Country or region').locator('option').allTextContents(), [
    'United States',
    'Canada',
  ]);
});

test('without an address element the card form asks for country and ZIP code itself', async (t) => {
  const { page, intent } = await open(t, '&no-address');
  await typeCard(page, '4242424242424242');
  await card(page).getByLabel('ZIP code').fill('78701');
  await pay(page);
  await expectShown(page, 'succeeded');
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
  await expectShown(page, /^We could not reach the payment provider/);
  assert.equal(await card(page).getByLabel('Card number').inputValue(), '4242 4242 4242 4242');
});

test('axe finds nothing, neither in the form with its errors nor in the question of authentication', async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const { client_secret: secret } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  await page.goto(`${site.url}/?secret=${secret}`);
  await pay(page);
  await card(page).getByText('Your card number is incomplete.').waitFor();
  const violations = () => Promise.all(page.frames().map((frame) => violationsIn(frame, WCAG)));
  assert.deepEqual((await violations()).flat(), []);
  await typeAddress(page);
  await card(page)
    .getByRole('button', { name: /asks for authentication/ })
    .click();
  await pay(page);
  await question(page).getByRole('button', { name: 'Complete authentication' }).waitFor();
  assert.deepEqual((await violations()).flat(), []);
});

test('the page never has the card: it is typed into a frame of another origin, and goes to the API from there', async (t) => {
  const { page } = await open(t);
  await typeCard(page, '4242424242424242');
  assert.notEqual(new URL(site.url).origin, new URL(emulator.url).origin);
  const origins = page.frames().map((frame) => new URL(frame.url()).origin);
  assert.deepEqual(origins.sort(), [site.url, emulator.url, emulator.url].sort());
  const seen = await page.evaluate(() => document.documentElement.outerHTML + window.frames.length);
  assert.doesNotMatch(seen, /4242 ?4242/);
  await typeAddress(page);
  const sent = page.waitForRequest('**/confirm');
  await pay(page);
  const request = await sent;
  assert.equal(new URL(request.frame().url()).origin, emulator.url);
  assert.match(request.postData() ?? '', /4242424242424242/);
  await expectShown(page, 'succeeded');
});

test('a page that does not let the frames in is told so by the elements', async (t) => {
  const strict = await serveTestPage(emulator.url, { frames: "'self'" });
  t.after(() => strict.close());
  const page = await browser.newPage();
  t.after(() => page.close());
  const { client_secret: secret } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  await page.goto(`${strict.url}/?secret=${secret}`);
  await page.waitForFunction(() =>
    (window as unknown as { seen?: { ready: string[] } }).seen?.ready.includes(
      'The frame of the payment provider could not be loaded.',
    ),
  );
});

test('the client secret of an intent that is over is a load error of the element', async (t) => {
  const done = await stripe.paymentIntents.create({
    ...CONFIRMED,
    amount: 500,
    payment_method: 'pm_card_visa',
  });
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`${site.url}/?secret=${done.client_secret}`);
  await page.waitForFunction(() =>
    (window as unknown as { seen?: { ready: string[] } }).seen?.ready.some((said) =>
      said.includes('terminal state: succeeded'),
    ),
  );
});

test('a wallet’s window tells the card’s frame what was chosen, unless the page’s opener policy keeps it from that', async (t) => {
  const control = (wallet: boolean) =>
    fetch(`${emulator.url}/_emulator/browser`, { method: 'POST', body: JSON.stringify({ wallet }) });
  await control(true);
  t.after(() => control(false));
  const { page } = await open(t);
  await typeAddress(page);
  const opened = page.waitForEvent('popup');
  await card(page).getByRole('button', { name: 'Pay with a wallet' }).click();
  await (await opened).getByRole('button', { name: 'Visa ending 4242' }).click();
  await expect(card(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await pay(page);
  await expectShown(page, 'succeeded');

  const strict = await serveTestPage(emulator.url, { opener: 'same-origin' });
  t.after(() => strict.close());
  const { client_secret: secret } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  const shut = await browser.newPage();
  t.after(() => shut.close());
  await shut.goto(`${strict.url}/?secret=${secret}`);
  await card(shut).getByRole('button', { name: 'Pay with a wallet' }).click();
  await card(shut).getByText("The wallet's window could not be opened.").waitFor();
});

test('a bank that asks on a page of its own leads away, and back to the return address', async (t) => {
  const { page, intent } = await open(t, '&redirect=always');
  await fetch(`${emulator.url}/_emulator/payment_intents/${intent.id}/authentication`, {
    method: 'POST',
    body: JSON.stringify({ by: 'redirect' }),
  });
  await typeAddress(page);
  await card(page)
    .getByRole('button', { name: /asks for authentication/ })
    .click();
  await pay(page);
  await page.getByRole('button', { name: 'Complete authentication' }).click();
  await page.waitForURL('**/return?*');
  assert.equal(new URL(page.url()).searchParams.get('payment_intent'), intent.id);
  assert.equal(new URL(page.url()).searchParams.get('redirect_status'), 'succeeded');
});
