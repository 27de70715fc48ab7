import { randomUUID } from 'node:crypto';
import { isLong } from '../harness/testLength.ts';
import { alter, call, details, fillOrder, orderingJoin, paidJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button, heading, total } from './steps.ts';
import { brokenWords, crampedFields } from './wcag.ts';

// These tests use names, orders and letters that are longer than those for which the pages were designed.

const LONG = 'Maximiliana-Theodora Konstantinopoulou-Featherstonehaugh';

test('in forced colours a chosen membership, a chosen gift and the current step are told by more than colour', async ({
  page,
}) => {
  await orderingJoin(page);
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/registration/membership');
  const chosen = page.getByRole('listitem').filter({ has: button(page, 'Selected: Membership') });
  await expect(chosen.first()).toHaveCSS('outline-style', 'solid');
  await expect(button(page, 'Selected: Membership')).toHaveText('Selected');
  await page.goto('/registration/checkout');
  await button(page, 'Donate $25').click();
  await expect(button(page, 'Donate $25')).toHaveAttribute('aria-pressed', 'true');
  await expect(button(page, 'Donate $25').locator('svg')).toBeVisible();
});

for (const size of isLong ? [16, 24, 32] : [32])
  test(`every screen of a join fits 360 px if the browser’s text has ${size} px and the name 100 letters @phone-only`, async ({
    page,
  }) => {
    const name = LONG.replaceAll(/[ -]/g, '').repeat(2).slice(0, 100);
    const browser = await page.context().newCDPSession(page);
    await browser.send('Page.setFontSizes', { fontSizes: { standard: size } });
    await page.setViewportSize({ width: 360, height: 740 });
    const root = page.locator('html');
    const expectScreenFits = async (path: string, title: string | RegExp) => {
      await page.goto(path);
      await expect(heading(page, title)).toBeVisible();
      await expect(root).toHaveCSS('font-size', `${size}px`);
      await test.step(path, fits);
    };
    const fits = async () => {
      await expectFits(page);
      expect(await brokenWords(page)).toEqual([]);
      expect(await crampedFields(page)).toEqual([]);
    };
    await expectScreenFits('/', 'Get Started');
    await button(page, 'I am Self-Nominating').click();
    await fits();
    const uuid = await startedJoin(page);
    await call(page, 'submitDetails', { uuid }, details({ firstName: name, lastName: name }));
    await expectScreenFits('/registration/student-details', 'Student Details');
    await expectScreenFits('/registration/membership', 'Choose your membership');
    await call(page, 'setMembership', { uuid }, { membershipId: 1 });
    await expectScreenFits('/registration/checkout', 'Checkout');
    await button(page, 'Donate $10').click();
    await expect(page.getByText('Your donations: $10.00')).toBeVisible();
    await fits();
    await button(page, 'Show order summary').click();
    await fits();
    await alter(page, 'getUpgradeDetails', (data) => {
      data.congratulationsHeader = `Congratulations, ${name}!`;
    });
    await alter(page, 'getWelcome', (data) => {
      data.firstName = name;
      data.receipt.name = `${name} ${name}`;
    });
    const { upgradePath } = await paidJoin(page, async () => uuid);
    await expectScreenFits(upgradePath, new RegExp(name));
    await expectScreenFits('/registration/upload-transcript', 'Upload Transcript');
    await expectScreenFits('/registration/congratulations', 'Congratulations');
    await expect(page.getByText(`${name}, you are now a member`)).toBeVisible();
    await fits();
  });

test('long words in features and eligibility rules fit Membership at 320 px, and twenty items at $499.99 the order summary @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  const word = LONG.replaceAll(/[ -]/g, '').toLowerCase();
  await alter(page, 'getMembershipDetails', (data) => {
    data.memberships[0].features[0].description = `${word}@${word}.example.org`;
    data.eligibility.rules[0] = word;
    data.eligibility.note = `${word}@${word}.example.org`;
  });
  await page.goto('/registration/membership');
  await expect(page.getByText(word).first()).toBeVisible();
  await expectNoSidewaysScroll(page);

  await fillOrder(page, LONG.replaceAll(' ', ''));
  await page.goto('/registration/checkout');
  await button(page, 'Show order summary').click();
  await expect(total(page)).toHaveText('$10,064.80');
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
});

test('donations of $9,999.99 fit their buttons at 320 px, chosen or not, and on a desktop @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  await alter(page, 'getCheckoutDetails', ({ donationOptions, products }) => {
    for (const option of donationOptions) option.amount = 9999.99;
    donationOptions.push({ ...donationOptions[0], uuid: randomUUID(), id: 99 });
    products.push({ ...products[0], productType: 'donation', uuid: donationOptions[0].uuid, price: '0.00' });
  });
  await page.goto('/registration/checkout');
  const presets = button(page, /^(Donate|Also add) \$9,999\.99$/);
  await expect(presets).toHaveCount(4);
  await expect(presets.first()).toHaveAttribute('aria-pressed', 'true');
  /** The smallest space (px) between the content of a button and its edge. */
  const space = () =>
    presets.evaluateAll((buttons) =>
      Math.min(
        ...buttons.map((one) => {
          const { left, right } = one.getBoundingClientRect();
          const [first, last] = [one.firstElementChild!, one.lastElementChild!];
          return Math.min(
            first.getBoundingClientRect().left - left,
            right - last.getBoundingClientRect().right,
          );
        }),
      ),
    );
  for (const width of [320, 360, 430, 600, 1000, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await space(), `at ${width} px`).toBeGreaterThanOrEqual(8);
  }
});

test('a society without facts has no line for them on Get Started, whose style leaves the size of text alone', async ({
  page,
}) => {
  await page.route('/registration/checkout', async (route) => {
    const html = await (await route.fetch()).text();
    await route.fulfill({ body: html.replace(/"facts":\[.*?\]/, '"facts":[]'), contentType: 'text/html' });
  });
  // Without a session, the page redirects to Get Started.
  await page.goto('/registration/checkout');
  await expect(heading(page, 'Get Started')).toBeVisible();
  const empty = page.getByRole('main').locator('ul:empty');
  await expect(empty.filter({ visible: true })).toHaveCount(0);
  // A phone in landscape does not enlarge text. iPhones know the property under the first name.
  const style = await page.locator('head style').first().textContent();
  expect(style).toContain('-webkit-text-size-adjust:100%');
  expect(style).toMatch(/[;{]text-size-adjust:100%/);
});
