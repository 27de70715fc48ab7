import { call, detailedJoin, paidJoin, route, selfNomination, unroute } from './arrange.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button } from './steps.ts';

// Tests of screens whose data cannot be loaded, for what everyScreen.test.ts does not cover.

test('the phone that a transcript is photographed with offers to try again without a connection @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const { uuid } = await paidJoin(page, selfNomination);
  const { path } = await call(page, 'createUploadLink', { uuid }, {});
  await page.route(route('getUploadLink'), (request) => request.abort());
  await page.goto(path);
  await expect(page.getByText('Please check your connection.')).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await unroute(page, route('getUploadLink'));
  await button(page, 'Try again').click();
  await expect(page.getByText(/Take a photo of your transcript/).first()).toBeVisible();
});

test('Student Details without a connection is left as it was typed, or prefilled, by the next try @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await detailedJoin(page);
  for (const [typed, lastName] of [
    ['Smith', 'Smith'],
    ['', 'Rivera'],
  ] as const) {
    await page.route(route('getContact'), (request) => request.abort());
    await page.goto('/registration/student-details');
    await expect(page.getByText('Failed to fetch HubSpot contact.')).toBeVisible();
    await page.getByLabel('Last name').fill(typed);
    await unroute(page, route('getContact'));
    await button(page, 'Try again').click();
    await expect(page.getByText('Failed to fetch HubSpot contact.')).toHaveCount(0);
    await expect(page.getByLabel('Last name')).toHaveValue(lastName);
    await page.evaluate(() => sessionStorage.clear());
  }
});
