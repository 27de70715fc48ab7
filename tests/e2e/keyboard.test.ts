import type { Frame, Page } from '@playwright/test';
import { png } from '../harness/documents.ts';
import { detailedJoin, details, refuse } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, cardForm, heading, total } from './steps.ts';

/** Returns the frame that has the focus: the page's own, or one of the card provider's. */
async function focusedFrame(page: Page): Promise<Frame> {
  const element = await page.evaluateHandle(() => document.activeElement);
  return (await element.asElement()?.contentFrame()) ?? page.mainFrame();
}

/** Returns the name of the focused element, from its attributes, its label or its text. */
const focused = async (page: Page) =>
  (await focusedFrame(page)).evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    if (!element || element === document.body) return '';
    const label = 'labels' in element ? (element as HTMLInputElement).labels?.[0]?.textContent : '';
    return (element.getAttribute('aria-label') || label || element.textContent || '').trim();
  });

/** Presses Tab until the element with this name has the focus, and asserts that the focus is visible. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (typeof name === 'string' ? now === name : name.test(now)) {
      const visible = await (await focusedFrame(page)).evaluate(() => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement!);
        return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2) || boxShadow !== 'none';
      });
      expect(visible, `the focus on "${now}" is visible`).toBe(true);
      return;
    }
  }
  throw new Error(`Tab never reached ${name}; it is at "${await focused(page)}".`);
}

async function typeInto(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.type(text);
}

test('the whole join by keyboard alone: focus is seen, and each new screen’s heading has it', async ({
  page,
  stripeApi,
}) => {
  const given = details();
  await page.goto('/');
  await tabTo(page, 'Skip to the page');
  await tabTo(page, 'I am Self-Nominating');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Yes, I confirm I meet the eligibility requirements');
  await page.keyboard.press('Space');
  await tabTo(page, 'Submit');
  await page.keyboard.press('Enter');

  await expect(heading(page, 'Student Details')).toBeFocused();
  await typeInto(page, 'First name', given.firstName);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert', { name: 'There is a problem' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Last name')).toBeFocused();
  await page.keyboard.type(given.lastName);
  await typeInto(page, 'Personal email', given.personalEmail);
  await typeInto(page, 'Address line 1', given.address1);
  await typeInto(page, 'City', given.city);
  await typeInto(page, /^State\/Province/, 'Texas');
  await typeInto(page, 'Zipcode', given.zipcode);
  await typeInto(page, 'High school name', given.highSchoolName);
  await tabTo(page, /^Graduation year/);
  await page.keyboard.press('ArrowDown');
  await tabTo(page, /^High school GPA/);
  await page.keyboard.type('3.8');
  await tabTo(page, 'I agree to the policies');
  await page.keyboard.press('Space');
  await tabTo(page, 'Save');
  await page.keyboard.press('Enter');

  await expect(heading(page, 'Choose your membership')).toBeFocused();
  await tabTo(page, 'Choose this membership: Membership');
  await page.keyboard.press('Enter');

  await expect(heading(page, 'Checkout')).toBeFocused();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  await tabTo(page, 'Donate $25');
  await page.keyboard.press('Space');
  await expect(total(page)).toHaveText('$90.00');
  await typeInto(page, 'Card number', '4242424242424242');
  await typeInto(page, 'Expiration date', '1234');
  await typeInto(page, 'Security code', '123');
  await tabTo(page, 'Buy Now');
  await page.keyboard.press('Enter');

  await expect(heading(page, 'Congratulations, you are a member!')).toBeVisible();
  const intent = new URL(page.url()).searchParams.get('payment_intent')!;
  expect(await stripeApi.taken(intent)).toEqual([9000]);
  await tabTo(page, 'Skip');
  await page.keyboard.press('Enter');

  await expect(heading(page, 'Upload Transcript')).toBeFocused();
  // Begins to wait for the file dialog's event well before the key is pressed: the browser needs a moment until it reports this
  // event, and the test would otherwise miss it.
  const chooser = page.waitForEvent('filechooser');
  await tabTo(page, 'Choose a file');
  await page.keyboard.press('Enter');
  await (await chooser).setFiles({
    name: 'transcript.png',
    mimeType: 'image/png',
    buffer: png(),
  });
  await tabTo(page, 'Continue');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Congratulations')).toBeFocused();
  await expect(page.getByText('One thing is still open')).toBeHidden();
  await tabTo(page, 'Shop Now');
});

test('an invitation, an item taken back, an upgrade and the store’s code by keyboard alone', async ({
  page,
  invitation,
  stripeApi,
}) => {
  await page.goto('/');
  await typeInto(page, 'Invite code', invitation.code);
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Student Details')).toBeFocused();
  await expect(page.getByLabel('First name')).toHaveValue('Jordan');
  await tabTo(page, 'I agree to the policies');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Choose your membership')).toBeFocused();
  await expect(page.getByText('/one-time fee')).toHaveCount(2);
  await tabTo(page, 'Choose this membership: Membership with Honor Cord');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Checkout')).toBeFocused();
  await expect(cardForm(page).getByLabel('Card number')).toBeVisible();
  // Removes the focus, so that Tab starts at the top of the page: the order summary comes before the card form.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await tabTo(page, 'Add Lapel Pin');
  await page.keyboard.press('Enter');
  await expect(total(page)).toHaveText('$101.00');
  await expect(page.getByRole('status').filter({ hasText: 'Total Due Today: $101.00' })).toBeAttached();
  // The pressed button has disappeared with its item, so the focus moves to the order summary.
  await expect(page.getByRole('heading', { name: 'Order summary' })).toBeFocused();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Remove Lapel Pin');
  await page.keyboard.press('Enter');
  await expect(total(page)).toHaveText('$89.00');
  await expect(page.getByRole('heading', { name: 'Order summary' })).toBeFocused();
  await expect(page.getByRole('status').filter({ hasText: 'Total Due Today: $89.00' })).toBeAttached();
  await typeInto(page, 'Card number', '4242424242424242');
  await typeInto(page, 'Expiration date', '1234');
  await typeInto(page, 'Security code', '123');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Congratulations, you are a member!')).toBeVisible();
  const intent = new URL(page.url()).searchParams.get('payment_intent')!;
  expect(await stripeApi.taken(intent)).toEqual([8900]);
  await expect(page.getByText('Visa ending 4242')).toBeVisible();
  await tabTo(page, 'Upgrade Now');
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Congratulations')).toBeFocused();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await tabTo(page, 'Copy the code WELCOME15');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('status').filter({ hasText: 'Copied' })).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('WELCOME15');
  await tabTo(page, 'Print receipt');
});

test('a membership that is refused keeps the focus on its button', async ({ page, complaints }) => {
  complaints.expectFailedRequests();
  await detailedJoin(page);
  await refuse(page, 'setMembership', 409, 'Not now.');
  await page.goto('/registration/membership');
  await tabTo(page, 'Choose this membership: Membership');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main').getByRole('alert')).toHaveText('Not now.');
  await expect(button(page, 'Choose this membership: Membership')).toBeFocused();
});
