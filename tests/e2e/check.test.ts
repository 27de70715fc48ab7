import { expect, expectAccessible, expectNoSidewaysScroll, test } from './fixtures.ts';
import { button } from './steps.ts';

test('a code and a link are checked: ours with what they lead to, others with what to do @phone-only', async ({
  page,
}) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Check it' }).click();
  await expect(page).toHaveURL('/check');
  const field = page.getByLabel('Invite code or link');
  const answer = (title: string) => page.getByRole('region', { name: title });

  await field.fill('lincoln2026');
  await button(page, 'Check').click();
  const ours = answer('Collegiate Honor Society sent this.');
  await expect(ours.getByText('The invite code of a school')).toBeVisible();
  await expect(ours.getByText('From $65.00, one-time fee')).toBeVisible();
  await expect(ours.getByRole('heading')).toBeFocused();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  await field.fill('https://join.evil.example/registration/101/init');
  await button(page, 'Check').click();
  await expect(
    answer('This is not our address.').getByText(/payments for .* are at 127\.0\.0\.1/),
  ).toBeVisible();

  await field.fill('NOBODYS77');
  await button(page, 'Check').click();
  await expect(answer('Collegiate Honor Society did not send this code.')).toBeVisible();
  await expectAccessible(page);
});
