import type { Page } from '@playwright/test';
import { pdf } from '../harness/documents.ts';
import { paidJoin } from './arrange.ts';
import { judgingPage, payLongAgo, plantDocument, signIn, test } from './desk.ts';
import { expect, expectAccessible, expectContrast, expectFits, expectNoSidewaysScroll } from './fixtures.ts';
import { watchShifts } from './shifts.ts';
import { button } from './steps.ts';
import { brokenWords, faintEdges, focusThrough, smallTargets, tabThrough, textTroubles } from './wcag.ts';

/** Pays for a join in the page of a joiner, and stores a transcript. Returns the URL of the page that reviews it. */
async function transcriptToJudge(joiner: Page): Promise<string> {
  const { uuid } = await paidJoin(joiner);
  await plantDocument(uuid, { name: 'transcript.pdf', mediaType: 'application/pdf', bytes: pdf() });
  return judgingPage(uuid);
}

/** Returns the page of the person whose transcript the page `judging` reviews. */
const personOf = (judging: string) => `/people/${judging.split('/')[2]}`;

interface Places {
  /** The page of a person who has paid. */
  person: string;
  /** The page that reviews their transcript. */
  judging: string;
}

/** The pages of the desk, in parts that are tested in parallel. */
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

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

for (const [index, [part, pathsOf]] of Object.entries(parts).entries())
  test(`${part}: nothing moves by itself, axe finds nothing, the Tab key reaches all, and all fits`, async ({
    page,
    browser,
  }) => {
    // The test opens many pages, each in many ways.
    test.slow();
    const joiner = await browser.newPage();
    const judging = await transcriptToJudge(joiner);
    // Makes sure that each list has a row.
    await payLongAgo((await paidJoin(joiner)).uuid);
    await joiner.close();
    await signIn(page, `Hal ${index}`);
    const paths = pathsOf({ person: personOf(judging), judging });
    if (paths.includes('/numbers')) {
      // Makes sure that there is a ledger, whatever other tests have done.
      await page.goto('/numbers');
      await button(page, /^Read this month from Stripe$|^Read again$/).click();
      await expect(page.getByRole('link', { name: 'Download ledger' })).toBeVisible();
    }
    const shifts = await watchShifts(page);
    for (const path of paths)
      await test.step(path, async () => {
        // First on a desktop in dark mode, then on a phone in light mode.
        await open(desktop, 'dark');
        await expectAccessible(page);
        expect(await focusThrough(page)).toEqual([]);
        await expectReadable();
        await open(phone, 'light');
        await expectContrast(page);
        expect(await smallTargets(page)).toEqual([]);
        const stops = await tabThrough(page);
        expect(stops.filter(({ troubles }) => troubles.length > 0)).toEqual([]);
        await expectReadable();
        await page.emulateMedia({ forcedColors: 'active' });
        await expectContrast(page);
        expect(await faintEdges(page)).toEqual([]);
        await page.emulateMedia({ forcedColors: 'none' });
        await expectNoSidewaysScroll(page);
        await page.evaluate(() => {
          document.documentElement.style.fontSize = '200%';
        });
        await expectFits(page);

        async function open(screen: typeof desktop, colorScheme: 'dark' | 'light') {
          await page.setViewportSize(screen);
          await page.emulateMedia({ reducedMotion: 'no-preference', colorScheme });
          await page.goto(path);
          await page.waitForLoadState('networkidle');
          await expect(page.getByText('Loading')).toHaveCount(0);
          expect(await shifts()).toEqual([]);
          await page.emulateMedia({ reducedMotion: 'reduce' });
        }

        async function expectReadable() {
          expect(await faintEdges(page)).toEqual([]);
          // Scrolls to the top: further down, a bar at the edge of the screen covers text, which is not a fault.
          await page.evaluate(() => window.scrollTo(0, 0));
          expect(await textTroubles(page)).toEqual([]);
          expect(await brokenWords(page)).toEqual([]);
        }
      });
  });

test('a letter is shown as it was sent, and gives the focus back @phone-only', async ({ page, browser }) => {
  const joiner = await browser.newPage();
  const { uuid } = await paidJoin(joiner);
  await joiner.close();
  await signIn(page, 'Hal Letter');
  await page.goto(`${personOf(await judgingPage(uuid))}/letters`);
  await button(page, 'Show').first().click();
  const letter = page.getByRole('dialog');
  await expect(letter).toContainText('Collegiate Honor Society');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Escape');
  await expect(letter).toHaveCount(0);
  await expect(button(page, 'Show').first()).toBeFocused();
});
