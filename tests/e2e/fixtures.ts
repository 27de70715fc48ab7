import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BrowserContext,
  test as base,
  type ConsoleMessage,
  expect,
  type Page,
  type TestInfo,
} from '@playwright/test';
import { screenAt } from '#core/navigation.ts';
import type { LocalFile } from '../../tools/local/localFile.ts';
import { violationsIn, WCAG } from '../harness/axe.ts';
import { stripe } from './providers.ts';

export { expect } from '@playwright/test';

/** The running `npm start` of `start.ts`: its URLs, keys and folder. */
export type Induct = LocalFile & Required<Omit<LocalFile, 'desk'>> & { folder: string };

export function theInduct(): Induct {
  return JSON.parse(process.env.E2E_INDUCT!) as Induct;
}

/** The errors in the browser's console. A test names the errors that it expects; any other error fails the test. */
export class Complaints {
  readonly #seen: string[] = [];
  readonly #expected: RegExp[] = [];

  watch(context: BrowserContext): void {
    context.on('console', (message) => {
      if (message.type() === 'error' && !isOfNoPage(message)) this.#seen.push(message.text());
    });
    context.on('weberror', (error) => this.#seen.push(String(error.error())));
  }

  expect(...patterns: RegExp[]): void {
    this.#expected.push(...patterns);
  }

  /** Allows the message that the browser itself logs for a request that failed or got a status of 400 or more. */
  expectFailedRequests(): void {
    this.expect(/^Failed to load resource: /);
  }

  get seen(): readonly string[] {
    return this.#seen;
  }

  get unexpected(): string[] {
    return this.#seen.filter((text) => !this.#expected.some((pattern) => pattern.test(text)));
  }
}

/**
 * Whether a console message reports the 404 of a path that is not a screen. The server answers such a path with status 404 and
 * the page as the body.
 */
function isOfNoPage(message: ConsoleMessage): boolean {
  const { url } = message.location();
  if (!/status of 404/.test(message.text()) || !URL.canParse(url)) return false;
  const { pathname } = new URL(url);
  return screenAt(pathname) === null && !/^\/(api|static)\//.test(pathname);
}

interface Fixtures {
  complaints: Complaints;
  /** A personal invitation that no other test uses. */
  invitation: { code: string; contactId: string; email: string };
  stripeApi: ReturnType<typeof stripe>;
}

const isOnPhone = ({ title }: TestInfo) => title.includes('@phone-only');

// The screen is chosen here and not by two Playwright projects, since each project would start its own browsers.
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  isMobile: async ({}, use, info) => use(isOnPhone(info)),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  hasTouch: async ({}, use, info) => use(isOnPhone(info)),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  viewport: async ({}, use, info) =>
    use(isOnPhone(info) ? { width: 390, height: 844 } : { width: 1280, height: 900 }),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  baseURL: async ({}, use) => use(theInduct().server.url),
  complaints: [
    async ({ context }, use) => {
      const complaints = new Complaints();
      complaints.watch(context);
      await use(complaints);
      // Removes the request handlers that the test has set. The page may still send requests, which must not run those handlers
      // after the end of the test.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.unrouteAll({ behavior: 'ignoreErrors' });
      expect(complaints.unexpected, 'the browser complained').toEqual([]);
    },
    { auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  invitation: async ({}, use) => use(drawInvitation()),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
  stripeApi: async ({}, use) => use(stripe(theInduct().stripe)),
});

/**
 * Takes an invitation that no other test has taken. Test workers run in parallel: the worker that creates the marker file gets the
 * invitation.
 */
function drawInvitation(): Fixtures['invitation'] {
  const { folder } = theInduct();
  for (let number = 1; existsSync(join(folder, `invitation-${number}`)); number++) {
    try {
      writeFileSync(join(folder, `invitation-${number}-used`), '', { flag: 'wx' });
    } catch {
      continue;
    }
    const contactId = readFileSync(join(folder, `invitation-${number}`), 'utf8');
    return { code: `JOURNEY${number}`, contactId, email: `jordan.rivera.${number}@example.com` };
  }
  throw new Error('There are more journeys than invitations: raise the number in start.ts.');
}

/** Asserts that axe finds no violation on the page. The card form's frames are Stripe's, so they are left out. */
export async function expectAccessible(page: Page): Promise<void> {
  // Scrolls to the top: axe would call a field too small to touch if a phone's sticky bar covered half of it.
  await page.evaluate(() => window.scrollTo(0, 0));
  expect(await violationsIn(page.mainFrame(), [...WCAG, 'best-practice'])).toEqual([]);
}

/**
 * Asserts that axe finds no text with too little contrast. Used when a page that axe has already checked is shown in other
 * colours.
 */
export async function expectContrast(page: Page): Promise<void> {
  expect(await violationsIn(page.mainFrame(), ['color-contrast'], 'rule')).toEqual([]);
}

/** Asserts that the page does not scroll sideways. */
export async function expectFits(page: Page): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    )
    .toBeLessThanOrEqual(0);
}

/** Asserts that the page does not scroll sideways at 320 px, the narrowest width that WCAG asks for. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 700 });
  await expectFits(page);
  if (before) await page.setViewportSize(before);
}
