import type { Page } from '@playwright/test';
import { hold, route, unroute } from './arrange.ts';
import { expect, expectAccessible, expectFits, expectNoSidewaysScroll, test } from './fixtures.ts';
import { screens } from './screens.ts';
import { watchShifts } from './shifts.ts';
import { button } from './steps.ts';
import {
  faintEdges,
  focusThrough,
  outOfSequence,
  smallTargets,
  spaceText,
  tabThrough,
  textTroubles,
} from './wcag.ts';

// Tests what must be true of every screen, including what WCAG 2.2 AA requires and axe has no rule for.

/** Sets the text size, as a reader can in the browser. */
async function setRootFontSize(page: Page, size: string): Promise<void> {
  await page.evaluate((given) => {
    document.documentElement.style.fontSize = given;
  }, size);
}

/** Runs in the page. Returns the names of endless animations. */
function endless(): string[] {
  return document
    .getAnimations()
    .filter(({ effect }) => effect?.getTiming().iterations === Number.POSITIVE_INFINITY)
    .map((animation) => (animation as CSSAnimation).animationName);
}

const desktop = { width: 1280, height: 900 };

for (const { name, arrange, waitsFor, needs = waitsFor, isWide, title, isThere } of screens) {
  test(`${name}: nothing moves by itself, the Tab key reaches all in order, and nothing is cut off @phone-only`, async ({
    page,
    complaints,
  }) => {
    complaints.expect(/The payment was not completed/);
    complaints.expectFailedRequests();
    const path = await arrange(page);

    if (needs)
      await test.step('without a connection it says so, and goes on by one press once there is one', async () => {
        await page.route(route(needs), (request) => request.abort());
        await page.goto(path);
        const alert = page.getByRole('main').getByRole('alert').filter({ hasText: /\S/ });
        await expect(alert).toHaveText(/\w/);
        await expect(page.getByText('Please check your connection.')).toBeVisible();
        await expect(page.getByText(/expired/)).toHaveCount(0);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
        await unroute(page, route(needs));
        await button(page, 'Try again').click();
        await expect(isThere(page)).toBeVisible();
        await expect(alert).toHaveCount(0);
      });

    const shifts = await watchShifts(page);
    await open();
    await expectReadable();
    await test.step('every stop of the Tab key is seen and in order, and large enough for a finger', async () => {
      expect(await smallTargets(page)).toEqual([]);
      const stops = await tabThrough(page);
      expect(stops.filter(({ troubles }) => troubles.length > 0)).toEqual([]);
      // Tab reaches the last link of the footer: nothing on the way traps the focus.
      expect(stops.at(-1)?.name).toContain('(555)');
    });
    await test.step('words are kept in forced colours, and letters of twice the size have room', async () => {
      await page.emulateMedia({ forcedColors: 'active' });
      await expectAccessible(page);
      await page.emulateMedia({ forcedColors: 'none' });
      // With text of twice the usual size, a window of 640 px has as much room for words as a window of 320 px usually has.
      await page.setViewportSize({ width: 640, height: 900 });
      await setRootFontSize(page, '200%');
      await expectFits(page);
      await setRootFontSize(page, '');
    });
    await test.step('wider spaces between letters, words and lines cut nothing off, upright and on its side', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      // Scrolls to the top: further down, a phone's sticky order bar covers text, which is not a fault.
      await page.evaluate(() => window.scrollTo(0, 0));
      expect(await textTroubles(page)).toEqual([]);
      await page.setViewportSize({ width: 740, height: 360 });
      expect(await textTroubles(page)).toEqual([]);
      await spaceText(page);
      expect(await textTroubles(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      await expectFits(page);
      expect(await textTroubles(page)).toEqual([]);
    });
    if (isWide)
      await test.step('on a desktop, which lays it out in another way', async () => {
        await page.setViewportSize(desktop);
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        await open();
        await expectReadable();
        expect(await focusThrough(page)).toEqual([]);
      });

    async function open() {
      await test.step('nothing moves by itself, and the title is there from the first', async () => {
        // A link with a secret differs from the page's address only after the `#`, and would not load the page again.
        await page.goto('about:blank');
        if (waitsFor) {
          const release = await hold(page, waitsFor);
          await page.goto(path);
          await expect(
            page.getByRole('main').getByRole('status').filter({ hasText: 'Loading' }),
          ).toBeVisible();
          await expect(page).toHaveTitle(title);
          release();
        } else await page.goto(path);
        await expect(isThere(page)).toBeVisible();
        await expect(page).toHaveTitle(title);
        await page.waitForLoadState('networkidle');
        expect(await shifts()).toEqual([]);
        // An endless animation, even an invisible one, makes a phone render every frame.
        await expect.poll(() => page.evaluate(endless)).toEqual([]);
      });
    }

    async function expectReadable() {
      await test.step('what is above is read first, and edges stand out', async () => {
        await page.emulateMedia({ reducedMotion: 'reduce' });
        expect(await faintEdges(page)).toEqual([]);
        expect(await outOfSequence(page)).toEqual([]);
      });
    }
  });
}
