import type { Page } from '@playwright/test';
import { hold } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { screens } from './screens.ts';

interface Shift {
  value: number;
  moved: string[];
}

/** Notes what moves by itself from the first picture on, as the browser counts it, and what it was that moved. */
async function watchShifts(page: Page): Promise<() => Promise<Shift[]>> {
  await page.addInitScript(() => {
    const shifts: Shift[] = [];
    const note = (list: PerformanceEntry[]) =>
      shifts.push(
        ...list
          .map((entry) => entry as PerformanceEntry & { value: number; sources: { node: Element | null }[] })
          .map(({ value, sources }) => ({
            value,
            moved: sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? 'something'),
          })),
      );
    const observer = new PerformanceObserver((list) => note(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    Object.assign(window, {
      readShifts: async () => {
        // Two frames: what has just been drawn is counted by then.
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        note(observer.takeRecords());
        return shifts;
      },
    });
  });
  return () =>
    page.evaluate(() => (window as unknown as { readShifts: () => Promise<Shift[]> }).readShifts());
}

for (const { name, arrange, waitsFor, title, isThere } of screens) {
  test(`nothing moves by itself on ${name}, and its title is there from the first @phone`, async ({
    page,
    complaints,
  }) => {
    complaints.expect(/The payment was not completed/);
    const shifts = await watchShifts(page);
    const path = await arrange(page);
    if (waitsFor) {
      const release = await hold(page, waitsFor);
      await page.goto(path);
      await expect(page.getByRole('main').getByRole('status').filter({ hasText: 'Loading' })).toBeVisible();
      await expect(page).toHaveTitle(title);
      release();
    } else await page.goto(path);
    await expect(isThere(page)).toBeVisible();
    await expect(page).toHaveTitle(title);
    await page.waitForLoadState('networkidle');
    expect(await shifts()).toEqual([]);
  });
}
