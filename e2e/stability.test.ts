import type { Page } from '@playwright/test';
import type { CallName } from '../packages/contract/calls.ts';
import { detailedJoin, hold, orderingJoin, paidJoin, selfNomination, startedJoin } from './arrange.ts';
import { expect, test } from './fixtures.ts';
import { button, heading } from './steps.ts';

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

interface Screen {
  name: string;
  arrange: (page: Page) => Promise<string>;
  /** The call that the screen waits for, and its title meanwhile. */
  waitsFor?: CallName;
  title: string;
  isThere: (page: Page) => ReturnType<typeof button>;
}

const at = (path: string, arrange: (page: Page) => Promise<unknown>) => async (page: Page) => {
  await arrange(page);
  return path;
};

const screens: Screen[] = [
  {
    name: 'Get Started',
    arrange: async () => '/',
    title: 'Get Started',
    isThere: (page) => heading(page, 'Get Started'),
  },
  {
    name: 'Student Details',
    arrange: at('/registration/student-details', startedJoin),
    waitsFor: 'getContact',
    title: 'Student Details',
    isThere: (page) => page.getByLabel('First name'),
  },
  {
    name: 'Membership',
    arrange: at('/registration/membership', detailedJoin),
    waitsFor: 'getMembershipDetails',
    title: 'Membership',
    isThere: (page) => button(page, 'Choose this membership: Membership'),
  },
  {
    name: 'Checkout',
    arrange: at('/registration/checkout', orderingJoin),
    waitsFor: 'createPaymentIntent',
    title: 'Checkout',
    isThere: (page) => page.getByRole('button', { name: 'Buy Now', disabled: false }),
  },
  {
    name: 'Upgrade Membership',
    arrange: async (page) => (await paidJoin(page)).upgradePath,
    waitsFor: 'getUpgradeDetails',
    title: 'Upgrade Membership',
    isThere: (page) => button(page, 'Upgrade Now'),
  },
  {
    name: 'Upload Transcript',
    arrange: at('/registration/upload-transcript', (page) => paidJoin(page, selfNomination)),
    title: 'Upload Transcript',
    isThere: (page) => heading(page, 'Upload Transcript'),
  },
  {
    name: 'Congratulations',
    arrange: at('/registration/congratulations', paidJoin),
    title: 'Congratulations',
    isThere: (page) => heading(page, 'Congratulations'),
  },
  {
    name: 'Upload Your Resume',
    arrange: async () => '/upload-resume/101',
    title: 'Upload Your Resume',
    isThere: (page) => heading(page, 'Upload Your Resume'),
  },
];

for (const { name, arrange, waitsFor, title, isThere } of screens) {
  test(`nothing moves by itself on ${name}, and its title is there from the first @phone`, async ({
    page,
  }) => {
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
