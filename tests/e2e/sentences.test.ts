import type { Locator, Page } from '@playwright/test';
import type { CallName } from '../../packages/contract/calls.ts';
import { detailedJoin, orderingJoin, paidJoin, route, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, typeCard } from './steps.ts';

const SAID = 'The server says why not.';
const alert = (page: Page) => page.getByRole('main').getByRole('alert').filter({ hasText: /\S/ });
const toast = (page: Page, title: string, text: string) =>
  page.getByRole('dialog', { name: title, exact: true }).filter({ hasText: text }).first();

type Answer = { status: number; message?: string; reference?: string } | 'refused' | 'not accepted';

/**
 * Makes every request of an API call fail. The property `with` of the returned object is the failure: by default the status 500.
 * A test may replace this failure at any time.
 */
async function failing(page: Page, name: CallName): Promise<{ with: Answer }> {
  const fault: { with: Answer } = { with: { status: 500 } };
  await page.route(route(name), (request) => {
    if (fault.with === 'refused') return request.abort('connectionrefused');
    if (fault.with === 'not accepted') return request.fulfill({ json: { success: false } });
    const { status, ...said } = fault.with;
    return request.fulfill({ status, json: { success: false, status: 'error', ...said } });
  });
  return fault;
}

interface Row {
  /** What fails, and where the sentence appears: a part of the name of the test step. */
  name: string;
  call: CallName;
  fallback: string;
  /** Opens the screen from which the call is made; by default `act` does. */
  arrange?: (page: Page) => Promise<unknown>;
  /** Makes the screen make the call. Runs again for each other failure of a part's first row. */
  act: (page: Page) => Promise<unknown>;
  /** Locates the element in which the sentence must appear; by default the alert. */
  place?: (page: Page) => Locator;
  /** What the screen shows before the sentence. */
  prefix?: string;
}

const CHECKOUT = '/registration/checkout';
const open = (path: string) => (page: Page) => page.goto(path);
const press = (name: string) => (page: Page) => button(page, name).click();
const atGetStarted = async (page: Page) => {
  await page.goto('/');
  await page.getByLabel('Invite code').fill('LINCOLN2026');
};
const atCheckout = async (page: Page) => {
  if (!(await button(page, 'Buy Now').isVisible())) await page.goto(CHECKOUT);
  await expect(button(page, 'Buy Now')).toBeEnabled();
};

/** The path of the upgrade offer of the joiner in the last rows. */
let upgradePath = '';

/**
 * The rows of each part of a join, and a function that makes the join that they need. The rows of a part run in one page, in this
 * order.
 */
const parts: { part: string; begin: (page: Page) => Promise<unknown>; rows: Row[] }[] = [
  {
    part: 'Get Started and links',
    begin: async () => {},
    rows: [
      {
        name: 'the eligibility check, under the form',
        call: 'checkEligibility',
        fallback: 'An error occurred during the eligibility check.',
        arrange: atGetStarted,
        act: press('Submit'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'the school join, under the form',
        call: 'initiateSchoolJoin',
        fallback: 'Failed to initiate the school join process.',
        arrange: atGetStarted,
        act: press('Submit'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'the join by a personal code, under the form',
        call: 'initiateJoin',
        fallback: 'Failed to initiate the join process.',
        arrange: async (page) => {
          await page.goto('/');
          await page.getByLabel('Invite code').fill('HONOR101');
        },
        act: press('Submit'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'the self-nomination, under the form',
        call: 'initiateSelfNomination',
        fallback: 'Failed to initiate the self-nomination process.',
        arrange: async (page) => {
          await page.goto('/');
          await button(page, 'I am Self-Nominating').click();
          await page.getByLabel('Yes, I confirm I meet the eligibility requirements').check();
        },
        act: press('Submit'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'the join by a link, on its page',
        call: 'initJoin',
        fallback: 'Failed to initiate join process.',
        act: open('/registration/101/init'),
      },
      {
        name: 'the start of a direct checkout, as an error state',
        call: 'initiateCheckout',
        fallback: 'Failed to initiate checkout.',
        act: open('/initialize/checkout?vid=101'),
        prefix: 'Error: ',
      },
    ],
  },
  {
    part: 'Student Details and Membership',
    begin: detailedJoin,
    rows: [
      {
        name: 'the contact, above an empty form',
        call: 'getContact',
        fallback: 'Failed to fetch HubSpot contact.',
        act: open('/registration/student-details'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'student details, in the form',
        call: 'submitDetails',
        fallback: 'An error occurred while submitting student details.',
        arrange: open('/registration/student-details'),
        act: press('Save'),
        place: (page) => page.locator('form').getByRole('alert'),
      },
      {
        name: 'the memberships, centred in red',
        call: 'getMembershipDetails',
        fallback: 'Failed to load membership details.',
        act: open('/registration/membership'),
      },
      {
        name: 'the choice of a membership, centred in red',
        call: 'setMembership',
        fallback: 'An error occurred while setting membership.',
        arrange: open('/registration/membership'),
        act: press('Choose this membership: Membership'),
      },
    ],
  },
  {
    part: 'Checkout',
    begin: orderingJoin,
    rows: [
      {
        name: 'the order, in place of it',
        call: 'getCheckoutDetails',
        fallback: 'Failed to fetch checkout details',
        act: open(CHECKOUT),
      },
      {
        name: 'the payment intent, in place of the order',
        call: 'createPaymentIntent',
        fallback: 'Failed to create payment intent',
        act: open(CHECKOUT),
      },
      {
        name: 'a preset donation, at its buttons',
        call: 'setSessionProduct',
        fallback: 'Failed to set donation amount',
        arrange: atCheckout,
        act: press('Donate $25'),
        place: (page) => page.getByRole('region', { name: 'Add a donation' }).getByRole('alert'),
      },
      {
        name: 'a custom donation, under its field',
        call: 'setCustomDonation',
        fallback: 'Failed to set custom donation amount',
        arrange: async (page) => {
          await atCheckout(page);
          await page.getByLabel('Custom amount').fill('7');
        },
        act: press('Add donation'),
        place: (page) => page.getByRole('region', { name: 'Add a donation' }).getByRole('alert').last(),
      },
      {
        name: 'a recommended product, at its line',
        call: 'setSessionProduct',
        fallback: 'Failed to add product',
        arrange: atCheckout,
        act: press('Add Lapel Pin'),
        place: (page) => page.getByRole('listitem').filter({ hasText: 'Lapel Pin' }).getByRole('alert'),
      },
      {
        name: 'the removal of a product, at its line',
        call: 'deleteSessionProduct',
        fallback: 'Failed to delete store product',
        arrange: async (page) => {
          await atCheckout(page);
          await button(page, 'Add Lapel Pin').click();
        },
        act: press('Remove Lapel Pin'),
        place: (page) => page.getByRole('listitem').filter({ hasText: 'Lapel Pin' }).getByRole('alert'),
      },
      {
        name: 'the removal of a donation, at its line',
        call: 'deleteSessionProduct',
        fallback: 'Failed to delete donation',
        arrange: async (page) => {
          await atCheckout(page);
          await button(page, 'Donate $10').click();
        },
        act: press('Remove Donation to scholarships $10.00'),
        place: (page) => page.getByRole('listitem').filter({ hasText: 'Donation' }).getByRole('alert'),
      },
      {
        name: 'the beginning of a payment, above Buy Now',
        call: 'beginPayment',
        fallback: 'Payment failed.',
        arrange: async (page) => {
          await page.goto(CHECKOUT);
          await typeCard(page);
        },
        act: press('Buy Now'),
      },
    ],
  },
  {
    part: 'the upgrade',
    begin: async (page) => {
      ({ upgradePath } = await paidJoin(page));
    },
    rows: [
      {
        name: 'the upgrade details, as an error state',
        call: 'getUpgradeDetails',
        fallback: 'Failed to fetch upgrade details.',
        act: open('/registration/upgrade?payment_intent=pi_1'),
        prefix: 'Error: ',
      },
      {
        name: 'the upgrade, above its buttons',
        call: 'createUpgradeCharge',
        fallback: 'An error occurred during the upgrade process.',
        arrange: (page) => page.goto(upgradePath),
        act: press('Upgrade Now'),
      },
    ],
  },
];

for (const { part, begin, rows } of parts)
  test(`${part}: what fails is told at its place, in the server’s words or in ours`, async ({
    page,
    complaints,
  }) => {
    complaints.expectFailedRequests();
    await begin(page);
    for (const [index, { name, call, fallback, arrange, act, place = alert, prefix = '' }] of rows.entries())
      await test.step(`${fallback} ${name}`, async () => {
        await arrange?.(page);
        const fault = await failing(page, call);

        fault.with = { status: 503 };
        await act(page);
        await expect(place(page)).toHaveText(prefix + fallback);
        // The server's message and the toasts are the same for all calls (packages/client/answers.test.ts).
        if (index === 0) {
          await expect(toast(page, 'Error', 'An error occurred.')).toBeVisible();
          fault.with = { status: 500, message: SAID, reference: '1b9d6bcd' };
          await act(page);
          await expect(place(page)).toHaveText(prefix + SAID);
          await expect(toast(page, 'Error', SAID)).toContainText('Reference: 1b9d6bcd');
          await expect(page.getByRole('contentinfo')).toContainText(
            'Reference for the last problem: 1b9d6bcd',
          );
          fault.with = 'refused';
          await act(page);
          await expect(toast(page, 'Request Error', 'Failed to send request.')).toBeVisible();
          await expect(place(page)).toHaveText(prefix + fallback);
        }
        await unroute(page, route(call));
      });
  });

test('a payment return that fails, or misses its parameters, says that nothing is charged twice, and leads back', async ({
  page,
  complaints,
}) => {
  complaints.expect(
    /payment return misses its parameters/,
    /Failed to load resource/,
    /ApiError|server says/,
  );
  await orderingJoin(page);
  const fault = await failing(page, 'postPayment');
  fault.with = { status: 500, message: SAID };
  const back = page.getByRole('link', { name: 'Return to Checkout' });
  for (const query of [
    '',
    '?payment_intent=pi_1',
    '?payment_intent=pi_1&payment_intent_client_secret=s&redirect_status=succeeded',
  ]) {
    await page.goto(`/registration/post-payment${query}`);
    await expect(back).toBeVisible();
    await expect(page.getByText(/You will not be charged twice/)).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page).toHaveURL('/registration/post-payment');
  }
  expect(complaints.seen.length).toBeGreaterThanOrEqual(3);
  await back.click();
  await expect(page).toHaveURL(CHECKOUT);
});

test('what the server answers with another word than success is said, and that there is no session or payment', async ({
  page,
  complaints,
}) => {
  complaints.expect(/^No active join session\.$/);
  const answering = (name: CallName) =>
    page.route(route(name), (request) =>
      request.fulfill({ json: { success: true, status: 'success', data: { status: 'failed' } } }),
    );
  await detailedJoin(page);
  const fault = await failing(page, 'submitDetails');
  fault.with = 'not accepted';
  await page.goto('/registration/student-details');
  await button(page, 'Save').click();
  await expect(alert(page)).toHaveText('Failed to submit student details.');
  await unroute(page);
  await page.goto('/registration/membership');
  await answering('setMembership');
  const choose = button(page, 'Choose this membership: Membership');
  await choose.click();
  await expect(alert(page)).toHaveText('An error occurred while setting membership.');
  await unroute(page);
  const uuid = await page.evaluate(() => localStorage.getItem('joinSessionUuid')!);
  await page.evaluate(() => localStorage.removeItem('joinSessionUuid'));
  await choose.click();
  await expect(alert(page)).toHaveText('No active join session.');
  await expect(alert(page)).toHaveCSS('text-align', 'center');
  await expect(alert(page)).toHaveCSS('color', 'rgb(179, 38, 30)');
  await page.evaluate((value) => localStorage.setItem('joinSessionUuid', value), uuid);
  await button(page, 'Choose this membership: Membership').click();
  await button(page, 'Donate $25').click();
  const remove = button(page, 'Remove Donation to scholarships $25.00');
  await expect(remove).toBeVisible();
  await answering('deleteSessionProduct');
  await remove.click();
  await expect(alert(page)).toHaveText('Failed to delete donation');
  await expect(remove).toBeVisible();
  await page.goto(CHECKOUT);
  await expect(button(page, 'Buy Now')).toBeEnabled();
  expect(complaints.seen).toEqual([]);
  await page.evaluate(() => localStorage.clear());
  await button(page, 'Also add $50').click();
  await expect.poll(() => complaints.seen).toEqual(['No active join session.']);
  await expect(button(page, 'Also add $50')).toBeVisible();
  await expect(alert(page)).toHaveText('No active join session.');

  await page.evaluate((value) => localStorage.setItem('joinSessionUuid', value), uuid);
  await paidJoin(page, async () => uuid);
  await page.goto('/registration/upgrade');
  await expect(alert(page)).toHaveText('Payment intent ID is missing.');
  await page.evaluate(() => localStorage.clear());
  await button(page, 'Upgrade Now').click();
  await expect(alert(page)).toHaveText('No active join session found.');
});
