import { call, details, openIntent, orderingJoin, storeSession } from './arrange.ts';
import { expect, test, theInduct } from './fixtures.ts';
import { stripe } from './providers.ts';
import {
  bankQuestion,
  button,
  buyNow,
  cardForm,
  chooseMembership,
  fillDetails,
  heading,
  paidIntent,
  pay,
  save,
  scrollBuyNowToEdge,
  selfNominate,
  typeCard,
} from './steps.ts';

const CHECKOUT = '/registration/checkout';

test('two joins in two tabs: each comes back from its bank to its own, and goes on to its own upgrade', async ({
  page,
  context,
  stripeApi,
}) => {
  const first = await orderingJoin(page);
  await page.goto(CHECKOUT);
  await typeCard(page, '4000002500003155');
  await buyNow(page);
  const dialog = page.getByRole('dialog', { name: 'Authenticate your payment' });
  await expect(dialog).toBeVisible();

  const other = await context.newPage();
  await selfNominate(other);
  await fillDetails(other);
  await bankQuestion(page).getByRole('button', { name: 'Complete authentication' }).click();
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([6500]);

  await save(other);
  await chooseMembership(other);
  await pay(other);
  await expect(heading(other, /Congratulations/)).toBeVisible();
  for (const [tab, end] of [
    [page, '/registration/congratulations'],
    [other, '/registration/upload-transcript'],
  ] as const) {
    await button(tab, 'Upgrade Now').click();
    if (tab === page)
      await bankQuestion(page).getByRole('button', { name: 'Complete authentication' }).click();
    await expect(tab).toHaveURL(end);
  }
  expect((await stripeApi.intentsOf(first)).map(({ amount }) => amount).sort()).toEqual([4500, 6500]);
});

test('who pays again for the same name and email is asked whether it is for somebody else @phone-only', async ({
  page,
  complaints,
  stripeApi,
}) => {
  complaints.expect(/status of 409/);
  const person = details();
  const order = async () => {
    const { uuid } = await call(page, 'initiateSchoolJoin', {}, { invitationCode: 'LINCOLN2026' });
    await call(page, 'submitDetails', { uuid }, person);
    await call(page, 'setMembership', { uuid }, { membershipId: 1 });
    return uuid as string;
  };
  const paid = await order();
  const { id, secret, revision } = await openIntent(page, paid);
  const { server, stripe: account } = theInduct();
  await call(page, 'beginPayment', { uuid: paid }, { revision });
  await stripe(account).confirm(id, 'pm_card_visa', `${server.url}/registration/post-payment`);
  const body = { paymentIntent: id, paymentIntentClientSecret: secret, redirectStatus: 'succeeded' };
  await call(page, 'postPayment', { uuid: paid }, body);

  const uuid = await order();
  await storeSession(page, uuid);
  await page.goto(CHECKOUT);
  await typeCard(page);
  await page.setViewportSize({ width: 390, height: 664 });
  await scrollBuyNowToEdge(page);
  await buyNow(page);
  const question = page.getByText('Is this one for someone else? Nothing was charged yet.');
  await expect(question).toBeInViewport({ ratio: 1 });
  await expect(button(page, 'Yes, pay for someone else')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(cardForm(page).getByLabel('Card number')).toHaveValue('4242 4242 4242 4242');
  await button(page, 'Yes, pay for someone else').click();
  expect(await stripeApi.taken(await paidIntent(page))).toEqual([6500]);
});
