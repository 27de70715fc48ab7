import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { test as base } from '../fixtures.ts';

export const WIDTHS: readonly number[] = [360, 768, 1440];
/** The width of an A4 sheet's printable area at 96 pixels to the inch (px). */
export const PAPER = 680;

/**
 * Playwright's `test` for taking pictures. It allows every error in the browser's console, since some pictures show what happens
 * when a call fails.
 */
export const test = base.extend({
  complaints: async ({ complaints }, use) => {
    complaints.expect(/./);
    await use(complaints);
  },
});

/**
 * Takes a picture of the whole page at each width, named `<screen>__<state>__<width>.jpg`. The gallery orders screens by the
 * number at the start of a screen's name, and the states of a screen by the times of the picture files.
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
      // After two frames the browser has drawn the page at its new width.
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    // Makes the window as high as the page. In a lower window, the diagonal in the page's background would not reach the bottom of
    // the picture. Some pages grow with the window; for these, the window keeps its usual height.
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
