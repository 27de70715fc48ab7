import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { test as base } from '../fixtures.ts';

export const WIDTHS: readonly number[] = [360, 768, 1440];
/** A sheet of A4 between its margins, at 96 pixels to the inch. */
export const PAPER = 680;

/** Journeys to a picture: what the browser says about a refused call belongs to them. */
export const test = base.extend({
  complaints: async ({ complaints }, use) => {
    complaints.expect(/./);
    await use(complaints);
  },
});

/**
 * One picture of the whole page for each width, named `<screen>__<state>__<width>.jpg`. The order of the screens is the
 * flow's (`screens` in page.ts), of the states the one they were shot in, which the file's time tells.
 */
export async function shoot(page: Page, screen: string, state: string, widths = WIDTHS): Promise<void> {
  const folder = process.env.GALLERY_SHOTS!;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  const top = await page.evaluate(() => window.scrollY);
  for (const width of widths) {
    const height = width === 360 ? 740 : 900;
    await page.setViewportSize({ width, height });
    await page.evaluate(() => {
      window.scrollTo(0, 0);
      // Two frames: what depends on the width is drawn again by then.
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    // A screen as high as the page: the diagonal is fixed, and would otherwise end below the first one.
    // One that keeps the height of a screen while it waits only grows with it, and stays as it was.
    const full = await heightOf(page);
    await page.setViewportSize({ width, height: full });
    if ((await heightOf(page)) > full) await page.setViewportSize({ width, height });
    await page.screenshot({
      path: join(folder, `${screen}__${state}__${width}.jpg`),
      type: 'jpeg',
      quality: 72,
      animations: 'disabled',
    });
  }
  if (before) await page.setViewportSize(before);
  await page.evaluate((y) => window.scrollTo(0, y), top);
}

const heightOf = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight);
