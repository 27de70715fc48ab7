import { randomUUID } from 'node:crypto';
import { call, details, routeOnce, selfNomination } from './arrange.ts';
import { expect, expectAccessible, expectFits, test } from './fixtures.ts';
import { letterTo, query, stopPageOf } from './passes.ts';
import { button, heading } from './steps.ts';

const STOPPED = 'We will not send any more reminders to your email address.';

test('a reminder leads back to the join, and its link stops reminders, and undoes that @phone-only', async ({
  page,
  browser,
}) => {
  const personalEmail = `left.${randomUUID().slice(0, 8)}@example.com`;
  const uuid = await selfNomination(page, { isTOLA: false });
  await call(page, 'submitDetails', { uuid }, details({ personalEmail }));
  await query(`update join_session set updated_at = now() - interval '61 minutes' where uuid = $1`, [uuid]);
  await query(
    `update letter set due_at = now(), next_try_at = now() where session_uuid = $1 and kind = 'reminder-hour'`,
    [uuid],
  );
  const reminder = (await letterTo(personalEmail, 'Your registration is saved')).text!;
  await page.goto(/http\S+\/pass#\S+/.exec(reminder)![0]);
  await expect(page).toHaveURL('/registration/membership');

  // Opening the link to stop reminders, here or on another device, must not stop them yet: only the button does that.
  const elsewhere = await browser.newPage();
  await elsewhere.goto(/http\S+\/unsubscribe\/\S+/.exec(reminder)![0]);
  await elsewhere.close();
  await page.goto(/http\S+\/unsubscribe\/\S+/.exec(reminder)![0]);
  await expect(heading(page, 'Reminders')).toBeVisible();
  await expect(page.getByText(STOPPED)).toHaveCount(0);
  await expect(page.getByRole('main')).toContainText(
    'You will still get emails about a membership you have paid for',
  );
  await expect(page.getByRole('main')).not.toContainText(personalEmail);
  await expectAccessible(page);
  await expectFits(page);

  await button(page, 'Stop reminders').press('Enter');
  await expect(page.getByText(STOPPED)).toBeVisible();
  await expect(button(page, 'Send reminders again')).toBeFocused();
  await expectAccessible(page);
  await expectFits(page);
  await page.reload();
  await expect(page.getByText(STOPPED)).toBeVisible();
  await button(page, 'Send reminders again').click();
  await expect(button(page, 'Stop reminders')).toBeVisible();
  await expect(page.getByText(STOPPED)).toHaveCount(0);
});

test('a link that is cut off says so, and to whom one can write; what could not be saved can be tried again @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await page.goto((await stopPageOf('cut@example.com')).slice(0, -2));
  await expect(page.getByRole('alert')).toContainText('This link is incomplete');
  await expect(page.getByRole('main').getByRole('link', { name: 'help@society.example' })).toBeVisible();
  await expectAccessible(page);
  await expectFits(page);

  await page.goto(await stopPageOf('again@example.com'));
  await expect(button(page, 'Stop reminders')).toBeVisible();
  await routeOnce(page, /\/api\/public\/reminders\//, (route) => route.abort());
  await button(page, 'Stop reminders').click();
  await expect(page.getByRole('alert')).toBeVisible();
  await button(page, 'Stop reminders').click();
  await expect(page.getByText(STOPPED)).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
});
