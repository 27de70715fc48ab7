import { PAYMENT_IS_SLOW } from '../../../packages/core/sentences.ts';
import { hold, orderingJoin, paidJoin } from '../arrange.ts';
import { expect } from '../fixtures.ts';
import { button, heading, runClockUntil, typeBillingAddress, typeCard } from '../steps.ts';
import { shoot, test } from './shoot.ts';

// The pages for parents and friends: the one on which somebody else pays, and the one that checks a code.

test('somebody else pays', async ({ page, browser }) => {
  await orderingJoin(page);
  await page.goto('/registration/checkout');
  await button(page, 'Ask someone else to pay').click();
  const link = page.getByRole('link', { name: /\/pay\// });
  await expect(page.getByRole('img', { name: 'QR code of the link' })).toBeVisible();
  await shoot(page, '5 Checkout', 'a link for somebody else');

  const screen = '13 Pay link';
  const payer = await browser.newPage();
  await payer.goto((await link.getAttribute('href'))!);
  await expect(button(payer, 'Pay $65.00')).toBeEnabled();
  await shoot(payer, screen, 'open');
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByText('Your email is required.')).toBeVisible();
  await shoot(payer, screen, 'errors');
  await payer.getByLabel('Your email').fill('alex.rivera@example.com');
  await typeBillingAddress(payer);
  await typeCard(payer, '4000000000000002');
  await button(payer, 'Pay $65.00').click();
  await expect(payer.getByText('Your card was declined.')).toBeVisible();
  await shoot(payer, screen, 'declined');
  await typeCard(payer);
  const release = await hold(payer, 'beginPayPage');
  await payer.clock.install();
  await button(payer, 'Pay $65.00').click();
  await runClockUntil(payer, () => payer.getByText(PAYMENT_IS_SLOW).isVisible());
  await shoot(payer, screen, 'slow');
  release();
  await expect(heading(payer, 'Thank you')).toBeVisible();
  await shoot(payer, screen, 'paid');
  await payer.reload();
  await expect(payer.getByText('This membership has already been paid for.')).toBeVisible();
  await shoot(payer, screen, 'paid before');
  await payer.goto('/pay/0000000000000000000000');
  await expect(payer.getByRole('main').getByText('This payment link has ended.')).toBeVisible();
  await shoot(payer, screen, 'ended');
  await payer.close();
});

test('a code is checked', async ({ page }) => {
  const screen = '14 Check';
  await page.goto('/check');
  await shoot(page, screen, 'empty');
  for (const [typed, answer] of [
    ['LINCOLN2026', 'Collegiate Honor Society sent this.'],
    ['https://join.evil.example/registration/101/init', 'This is not our address.'],
    ['NOBODYS77', 'Collegiate Honor Society did not send this code.'],
  ] as const) {
    await page.getByLabel('Invite code or link').fill(typed);
    await button(page, 'Check').click();
    await expect(page.getByRole('region', { name: answer })).toBeVisible();
    await shoot(page, screen, answer.replace('.', ''));
  }
});

test('a member asks for their money back', async ({ page }) => {
  await paidJoin(page);
  await page.goto('/registration/congratulations');
  await button(page, 'Ask for a refund').click();
  await expect(page.getByText('Refunded: Membership')).toBeVisible();
  await shoot(page, '9 Congratulations', 'asking for a refund');
  await button(page, 'Yes, request a refund of $65.00').click();
  await expect(page.getByText(/^You asked for a refund of/)).toBeVisible();
  await shoot(page, '9 Congratulations', 'refund asked for');
});
