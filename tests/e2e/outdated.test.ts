import { alter, detailedJoin, orderingJoin, route, unroute } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, total } from './steps.ts';

// In these tests the society changes its file while the joiner looks at a screen. To simulate that, the tests alter the data that
// the screen gets. The server's own data are not changed.

test('another price of a membership than the one on the screen, or that it is not on offer any more, is told and shown before it is chosen', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 40[49]/);
  await detailedJoin(page);
  await alter(page, 'getMembershipDetails', ({ memberships }) => {
    memberships[0].price = '60.00';
  });
  const alert = page.getByRole('main').getByRole('alert');
  await page.goto('/registration/membership');
  await expect(page.getByText('$60', { exact: true })).toBeVisible();
  await unroute(page, route('getMembershipDetails'));
  const choose = button(page, 'Choose this membership: Membership');
  await choose.click();
  await expect(alert).toHaveText(
    'The price of this membership is now $65.00. Please check it and try again.',
  );
  await expect(page.getByText('$65', { exact: true })).toBeVisible();

  await alter(page, 'getMembershipDetails', ({ memberships }) =>
    memberships.push({ ...memberships[0], id: 3, name: 'Charter Membership' }),
  );
  await page.reload();
  const gone = button(page, 'Choose this membership: Charter Membership');
  await expect(gone).toBeVisible();
  await unroute(page, route('getMembershipDetails'));
  await gone.click();
  await expect(alert).toHaveText('This membership is not available. Please choose one of those shown.');
  await expect(gone).toHaveCount(0);
  await choose.click();
  await expect(total(page)).toHaveText('$65.00');
});

test('another price of an item or a donation than the one on the screen is told and shown before it is added', async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 409/);
  await orderingJoin(page);
  await alter(page, 'getCheckoutDetails', ({ recommendedProducts, donationOptions }) => {
    recommendedProducts[0].price = '10.00';
    donationOptions[1].amount = 20;
  });
  await page.goto('/registration/checkout');
  const pin = page.getByRole('listitem').filter({ hasText: 'Lapel Pin' });
  await expect(pin).toContainText('$10');
  await expect(button(page, 'Donate $20')).toBeVisible();
  await unroute(page, route('getCheckoutDetails'));
  await button(page, 'Donate $20').click();
  await expect(page.getByRole('region', { name: 'Add a donation' }).getByRole('alert')).toHaveText(
    'The amount of this donation is now $25.00. Please check it and try again.',
  );
  await expect(button(page, 'Donate $25')).toHaveAttribute('aria-pressed', 'false');
  await alter(page, 'getCheckoutDetails', ({ recommendedProducts }) => {
    recommendedProducts[0].price = '10.00';
  });
  await page.reload();
  await expect(pin).toContainText('$10');
  await unroute(page, route('getCheckoutDetails'));
  await button(page, 'Add Lapel Pin').click();
  await expect(pin.getByRole('alert')).toHaveText(
    'The price of this item is now $12.00. Please check it and try again.',
  );
  await expect(pin).toContainText('$12');
  await expect(total(page)).toHaveText('$65.00');
  await button(page, 'Add Lapel Pin').click();
  await expect(total(page)).toHaveText('$77.00');
});
