import type { Page } from '@playwright/test';
import { png } from '../local/testing/documents.ts';
import { details } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { heading, total } from './steps.ts';

/** What has the focus: its accessible words, as far as they are in the page. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    if (!element || element === document.body) return '';
    const label = 'labels' in element ? (element as HTMLInputElement).labels?.[0]?.textContent : '';
    return (element.getAttribute('aria-label') || label || element.textContent || '').trim();
  });

/** Presses Tab until something named so has the focus, and sees that one sees it. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (typeof name === 'string' ? now === name : name.test(now)) {
      const visible = await page.evaluate(() => {
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
  test.slow();
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
  await expect(page.getByLabel('Card number')).toBeVisible();
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
  // Listening comes first: the browser is told of it, which takes a moment.
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
  await tabTo(page, 'Shop Now');
});
