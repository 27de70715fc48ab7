import type { Page } from '@playwright/test';
import { sql } from 'kysely';
import { revokePasses } from '../../apps/server/joining/pass/revoke.ts';
import { connect } from '../../apps/server/platform/database/client.ts';
import { call, paidJoin } from './arrange.ts';
import { expect, expectAccessible, expectFits, test, theInduct } from './fixtures.ts';
import { joinElsewhere, letterTo, linkOf, query } from './passes.ts';
import { button, heading } from './steps.ts';

const DAY_MS = 86_400_000;
const personal = /Jordan|Rivera|Oak Street|\b78701\b|example\.com/;

/** Revokes the links of a join, as staff do. */
async function revoke(uuid: string): Promise<void> {
  const database = connect(theInduct().database.url);
  try {
    await revokePasses(database, sql`uuid = ${uuid}`, new Date());
  } finally {
    await database.destroy();
  }
}

const emailOf = async (uuid: string) =>
  (
    await query<{ email: string }>(
      `select details ->> 'personalEmail' as email from join_session where uuid = $1`,
      [uuid],
    )
  )[0]!.email;

/** Asserts that a link opens no join, says why, shows no personal data, and offers to send a new link. */
async function expectDead(page: Page, link: string, sentence: string): Promise<void> {
  await page.goto('/');
  await page.goto(link);
  await expect(heading(page, 'Your registration')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText(sentence);
  await expect(button(page, 'Send me my link')).toBeVisible();
  await expect(button(page, 'Email me a code')).toHaveCount(0);
  await expect(page).toHaveURL('/pass');
  expect(await page.getByRole('main').textContent()).not.toMatch(personal);
  await expectAccessible(page);
  await expectFits(page);
}

/** Asks for a new link, which must differ from the old one, and opens it. */
async function askForAnother(page: Page, uuid: string, old: string): Promise<void> {
  const email = await emailOf(uuid);
  await page.getByLabel('Email').fill(email);
  await button(page, 'Send me my link').click();
  await expect(page.getByText('its link is on the way')).toBeVisible();
  const [link] = /http\S+#[\w-]+/.exec((await letterTo(email, 'Your link')).text!)!;
  expect(link).not.toBe(old);
  await page.goto('/');
  await page.goto(link);
  await expect(button(page, 'Email me a code')).toBeVisible();
}

const INVALID = 'This link is incomplete or no longer valid.';

test('a link that has expired says so, and a new one opens the join @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const uuid = await joinElsewhere(page);
  const link = await linkOf(uuid, undefined, new Date(Date.now() - 30 * DAY_MS - 60_000));
  await expectDead(page, link, 'This link has expired. Please ask for a new one.');
  await askForAnother(page, uuid, link);
});

test('a link that staff have revoked says so, and a new one opens the join', async ({ page, complaints }) => {
  complaints.expectFailedRequests();
  const uuid = await joinElsewhere(page);
  const link = await linkOf(uuid);
  await page.goto(link);
  await expect(button(page, 'Email me a code')).toBeVisible();
  await revoke(uuid);
  await expectDead(page, link, INVALID);
  await askForAnother(page, uuid, link);
});

test('the link of a membership that was refunded says so on any device, also where it was opened before', async ({
  page,
  browser,
  complaints,
  stripeApi,
}) => {
  complaints.expectFailedRequests();
  const { uuid, intent } = await paidJoin(page);
  const link = await linkOf(uuid, 'congratulations');
  const context = await browser.newContext({ baseURL: theInduct().server.url });
  const device = await context.newPage();
  await device.goto(link);
  await expect(button(device, 'Email me a code')).toBeVisible();
  await stripeApi.refund(intent);
  await expect
    .poll(async () => (await call(page, 'getWelcome', { uuid })).memberships[0].standing)
    .toBe('refunded');
  // This page was already open when the payment was refunded.
  await button(device, 'Email me a code').click();
  await expect(device.getByRole('alert')).toContainText(INVALID);
  await device.goto('/');
  await device.goto(link);
  await expect(device.getByRole('alert')).toContainText(INVALID);
  await context.close();
  await expectDead(page, link.replace('?to=congratulations', ''), INVALID);
});
