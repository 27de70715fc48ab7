import type { Page } from '@playwright/test';

interface Shift {
  value: number;
  moved: string[];
}

/** Records the browser's layout shifts from the first paint on, with the elements that moved. Animations are on. */
export async function watchShifts(page: Page): Promise<() => Promise<Shift[]>> {
  await page.emulateMedia({ reducedMotion: 'no-preference' });
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
        // After two frames the browser has counted the shifts of what it has just drawn.
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        note(observer.takeRecords());
        return shifts;
      },
    });
  });
  return () =>
    page.evaluate(() => (window as unknown as { readShifts: () => Promise<Shift[]> }).readShifts());
}
