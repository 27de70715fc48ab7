import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type CallName, calls } from '../../packages/contract/calls.ts';
import { test as base } from '../fixtures.ts';

export const WIDTHS = [360, 768, 1440] as const;

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
export async function shoot(page: Page, screen: string, state: string): Promise<void> {
  const folder = process.env.GALLERY_SHOTS!;
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  const top = await page.evaluate(() => window.scrollY);
  for (const width of WIDTHS) {
    const height = width === 360 ? 740 : 900;
    await page.setViewportSize({ width, height });
    await page.evaluate(() => {
      window.scrollTo(0, 0);
      // Two frames: what depends on the width is drawn again by then.
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    // A screen as high as the page: the diagonal is fixed, and would otherwise end below the first one.
    const full = await page.evaluate(() => document.documentElement.scrollHeight);
    if (full > height && !(await waits(page))) await page.setViewportSize({ width, height: full });
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

/** Whether the page keeps the height of a screen while it waits: it would grow with a higher one. */
function waits(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.querySelector('main [aria-busy="true"], main [role="status"]') !== null,
  );
}

/** A call of the contract as a pattern, whatever its parameters are. */
export const route = (name: CallName) => `**${calls[name].path.replace(/\{\w+\}/g, '*')}`;

/** Keeps a call waiting until the returned function is called. */
export async function hold(page: Page, name: CallName): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(route(name), async (request) => {
    await released;
    await request.fallback();
  });
  return release;
}

export async function refuse(page: Page, name: CallName, status: number, message?: string): Promise<void> {
  const json = { success: false, status: 'error', ...(message && { message }) };
  await page.route(route(name), (request) => request.fulfill({ status, json }));
}
