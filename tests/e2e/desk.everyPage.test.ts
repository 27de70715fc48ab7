import type { Page } from '@playwright/test';
import { pdf } from '../harness/documents.ts';
import { paidJoin } from './arrange.ts';
import { enterDesk, judgingPage, payLongAgo, plantDocument, test } from './desk.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll } from './fixtures.ts';
import { watchShifts } from './shifts.ts';
import { button } from './steps.ts';
import { brokenWords, faintEdges, smallTargets, tabThrough, textTroubles } from './wcag.ts';

const search = (page: Page) => page.getByRole('searchbox', { name: 'Search people' });

interface Places {
  /** The page of somebody who has paid. */
  person: string;
  /** The judging page of their transcript. */
  judging: string;
}

/** The pages of the desk, in parts that are tried side by side. */
const parts: Record<string, (places: Places) => string[]> = {
  'Today and People': ({ person }) => [
    '/',
    '/people',
    '/people?text=Rivera',
    '/people?queue=refunds',
    person,
    '/passkeys',
  ],
  Person: ({ person }) =>
    ['story', 'letters', 'documents', 'hubspot', 'correct'].map((tab) => `${person}/${tab}`),
  'Transcripts and Parcels': ({ judging }) => [
    '/transcripts',
    '/transcripts/overdue',
    '/transcripts/decided',
    judging,
    '/parcels',
    '/parcels/held',
    '/parcels/sent',
  ],
  'Invitations, Numbers and Staff': () => [
    '/invitations?code=NOSUCHCODE&text=LINCOLN2026',
    '/invitations/upload',
    '/invitations/make',
    '/invitations/files',
    '/numbers',
    '/numbers?by=programme',
    '/staff',
  ],
};

for (const [index, [part, pathsOf]] of Object.entries(parts).entries())
  test(`${part}: nothing moves by itself, axe finds nothing, the Tab key reaches all, and all fits @phone`, async ({
    page,
    isMobile,
    browser,
  }) => {
    // Many pages, each in many ways.
    test.slow();
    const joiner = await browser.newPage();
    const { intent, uuid } = await paidJoin(joiner);
    const judging = await judgingPage(uuid);
    const transcript = { name: 'transcript.pdf', mediaType: 'application/pdf', bytes: pdf() };
    await plantDocument(uuid, transcript);
    // Each list has a row.
    await payLongAgo((await paidJoin(joiner)).uuid);
    await joiner.close();
    await enterDesk(page, `Hal ${isMobile ? 'P' : 'D'}${index}`);
    await search(page).fill(intent);
    await search(page).press('Enter');
    await page.getByRole('table').getByRole('link').click();
    await expect(page).toHaveURL(/\/people\/\d+$/);
    await expect(page.getByRole('main')).toContainText('ending in 4242');
    const { pathname: person } = new URL(page.url());
    // The ledger is there, whatever other tests have done.
    await page.goto('/numbers');
    await button(page, /^Read this month from Stripe$|^Read again$/).click();
    await expect(page.getByRole('link', { name: 'Download ledger' })).toBeVisible();
    const shifts = await watchShifts(page);
    for (const path of pathsOf({ person, judging }))
      await test.step(path, async () => {
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        await page.goto(path);
        await page.waitForLoadState('networkidle');
        await expect(page.getByText('Loading')).toHaveCount(0);
        expect(await shifts()).toEqual([]);
        await page.emulateMedia({ reducedMotion: 'reduce' });
        await expectAccessible(page);
        expect(await faintEdges(page)).toEqual([]);
        if (isMobile) expect(await smallTargets(page)).toEqual([]);
        const stops = await tabThrough(page);
        expect(stops.filter(({ troubles }) => troubles.length > 0)).toEqual([]);
        for (const media of [{ colorScheme: 'dark' }, { forcedColors: 'active' }] as const) {
          await page.emulateMedia(media);
          await expectAccessible(page);
          expect(await faintEdges(page)).toEqual([]);
        }
        await page.emulateMedia({ colorScheme: null, forcedColors: null });
        expect(await textTroubles(page)).toEqual([]);
        expect(await brokenWords(page)).toEqual([]);
        await expectNoSidewaysScroll(page);
        await page.evaluate(() => {
          document.documentElement.style.fontSize = '200%';
        });
        await expectFits(page);
      });
  });

test('a letter is shown as it was sent, and gives the focus back @phone', async ({ page, browser }) => {
  const joiner = await browser.newPage();
  const { intent } = await paidJoin(joiner);
  await joiner.close();
  await enterDesk(page, 'Hal Letter');
  await search(page).fill(intent);
  await search(page).press('Enter');
  await page.getByRole('table').getByRole('link').click();
  await expect(page).toHaveURL(/\/people\/\d+$/);
  const { pathname: person } = new URL(page.url());
  await page.goto(`${person}/letters`);
  await button(page, 'Show').first().click();
  const letter = page.getByRole('dialog');
  await expect(letter).toContainText('Collegiate Honor Society');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Escape');
  await expect(letter).toHaveCount(0);
  await expect(button(page, 'Show').first()).toBeFocused();
});
