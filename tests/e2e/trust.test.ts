import { call, orderingJoin, paidJoin, selfNomination } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { cardForm, enterCode, heading, selfNominate } from './steps.ts';

const REFUND = 'If you turn out not to be eligible, your membership fee is refunded in full.';

test('every page answers who asks, what the fee buys, the refund and whom to call @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { upgradePath } = await paidJoin(page);
  for (const path of [
    '/',
    upgradePath,
    '/registration/congratulations',
    '/upload-resume/101',
    '/initialize/checkout?vid=101&mp=12345',
    '/no/such/page',
  ]) {
    await page.goto(path);
    // When the page in the frame has loaded, the frame is drawn again, which closes what was opened before.
    await page.waitForLoadState('networkidle');
    await expect(page.getByRole('banner').getByRole('link', { name: '(555) 010-0144' })).toBeVisible();
    const foot = page.getByRole('contentinfo');
    await foot.getByText('Questions before you join?').click();
    for (const text of [
      'Who invited me, and why?',
      'What does the fee buy?',
      'Cumulative GPA 3.5+',
      REFUND,
      'Who can I call?',
    ])
      await expect(foot.getByText(text).first(), `${path}: ${text}`).toBeVisible();
  }
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test('the rules of eligibility and the refund stand beside the prices, in the order summary, and beside the upgrade', async ({
  page,
}) => {
  const uuid = await orderingJoin(page);
  await page.goto('/registration/membership');
  const rules = page.getByRole('region', { name: 'Before you pay: are you eligible?' });
  await expect(rules.getByRole('listitem')).toHaveText(['SAT 1300+', 'ACT 27+', 'Cumulative GPA 3.5+']);
  await expect(page.getByRole('main').getByText(REFUND)).toBeVisible();
  await expect(page.getByText(/^Can’t afford it\? Write to \S+@\S+/)).toBeVisible();
  await page.goto('/registration/checkout');
  await expect(page.getByText('Mailed to you within two weeks at no extra cost.')).toBeVisible();
  await expect(page.getByRole('complementary', { name: 'Order summary' }).getByText(REFUND)).toBeVisible();
  const { upgradePath } = await paidJoin(page, async () => uuid);
  await page.goto(upgradePath);
  const offer = page.getByRole('region', { name: 'Become a Distinguished Member' });
  await expect(offer.getByText(/the upgrade is refunded in full .* when you ask for it/)).toBeVisible();
});

test('Student Details begin with who invited the joiner and why', async ({ page, invitation }) => {
  const main = page.getByRole('main');
  await enterCode(page, 'LINCOLN2026');
  await expect(
    main.getByText(/^You were invited to Collegiate Honor Society through Lincoln High School/),
  ).toBeVisible();
  await enterCode(page, invitation.code);
  await expect(main.getByText(/^You were invited to Collegiate Honor Society\.$/)).toBeVisible();
  await page.goto('/registration/102/init');
  await expect(main.getByText(/^You were invited to Collegiate Honor Society\.$/)).toBeVisible();
  await selfNominate(page);
  await expect(main.getByText(/^You are nominating yourself/)).toBeVisible();
});

test('who comes to Checkout by a link is told what the fee buys, who is eligible and the refund, before the card @phone-only', async ({
  page,
}) => {
  await page.goto('/initialize/checkout?vid=103&mp=1');
  const card = cardForm(page).getByLabel('Card number');
  await expect(card).toBeVisible();
  const main = page.getByRole('main');
  await expect(main.getByText('Personalized certificate and press release')).toBeVisible();
  const rules = page.getByRole('region', { name: 'Before you pay: are you eligible?' });
  await expect(rules.getByRole('listitem')).toHaveText(['SAT 1300+', 'ACT 27+', 'Cumulative GPA 3.5+']);
  await expect(main.getByRole('region', { name: 'Payment' }).getByText(REFUND)).toBeVisible();
  const [told, asked] = await Promise.all([rules.boundingBox(), card.boundingBox()]);
  expect(told!.y + told!.height).toBeLessThan(asked!.y);
});

test('a membership that was refunded is told so, without congratulations, emails, papers or the store @phone-only', async ({
  page,
  stripeApi,
}) => {
  const { uuid, intent } = await paidJoin(page, selfNomination);
  await stripeApi.refund(intent);
  await expect
    .poll(async () => (await call(page, 'getWelcome', { uuid })).memberships[0].standing)
    .toBe('refunded');
  await page.goto('/registration/congratulations');
  await expect(heading(page, 'Membership refunded')).toBeVisible();
  await expect(page).toHaveTitle('Membership refunded');
  const main = page.getByRole('main');
  await expect(main.getByText('Jordan, your Membership was refunded and has ended.')).toBeVisible();
  await expect(main.getByText('Refunded', { exact: true }).locator('..')).toContainText('$65.00');
  for (const text of ['Congratulations', 'What comes next', 'Shop Now', 'upload your transcript'])
    await expect(main.getByText(text)).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Certificate (PDF)' })).toHaveCount(0);
  await expect(page.getByRole('switch')).toHaveCount(0);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByRole('button', { name: 'Start Over' }).click();
  await expect(heading(page, 'Get Started')).toBeVisible();
});

test('the welcome page prints as a receipt: who was paid, by whom, what, when at the place of the society, and nothing to press', async ({
  page,
}) => {
  const { uuid, intent } = await paidJoin(page);
  await call(page, 'createUpgradeCharge', { uuid }, { paymentIntent: intent, amount: 4500 });
  await page.goto('/registration/congratulations');
  await expect(heading(page, 'Congratulations')).toBeVisible();
  for (const format of ['Letter', 'A4']) {
    const pdf = (await page.pdf({ format })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g), format).toHaveLength(1);
  }
  await page.emulateMedia({ media: 'print' });
  const receipt = page.getByRole('region', { name: 'Your receipt' });
  await expect(receipt).toContainText(
    'Collegiate Honor Society received from Jordan Rivera, for Membership and Distinguished Member upgrade:',
  );
  await expect(receipt).toContainText('Paid with Visa ending 4242');
  await expect(receipt.getByText('$65.00')).toHaveCount(2);
  await expect(receipt).toContainText(intent);
  await expect(page.getByRole('button')).toHaveCount(0);
  await expect(page.getByText('Shop Now')).toBeHidden();
  await expect(page.getByText('What comes next')).toBeHidden();
  await expect(page.getByText('Congratulations')).toBeHidden();
  await expect(
    page.getByRole('contentinfo').getByText('help@society.example', { exact: true }),
  ).toBeVisible();
});
