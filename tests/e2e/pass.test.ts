import type { Page } from '@playwright/test';
import { sql } from 'kysely';
import { revokePasses } from '../../apps/server/joining/pass/revoke.ts';
import { connect } from '../../apps/server/platform/database/client.ts';
import { OPENED_ELSEWHERE } from '../../packages/core/pass.ts';
import { detailedJoin } from './arrange.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, test, theInduct } from './fixtures.ts';
import { joinElsewhere, letterTo, linkOf, query } from './passes.ts';
import { button, chooseMembership, enterCode, fillDetails, heading, pay, save, total } from './steps.ts';

/** Revokes the links of a join, as staff do. */
async function revoke(uuid: string): Promise<void> {
  const database = connect(theInduct().database.url);
  try {
    await revokePasses(database, sql`uuid = ${uuid}`, new Date());
  } finally {
    await database.destroy();
  }
}

const stored = (page: Page) =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
const DAY_MS = 86_400_000;
const personal = /Jordan|Rivera|Oak Street|\b78701\b|example\.com/;

test('a join begun in one browser is finished in another from the mail, and the link leaves no trace', async ({
  page,
  browser,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const email = `jordan.${Date.now()}@example.com`;
  const elsewhere = await browser.newContext({ baseURL: theInduct().server.url });
  const first = await elsewhere.newPage();
  await enterCode(first, 'LINCOLN2026');
  await fillDetails(first, { personalEmail: email });
  await save(first);
  await chooseMembership(first);
  await button(first, 'Donate $10').click();
  await expect(total(first)).toHaveText('$75.00');

  await page.goto('/');
  await page.getByRole('link', { name: 'Send me my link' }).click();
  await page.getByLabel('Email').fill(email.toUpperCase());
  await button(page, 'Send me my link').click();
  await expect(page.getByText('its link is on the way')).toBeVisible();
  const [link] = /http\S+#[\w-]+/.exec((await letterTo(email, 'Your link')).text!)!;
  const token = new URL(link).hash.slice(1);
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(request.url() + JSON.stringify(request.headers())));
  await page.goto(link);
  await expect(page).toHaveURL('/pass');
  await expect(page.getByRole('main')).toContainText('We do not recognize this device.');
  expect(await page.content()).not.toMatch(personal);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await button(page, 'Email me a code').click();
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expectAccessible(page);
  const [code] = /^\d{6}$/m.exec((await letterTo(email, 'Your code')).text!)!;
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  await page.getByLabel('Six-digit code').fill(wrong);
  await button(page, 'Continue with the code').click();
  await expect(page.getByRole('alert')).toHaveText(
    'That is not the latest code we emailed, or it has expired.',
  );

  // A phone may reload the page when its user returns from the mail client.
  await page.reload();
  await page.getByLabel('Six-digit code').fill(code);
  await button(page, 'Continue with the code').click();
  await expect(total(page)).toHaveText('$75.00');
  await expect(page).toHaveURL('/registration/checkout');
  // The browser that began the join no longer sees it, since the person who began it may not be the joiner.
  await first.reload();
  await expect(first.getByRole('main')).toContainText(OPENED_ELSEWHERE);
  expect(await first.content()).not.toMatch(personal);
  await expectAccessible(first);
  await expect(first.getByRole('link', { name: 'Send me my link' })).toBeVisible();
  await button(first, 'Start Over').click();
  await expect(heading(first, 'Get Started')).toBeVisible();
  await elsewhere.close();
  expect(asked.filter((text) => text.includes(token))).toEqual([]);
  expect(await stored(page)).not.toContain(token);
  await page.goBack();
  expect(page.url()).not.toContain(token);
  await page.goto('/registration/checkout');
  await pay(page);
  await button(page, 'Skip').click();
  await expect(page.getByText('Jordan, you are now a member of Collegiate Honor Society.')).toBeVisible();

  const confirmation = (await letterTo(email, 'confirmed')).text!;
  await page.goto(/http\S+#[\w-]+/.exec(confirmation)![0]);
  await expect(page, 'this browser holds the join now').toHaveURL('/registration/congratulations');
});

test('last name and ZIP code open it too; a forwarded letter shows nothing, and five wrong tries close it', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const uuid = await joinElsewhere(page);
  await page.goto(await linkOf(uuid));
  const tryWith = async (zip: string) => {
    await page.getByLabel('Last name').fill('Rivera');
    await page.getByLabel('ZIP code').fill(zip);
    await button(page, 'Continue with name and ZIP code').click();
  };
  for (const zip of ['10001', '10002', '10003', '10004']) {
    const answered = page.waitForResponse(/prove-by-name/);
    await tryWith(zip);
    expect((await answered).status()).toBe(400);
    await expect(page.getByRole('alert')).toHaveText('That is not the last name and ZIP code on file.');
  }
  await expectAccessible(page);
  await tryWith('10005');
  await expect(page.getByRole('alert')).toHaveText('Too many attempts. Please ask for a new code by email.');
  await tryWith('78701');
  await expect(page.getByRole('alert')).toContainText('last name and ZIP code no longer work');
  expect(await stored(page)).not.toContain(uuid);

  const other = await joinElsewhere(page);
  await page.goto('/');
  await page.goto(await linkOf(other));
  await tryWith('78701');
  await expect(total(page)).toHaveText('$65.00');
});

test('a link that is opened after another in the same tab is the one that counts; in the browser that began a join it opens at once, at the screen that it names', async ({
  page,
}) => {
  const [first, second] = [await joinElsewhere(page), await joinElsewhere(page)];
  await page.goto(await linkOf(first));
  await expect(button(page, 'Email me a code')).toBeVisible();
  await page.getByLabel('Last name').fill('Somebody');
  await page.evaluate((link) => window.location.assign(link), await linkOf(second));
  await expect(page.getByLabel('Last name')).toHaveValue('');
  await page.getByLabel('Last name').fill('Rivera');
  await page.getByLabel('ZIP code').fill('78701');
  await button(page, 'Continue with name and ZIP code').click();
  await expect(page).toHaveURL('/registration/checkout');
  expect(await stored(page)).toContain(second);

  const begun = await detailedJoin(page);
  await page.goto(await linkOf(begun));
  await expect(page).toHaveURL('/registration/membership');
  await chooseMembership(page);
  await page.goto(await linkOf(begun, 'checkout'));
  await expect(total(page)).toHaveText('$65.00');
});

test('a link that is cut off, was revoked by staff or has expired says so, and offers a new one, which opens the join; Get Started leads there @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const revoked = await joinElsewhere(page);
  const link = await linkOf(revoked);
  await page.goto(`${link.slice(0, -2)}AA`);
  await expect(page.getByRole('alert')).toContainText('This link is incomplete or no longer valid.');
  await expect(button(page, 'Send me my link')).toBeVisible();
  await expectAccessible(page);
  await page.goto(link);
  await expect(button(page, 'Email me a code')).toBeVisible();
  await revoke(revoked);
  // This page was already open when the link was revoked.
  await button(page, 'Email me a code').click();
  await expect(page.getByRole('alert')).toContainText('This link is incomplete or no longer valid.');
  await page.goto('/');
  await page.getByRole('link', { name: 'Send me my link' }).click();
  await expect(heading(page, 'Your registration')).toBeVisible();
  await page.getByLabel('Email').fill('nobody@example.com');
  await button(page, 'Send me my link').click();
  await expect(page.getByRole('main').getByRole('status')).toContainText(
    'If we have a registration with this email',
  );
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  const uuid = await joinElsewhere(page);
  const old = await linkOf(uuid, undefined, new Date(Date.now() - 30 * DAY_MS - 60_000));
  await page.goto('/');
  await page.goto(old);
  await expect(heading(page, 'Your registration')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('This link has expired. Please ask for a new one.');
  await expect(button(page, 'Email me a code')).toHaveCount(0);
  await expect(page).toHaveURL('/pass');
  expect(await page.getByRole('main').textContent()).not.toMatch(personal);
  await expectAccessible(page);
  await expectFits(page);

  const [{ email }] = (await query<{ email: string }>(
    `select details ->> 'personalEmail' as email from join_session where uuid = $1`,
    [uuid],
  )) as [{ email: string }];
  await page.getByLabel('Email').fill(email);
  await button(page, 'Send me my link').click();
  await expect(page.getByText('its link is on the way')).toBeVisible();
  const [another] = /http\S+#[\w-]+/.exec((await letterTo(email, 'Your link')).text!)!;
  expect(another).not.toBe(old);
  await page.goto('/');
  await page.goto(another);
  await expect(button(page, 'Email me a code')).toBeVisible();
});
