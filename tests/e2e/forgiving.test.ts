import type { Locator, Page } from '@playwright/test';
import { hold, orderingJoin, startedJoin } from './arrange.ts';
import { expect, expectAccessible, test } from './fixtures.ts';
import { button, enterCode, fillDetails, heading } from './steps.ts';

const DETAILS = '/registration/student-details';

/** Presses the mouse on an element, and releases it at the same place after the field that lost the focus has been tidied. */
async function pressOutOf(page: Page, left: Locator, tidied: string, aim: Locator): Promise<void> {
  await aim.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await aim.boundingBox())!;
  // Presses near the lower edge. If something above the element disappeared, the element would move away from the pointer.
  await page.mouse.move(x + width / 2, y + height - 4);
  await page.mouse.down();
  await expect(left).toHaveValue(tidied);
  await page.mouse.up();
}

test('a mistyped mail domain is suggested better, mended by one press, and never insisted on; a press that leaves a field reaches what it was aimed at, though the field is tidied while the button is down @phone-only', async ({
  page,
}) => {
  await startedJoin(page);
  await page.goto(DETAILS);
  const email = page.getByLabel('Personal email');
  await email.fill('jordan@gmial.com');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'jordan@gmail.com' }).click();
  await expect(email).toHaveValue('jordan@gmail.com');
  await expect(email).toBeFocused();
  await expect(page.getByText('Did you mean')).toHaveCount(0);

  await fillDetails(page);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  // A phone's keyboard turns two spaces into a full stop.
  await email.fill('jordan@gmial.com.');
  const suggestion = page.getByRole('button', { name: 'jordan@gmail.com' });
  await pressOutOf(page, email, 'jordan@gmial.com', suggestion);
  await expect(email).toHaveValue('jordan@gmail.com');
  await email.fill('jordan@hotmial.com');
  await expect(page.getByRole('button', { name: 'jordan@hotmail.com' })).toBeVisible();
  // The window is so tall that the page cannot scroll, since scrolling would compensate for elements that move.
  await page.setViewportSize({ width: 390, height: 2400 });
  const zip = page.getByLabel('Zipcode');
  await zip.fill('7870 ');
  await expect(page.getByText('A ZIP code has five digits.')).toBeVisible();
  await pressOutOf(page, zip, '7870', button(page, 'Save'));
  await expect(page).toHaveURL('/registration/membership');
});

test('while Student Details are submitted the form takes no correction, so that it shows what the server has', async ({
  page,
}) => {
  await startedJoin(page);
  await page.goto(DETAILS);
  await fillDetails(page, { city: 'Austin' });
  const release = await hold(page, 'submitDetails');
  await button(page, 'Save').click();
  await expect(button(page, 'Submitting...')).toBeVisible();
  const city = page.getByLabel('City');
  await city.press('End');
  await city.pressSequentially(' TX');
  await expect(city).toHaveValue('Austin');
  await page.getByLabel('Graduation year').selectOption({ index: 3 });
  await page.getByLabel('I agree to the policies').click();
  await expect(page.getByLabel('I agree to the policies')).toBeChecked();
  release();
  await expect(page).toHaveURL('/registration/membership');
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await expect(city).toHaveValue('Austin');
  const shown = await page.getByLabel('Graduation year').inputValue();
  // The page must show what the server has stored, not what this tab remembers.
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(DETAILS);
  await expect(city).toHaveValue('Austin');
  await expect(page.getByLabel('Graduation year')).toHaveValue(shown);
});

test('a typed invite code and a typed donation outlast a reload and the way back, and end with their use', async ({
  page,
}) => {
  await page.goto('/');
  const code = page.getByLabel('Invite code');
  await code.fill('LINCOLN20');
  await page.reload();
  await expect(code).toHaveValue('LINCOLN20');
  await page.getByRole('link', { name: 'Send me my link' }).click();
  await expect(page).toHaveURL('/pass');
  await page.goBack();
  await expect(code).toHaveValue('LINCOLN20');
  await code.fill('LINCOLN2026');
  await button(page, 'Submit').click();
  await expect(heading(page, 'Student Details')).toBeVisible();
  await page.goto('/');
  await expect(code).toHaveValue('');

  await orderingJoin(page, async () => (await page.evaluate(() => localStorage.getItem('joinSessionUuid')))!);
  await page.goto('/registration/checkout');
  const amount = page.getByLabel('Custom amount');
  await amount.fill('12.50');
  await page.reload();
  await expect(amount).toHaveValue('12.50');
  await page.getByRole('link', { name: 'Back to membership' }).click();
  await expect(heading(page, 'Choose your membership')).toBeVisible();
  await page.goBack();
  await expect(amount).toHaveValue('12.50');
  await button(page, 'Add donation').click();
  await expect(amount).toHaveValue('');
  await page.reload();
  await expect(button(page, 'Buy Now')).toBeVisible();
  await expect(amount).toHaveValue('');

  // A text that is typed while another amount is being added is kept.
  await amount.fill('10');
  const release = await hold(page, 'setCustomDonation');
  await button(page, 'Also add donation').click();
  await amount.fill('25');
  release();
  await expect(page.getByText('Your donations: $22.50')).toBeVisible();
  await expect(amount).toHaveValue('25');
  await page.reload();
  await expect(amount).toHaveValue('25');
});

test('an invited student whose record is complete has only her agreement to give, and may change everything', async ({
  page,
  invitation,
}) => {
  await enterCode(page, invitation.code);
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
  const fields = await page.locator('form input, form select').evaluateAll((all) =>
    (all as HTMLInputElement[]).map((field) => ({
      name: field.name,
      isEmpty: field.type === 'checkbox' ? !field.checked : field.value === '',
      isRequired: field.required,
      isOpen: field.checkVisibility() && !field.disabled && !field.readOnly,
    })),
  );
  expect(fields.filter(({ isOpen }) => !isOpen)).toEqual([]);
  expect(fields).toHaveLength(15);
  const toFill = fields.filter(({ isRequired, isEmpty }) => isRequired && isEmpty).map(({ name }) => name);
  expect(toFill).toEqual(['agreeToPolicies']);
});

test('phones neither correct nor underline names, codes and addresses, begin them in the right case, and know what they may fill in', async ({
  page,
}) => {
  const typing = () =>
    page
      .locator('main form input:not([type=checkbox])')
      .evaluateAll((fields) =>
        Object.fromEntries(
          fields.map((field) => [
            field.id,
            ['autocorrect', 'spellcheck', 'autocapitalize'].map((name) => field.getAttribute(name)).join(' '),
          ]),
        ),
      );
  await page.goto('/');
  expect(await typing()).toEqual({ inviteCode: 'off false characters' });
  await page.goto('/pass');
  await expect(page.getByLabel('Email')).toBeVisible();
  expect(await typing()).toEqual({ email: 'off false none' });
  await page.goto('/verify');
  await expect(page.getByRole('textbox')).toBeVisible();
  expect(Object.values(await typing())).toEqual(['off false characters']);
  await startedJoin(page);
  await page.goto(DETAILS);
  await expect(page.getByLabel('First name')).toBeVisible();
  const [words, code, email] = ['off false words', 'off false characters', 'off false none'];
  expect(await typing()).toMatchObject({
    firstName: words,
    middleName: words,
    lastName: words,
    address1: words,
    address2: words,
    city: words,
    zipcode: code,
    highSchoolName: words,
    personalEmail: email,
    schoolEmail: email,
  });
  const tokens = await page
    .locator('form input, form select')
    .evaluateAll((fields) =>
      Object.fromEntries(fields.map((field) => [field.id, field.getAttribute('autocomplete')])),
    );
  expect(tokens).toMatchObject({
    firstName: 'given-name',
    middleName: 'additional-name',
    lastName: 'family-name',
    personalEmail: 'email',
    country: 'country-name',
    address1: 'address-line1',
    address2: 'address-line2',
    city: 'address-level2',
    state: 'address-level1',
    zipcode: 'postal-code',
  });
});
