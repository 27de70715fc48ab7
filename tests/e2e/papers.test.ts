import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { isLong } from '../harness/testLength.ts';
import { alter, call, paidJoin, refuse, route, unroute, verifyPathOfMember } from './arrange.ts';
import { expect, expectAccessible, expectFits, test } from './fixtures.ts';
import { heading } from './steps.ts';

const WELCOME = '/registration/congratulations';

const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name });
/** Locates the heading of `/verify/NUMBER` that says whether the number is genuine. */
const finding = (page: Page, name: string) => page.getByRole('heading', { level: 2, name });
const verifySwitch = (page: Page) => page.getByRole('switch', { name: 'Let others verify my membership' });

const openMore = (page: Page) => page.getByText('More', { exact: true }).click();
const isSaved = (page: Page) => expect(verifySwitch(page)).not.toHaveAttribute('aria-busy');

async function openWelcome(page: Page): Promise<{ uuid: string; number: string }> {
  const { uuid } = await paidJoin(page);
  await page.goto(WELCOME);
  const { papers } = await call(page, 'getWelcome', { uuid });
  await expect(page.getByText(`Your member number is ${papers.number}.`)).toBeVisible();
  return { uuid, number: papers.number };
}

test('the name is the largest thing on the welcome page, on a picture that a phone shares @phone-only', async ({
  page,
}) => {
  await page.addInitScript(() => {
    const shared: object[] = [];
    Object.assign(window, { shared });
    navigator.canShare = () => true;
    navigator.share = async (data) => {
      const file = data?.files?.[0];
      const bitmap = file && (await createImageBitmap(file));
      shared.push({ text: data?.text, url: data?.url, type: file?.type, width: bitmap?.width });
    };
  });
  const { number } = await openWelcome(page);
  const picture = page.getByRole('img', { name: /^Certificate of Jordan Rivera, Honor Scholars, admitted / });
  await expect(picture).toBeInViewport({ ratio: 1 });
  await page.getByRole('button', { name: 'Share' }).click();
  const url = `${new URL(page.url()).origin}/verify/${number}`;
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { shared: object[] }).shared))
    .toEqual([
      { text: 'I am now a member of Collegiate Honor Society.', url, type: 'image/png', width: 1440 },
    ]);
  const profile = new URL((await link(page, 'Add to LinkedIn').getAttribute('href'))!);
  expect(profile.searchParams.get('certUrl')).toBe(url);

  await openMore(page);
  await verifySwitch(page).click();
  await isSaved(page);
  await expect(link(page, 'Add to LinkedIn')).not.toHaveAttribute('href', /certUrl/);
});

test('a new member downloads the certificate and the press release from the welcome, and copies its text @phone-only', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { number } = await openWelcome(page);
  await openMore(page);
  await expectAccessible(page);
  await expectFits(page);
  for (const [name, file] of [
    ['Certificate (PDF)', 'Certificate - Jordan Rivera.pdf'],
    ['Press release (PDF)', 'Press release - Jordan Rivera.pdf'],
    ['A4', 'Certificate - Jordan Rivera.pdf'],
  ] as const) {
    const waiting = page.waitForEvent('download');
    await link(page, name).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe(file);
    expect(
      readFileSync(await download.path())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
  }
  await expect(page).toHaveURL(WELCOME);

  await page.getByText('Copy the press release as text').click();
  const text = page.getByLabel('Text of the press release');
  await expect(text).toHaveValue(
    /^FOR IMMEDIATE RELEASE\n\nJordan Rivera Admitted to Collegiate Honor Society/,
  );
  await expectAccessible(page);
  await expectFits(page);
  await page.getByRole('button', { name: 'Copy text' }).click();
  await expect(page.getByText('Copied')).toBeAttached();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(`/verify/${number}`);
});

for (const clipboard of isLong ? ['refuses to copy', 'is missing'] : ['refuses to copy'])
  test(`when the clipboard ${clipboard}, the text is selected instead, and a sentence says so; without a sheet for sharing the picture is saved, and without the picture the name stands in its frame @phone-only`, async ({
    page,
    complaints,
  }) => {
    complaints.expectFailedRequests();
    await page.addInitScript((refuses) => {
      const writeText = () => Promise.reject(new DOMException('Write permission denied.'));
      Object.defineProperty(navigator, 'clipboard', { value: refuses ? { writeText } : undefined });
      Object.defineProperty(Navigator.prototype, 'share', { value: undefined });
    }, clipboard === 'refuses to copy');
    const selected = () => page.evaluate(() => getSelection()?.toString());
    await openWelcome(page);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save picture' }).click();
    expect((await saving).suggestedFilename()).toBe('certificate.png');
    await page.getByRole('button', { name: 'Copy the code WELCOME15' }).click();
    await expect(page.getByLabel('Please copy the code by hand: it is selected.')).toBeFocused();
    expect(await selected()).toBe('WELCOME15');
    await expectAccessible(page);
    await expectFits(page);

    await openMore(page);
    await page.getByText('Copy the press release as text').click();
    await page.getByRole('button', { name: 'Copy text' }).click();
    await expect(page.getByText('Please copy the text by hand: it is selected.')).toBeVisible();
    expect(await selected()).toBe(await page.getByLabel('Text of the press release').inputValue());

    await page.route('**/certificate.svg', (route) => route.fulfill({ status: 503 }));
    await page.reload();
    await expect(page.getByText('Jordan Rivera', { exact: true })).toBeVisible();
    await expect(page.getByText('Honor Scholars', { exact: true })).toBeVisible();
    await expectAccessible(page);
    await expectFits(page);
  });

test('a member turns the entry off and on, with the keyboard; a reload shows it as it was left', async ({
  page,
  browser,
  baseURL,
}) => {
  const { number } = await openWelcome(page);
  const stranger = await browser.newPage({ baseURL: baseURL! });
  const visits = async (found: string) => {
    await stranger.goto(`/verify/${number}`);
    await expect(finding(stranger, found)).toBeVisible();
  };
  await openMore(page);
  await expect(verifySwitch(page)).toBeChecked();
  await visits('This membership is genuine');

  await verifySwitch(page).focus();
  await page.keyboard.press('Space');
  await expect(verifySwitch(page)).not.toBeChecked();
  await expect(page.getByText('is told that there is no such membership')).toBeVisible();
  await isSaved(page);
  await expectAccessible(page);
  await visits('We have no record of such a membership');

  await page.reload();
  await openMore(page);
  await expect(verifySwitch(page)).not.toBeChecked();
  await verifySwitch(page).click();
  await expect(verifySwitch(page)).toBeChecked();
  await isSaved(page);
  await visits('This membership is genuine');
  await stranger.close();
});

test('the switch says how it stands when the papers are loaded later than the page, and when it could not be turned; whose name cannot be printed reads why, and is offered no file @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  await paidJoin(page);
  await refuse(page, 'getWelcome', 500, 'Not now.');
  await page.goto(WELCOME);
  await expect(page.getByRole('alert')).toContainText('Not now.');
  await unroute(page, route('getWelcome'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await openMore(page);
  await expect(verifySwitch(page)).toBeChecked();
  await refuse(page, 'setVerification', 503, 'We cannot reach our records right now.');
  await verifySwitch(page).click();
  await expect(page.getByText('We cannot reach our records right now.')).toBeVisible();
  await expect(verifySwitch(page)).toBeChecked();

  const problem =
    'Our certificates are printed in Latin, Greek and Cyrillic letters, and your name has others (م ح د).';
  await alter(page, 'getWelcome', ({ papers }) => Object.assign(papers, { problem }));
  await page.reload();
  await expect(page.getByText(problem)).toBeVisible();
  await expect(link(page, 'Certificate (PDF)')).toHaveCount(0);
  await expectAccessible(page);
  await expectFits(page);
});

test('a number is typed by hand into the page that verifies, as people type, and is not looked up while there are too many wrong ones @phone-only', async ({
  page,
  complaints,
}) => {
  complaints.expectFailedRequests();
  const number = (await verifyPathOfMember(page)).split('/').at(-1)!;

  const response = await page.goto('/verify');
  expect(response?.status()).toBe(200);
  expect(response?.headers()['x-robots-tag']).toBe('noindex');
  await expect(heading(page, 'Verify a Membership')).toBeVisible();
  await expectAccessible(page);
  await expectFits(page);
  const typed = number.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l').replace('-', ' ');
  await page.getByLabel('Member number').fill(typed);
  await page.getByLabel('Member number').press('Enter');
  await expect(page).toHaveURL(`/verify/${number}`);
  await expect(finding(page, 'This membership is genuine')).toBeVisible();
  const main = page.getByRole('main');
  await expect(main).toContainText('Collegiate Honor Society');
  await expect(main).toContainText('Honor Scholars');
  await expect(main).toContainText(number);
  await expect(main).not.toContainText('Jordan');
  await expectAccessible(page);
  await expectFits(page);

  const unlisted = await page.goto(`/VERIFY/${'9'.repeat(30)}`);
  expect(unlisted?.status()).toBe(200);
  expect(unlisted?.headers()['x-robots-tag']).toBe('noindex');
  await expect(finding(page, 'We have no record of such a membership')).toBeVisible();
  await expectAccessible(page);
  await expectFits(page);

  await refuse(page, 'verifyNumber', 429, 'Too many attempts. Please wait a few minutes and try again.');
  await page.goto('/verify/7K3M-9QXR');
  await expect(page.getByRole('alert')).toContainText('Too many attempts.');
  await expectAccessible(page);
});
