import { call, details, hold, orderingJoin, paidJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { watchShifts } from './shifts.ts';
import {
  button,
  buyNow,
  chooseMembership,
  enterCode,
  fillDetails,
  heading,
  paidIntent,
  save,
  selfNominate,
  total,
  typeCard,
  watchIntents,
} from './steps.ts';
import { tabThrough } from './wcag.ts';

test('Back, reload and a second tab at every step lose nothing and charge once; what was typed stays with its tab, and goes when it is paid', async ({
  page,
  context,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 409/);
  const intents = watchIntents(page);
  const stored = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  await enterCode(page, 'LINCOLN2026');

  await test.step('details', async () => {
    await fillDetails(page, { city: 'Round Rock' });
    await page.reload();
    await expect(page.getByLabel('City')).toHaveValue('Round Rock');
    await expect(page.getByLabel('State/Province')).toHaveValue('Texas');
    await expect(page.getByLabel('I agree to the policies')).toBeChecked();
    await page.goBack();
    await expect(heading(page, 'Get Started')).toBeVisible();
    await page.goForward();
    await expect(page.getByLabel('City')).toHaveValue('Round Rock');
    const tab = await context.newPage();
    await tab.goto('/registration/student-details');
    await expect(tab.getByLabel('High school name')).toHaveValue('Lincoln High School');
    // The next person at a shared computer opens a new tab, in which the typed values must not appear.
    await expect(tab.getByLabel('First name')).toHaveValue('');
    await tab.close();
    expect(await page.evaluate(() => Object.keys(localStorage).sort())).toEqual([
      'joinProgramme',
      'joinSessionUuid',
    ]);
    expect(await stored()).toContain('12 Oak Street');
    await save(page);
  });

  await test.step('membership', async () => {
    await page.reload();
    await expect(button(page, 'Choose this membership: Membership')).toBeVisible();
    await page.goBack();
    await expect(page.getByLabel('City')).toHaveValue('Round Rock');
    await page.goForward();
    const tab = await context.newPage();
    await tab.goto('/registration/student-details');
    await expect(tab.getByLabel('City')).toHaveValue('Round Rock');
    await tab.close();
    await chooseMembership(page);
  });

  await test.step('checkout', async () => {
    await button(page, 'Donate $10').click();
    await expect(total(page)).toHaveText('$75.00');
    await page.reload();
    await expect(total(page)).toHaveText('$75.00');
    await page.goBack();
    await expect(button(page, 'Selected: Membership')).toBeVisible();
    await page.goBack();
    await expect(page.getByLabel('City')).toHaveValue('Round Rock');
    await page.goForward();
    await page.goForward();
    await expect(total(page)).toHaveText('$75.00');
    const tab = await context.newPage();
    await tab.goto('/registration/checkout');
    await expect(total(tab)).toHaveText('$75.00');
    await typeCard(page);
    await buyNow(page);
    const intent = await paidIntent(page);
    expect(new Set(intents.map(({ clientSecret }) => clientSecret)).size).toBe(1);
    await typeCard(tab);
    await buyNow(tab);
    await paidIntent(tab);
    expect(await stripeApi.taken(intent)).toEqual([7500]);
    await tab.close();
    for (const word of ['Jordan', '12 Oak Street', '78701', 'example.com', '4242'])
      expect(await stored()).not.toContain(word);
  });

  await test.step('upgrade', async () => {
    const intent = await paidIntent(page);
    await page.reload();
    await expect(button(page, 'Upgrade Now')).toBeVisible();
    await page.goBack();
    await expect(button(page, 'Upgrade Now')).toBeVisible();
    await button(page, 'Skip').click();
    await expect(page).toHaveURL('/registration/congratulations');
    await page.goBack();
    await expect(page).toHaveURL('/registration/congratulations');
    await page.reload();
    await expect(page.getByText('Jordan, you are now a member of Collegiate Honor Society.')).toBeVisible();
    expect(await stripeApi.charges(intent)).toHaveLength(1);
  });
});

test('a new screen begins at its top, once it is there; Back is where one was', async ({ page }) => {
  await startedJoin(page);
  await page.goto('/registration/student-details');
  await fillDetails(page);
  // Records, each time the page is scrolled to its top, which heading the page has at that moment.
  await page.evaluate(() => {
    const scrollTo = window.scrollTo.bind(window);
    window.scrollTo = ((x: number, y: number) => {
      const { dataset } = document.body;
      dataset.seenAtTop = `${dataset.seenAtTop ?? ''}[${document.querySelector('h1')?.textContent}]`;
      scrollTo(x, y);
    }) as typeof window.scrollTo;
  });
  await button(page, 'Save').scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => window.scrollY);
  expect(before).toBeGreaterThan(0);
  await save(page);
  // The page scrolls while it shows the next screen or its placeholder, never while it shows the old screen.
  await expect(page.locator('body')).toHaveAttribute(
    'data-seen-at-top',
    /^\[Membership\](\[Choose your membership\])?$/,
  );
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.goBack();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(0);
});

test('Get Started offers to continue an unpaid join, by name and step, and nothing moves when it does @phone-only', async ({
  page,
}) => {
  await orderingJoin(page);
  const shifts = await watchShifts(page);
  const release = await hold(page, 'getOpenJoin');
  await page.goto('/');
  await expect(heading(page, 'Get Started')).toBeVisible();
  const offer = page.getByRole('region', { name: 'Continue your registration' });
  await expect(offer).toHaveCount(0);
  release();
  await expect(offer.getByRole('status')).toHaveText(
    'Welcome back, Jordan. You were at step 3 of 3, Checkout.',
  );
  await page.waitForLoadState('networkidle');
  expect(await shifts()).toEqual([]);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect((await tabThrough(page)).filter(({ troubles }) => troubles.length > 0)).toEqual([]);
  await button(page, 'Continue your registration').click();
  await expect(page).toHaveURL('/registration/checkout');
  await expect(page.getByRole('button', { name: 'Buy Now', disabled: false })).toBeVisible();
  expect(await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage)])).toEqual([
    ['joinSessionUuid'],
    [],
  ]);
});

test('nothing is offered on a first visit, or for a join that is gone; a browser without the cookie reads no name, and a member is offered the welcome page', async ({
  page,
  context,
}) => {
  const asked: string[] = [];
  page.on('request', (request) => void (request.url().includes('/open-join') && asked.push(request.url())));
  await page.goto('/');
  await expect(heading(page, 'Get Started')).toBeVisible();
  await page.waitForLoadState('networkidle');
  expect(asked).toEqual([]);
  await orderingJoin(page);
  await context.clearCookies({ name: 'induct_join' });
  await page.reload();
  const unpaid = page.getByRole('region', { name: 'Continue your registration' });
  await expect(unpaid.getByRole('status')).toHaveText('Welcome back. You were at step 3 of 3, Checkout.');
  await button(page, 'Close').click();
  await expect(unpaid).toHaveCount(0);

  const { uuid } = await paidJoin(page);
  const store = (value: string) =>
    page.evaluate((stored) => localStorage.setItem('joinSessionUuid', stored), value);
  await store(uuid);
  await page.reload();
  const offer = page.getByRole('region', { name: 'Your membership' });
  await expect(offer).toContainText('Welcome back, Jordan.');
  await expectAccessible(page);
  await offer.getByRole('button', { name: 'Go to your welcome page' }).click();
  await expect(heading(page, 'Congratulations')).toBeVisible();
  await expect(page.getByText(/They go to jordan\..*@example\.com\./)).toBeVisible();
  await store('00000000-0000-4000-8000-000000000000');
  const answered = page.waitForResponse(/open-join/);
  await page.goto('/');
  expect(await (await answered).json()).toMatchObject({ data: { join: null } });
  await page.waitForLoadState('networkidle');
  await expect(page.getByText('Welcome back')).toHaveCount(0);
});

test('the same personal code continues the join of this browser, with address, year and donation; after Start Over it begins a new one', async ({
  page,
  invitation,
}) => {
  const year = String(new Date().getFullYear() + 2);
  const begun = () => page.evaluate(() => localStorage.getItem('joinSessionUuid'));
  await enterCode(page, invitation.code);
  await expect(heading(page, 'Student Details')).toBeVisible();
  const uuid = (await begun())!;
  const given = details({ city: 'Round Rock', highSchoolGraduationYear: year });
  await call(page, 'submitDetails', { uuid }, given);
  await call(page, 'setMembership', { uuid }, { membershipId: 1 });
  await page.goto('/registration/checkout');
  await button(page, 'Donate $25').click();
  await expect(total(page)).toHaveText('$90.00');
  await page.evaluate(() => localStorage.clear());
  await enterCode(page, invitation.code);
  await expect(page.getByLabel('City')).toHaveValue('Round Rock');
  await expect(page.getByLabel('Graduation year')).toHaveValue(year);
  await page.goto('/registration/checkout');
  await expect(total(page)).toHaveText('$90.00');

  await button(page, 'Start Over').click();
  await page.getByLabel('Invite code').fill(invitation.code);
  await button(page, 'Submit').click();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await expect(page.getByLabel('City')).not.toHaveValue('Round Rock');
  expect(await begun()).not.toBe(uuid);
});

test('Start Over acts at once, is undone for a minute, and a reload forgets', async ({ page }) => {
  await startedJoin(page);
  await page.goto('/registration/student-details');
  await page.clock.install();
  await page.getByLabel('First name').fill('Jordan');
  const startOver = async () => {
    await button(page, 'Start Over').click();
    await expect(page).toHaveURL('/registration/get-started');
    expect(await page.evaluate(() => [{ ...localStorage }, { ...sessionStorage }])).toEqual([{}, {}]);
  };
  const offer = page.getByRole('region', { name: 'You started over' });
  await startOver();
  await expect(offer).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Undo').click();
  await expect(page).toHaveURL('/registration/student-details');
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');

  await startOver();
  await expect(offer).toBeVisible();
  await page.clock.fastForward(60_000);
  await expect(offer).toHaveCount(0);

  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await button(page, 'Submit').click();
  await expect(page.getByLabel('High school name')).toHaveValue('Lincoln High School');
  await expect(page.getByLabel('First name')).toHaveValue('');
  await startOver();
  await expect(offer).toBeVisible();
  await page.reload();
  await expect(heading(page, 'Get Started')).toBeVisible();
  await expect(offer).toHaveCount(0);
});

test('Start Over leads back to the programme of the join, also of one by a checkout link', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const undergraduates = '/registration/get-started?programme=undergraduate';
  await selfNominate(page, 'undergraduate');
  // Waits for the URL, which changes after the heading: a reload in between would open Get Started.
  await expect(page).toHaveURL('/registration/student-details');
  await page.reload();
  await button(page, 'Start Over').click();
  await expect(page).toHaveURL(undergraduates);
  expect(await page.evaluate(() => ({ ...localStorage }))).toEqual({});
  await button(page, 'Undo').click();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await page.goto('/no/such/page');
  await page.getByRole('link', { name: 'Get Started' }).click();
  await expect(page).toHaveURL(undergraduates);

  await page.route('**/hubspot-contact', (route) =>
    route.fulfill({ status: 404, json: { success: false, status: 'error', message: 'It is gone.' } }),
  );
  await page.goto('/registration/student-details');
  await button(page, 'Start Over').click();
  await expect(page).toHaveURL(undergraduates);

  await page.goto('/initialize/checkout?vid=103&mp=3');
  await expect(heading(page, 'Checkout')).toBeVisible();
  await button(page, 'Start Over').click();
  await expect(page).toHaveURL(undergraduates);
});
