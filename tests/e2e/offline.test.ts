import type { Page } from '@playwright/test';
import {
  call,
  detailedJoin,
  orderingJoin,
  paidJoin,
  route,
  selfNomination,
  startedJoin,
  verifyPathOfMember,
} from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { joinElsewhere, linkOf, stopPageOf } from './passes.ts';
import { button } from './steps.ts';

// Every screen whose data cannot be loaded says so, and goes on by one press once the server is reached again.

type Case = [
  name: Parameters<typeof route>[0],
  arrange: (page: Page) => Promise<string>,
  there: string | RegExp,
];
const at = (path: string, arrange: (page: Page) => Promise<unknown>) => async (page: Page) => {
  await arrange(page);
  return path;
};
const cases: Case[] = [
  ['initJoin', async () => '/registration/101/init', 'Student Details'],
  ['initiateCheckout', async () => '/initialize/checkout?vid=103', 'Buy Now'],
  ['verifyNumber', verifyPathOfMember, 'This membership is genuine'],
  ['getReminders', () => stopPageOf('offline@example.com'), 'Stop reminders'],
  [
    'getUploadLink',
    async (page) => {
      const { uuid } = await paidJoin(page, selfNomination);
      return (await call(page, 'createUploadLink', { uuid }, {})).path;
    },
    /Photograph your transcript/,
  ],
  ['getContact', at('/registration/student-details', startedJoin), /You were invited through/],
  ['getMembershipDetails', at('/registration/membership', detailedJoin), 'Choose your membership'],
  ['createPaymentIntent', at('/registration/checkout', orderingJoin), 'Buy Now'],
  ['getUpgradeDetails', async (page) => (await paidJoin(page)).upgradePath, 'Upgrade Now'],
  ['getWelcome', at('/registration/congratulations', paidJoin), 'Your receipt'],
  ['openPass', async (page) => linkOf(await joinElsewhere(page)), 'By a code'],
];
for (const [name, arrange, there] of cases)
  test(`a screen that waits for ${name} without a connection offers to try again @phone-only`, async ({
    page,
    complaints,
  }) => {
    complaints.expectFailedRequests();
    const path = await arrange(page);
    await page.route(route(name), (request) => request.abort());
    await page.goto(path);
    const alert = page.getByRole('main').getByRole('alert').filter({ hasText: /\S/ });
    await expect(alert).toHaveText(/\w/);
    await expect(page.getByText('Please check your connection.')).toBeVisible();
    await expect(page.getByText(/expired/)).toHaveCount(0);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.unroute(route(name));
    await button(page, 'Try again').click();
    await expect(page.getByText(there).filter({ visible: true }).first()).toBeVisible();
    await expect(alert).toHaveCount(0);
  });

for (const [typed, lastName] of [
  ['', 'Rivera'],
  ['Smith', 'Smith'],
] as const)
  test(`Student Details without a connection is ${typed ? 'left as it was typed' : 'prefilled'} by the next try @phone-only`, async ({
    page,
    complaints,
  }) => {
    complaints.expectFailedRequests();
    await detailedJoin(page);
    await page.route(route('getContact'), (request) => request.abort());
    await page.goto('/registration/student-details');
    await expect(page.getByText('Failed to fetch HubSpot contact.')).toBeVisible();
    await page.getByLabel('Last name').fill(typed);
    await page.unroute(route('getContact'));
    await button(page, 'Try again').click();
    await expect(page.getByText('Failed to fetch HubSpot contact.')).toHaveCount(0);
    await expect(page.getByLabel('Last name')).toHaveValue(lastName);
  });
