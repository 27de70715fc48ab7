import type { Browser, Page } from '@playwright/test';
import { findChromium } from '../../../tools/local/chromium.ts';

/** By how many times the CPU is slowed down: to that of a phone some years old. */
export const CPU_SLOWDOWN = 4;
/** The phone's slow network connection: latency in ms, throughput in bytes a second. */
export const LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, locale: 'en-US' };

/**
 * Returns launch options for Chromium. They turn off traffic in the background. They also keep Playwright from closing the browser
 * on signals such as Ctrl-C, since the scope closes it.
 */
export async function launchOptions() {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--no-first-run'];
  return {
    executablePath: await findChromium(),
    args: ['--disable-gpu', ...quiet],
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  };
}

/** Opens a page on the slow phone, with an empty cache. The caller closes the page's context. */
export async function openSlowPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext(PHONE);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', LINE);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  return page;
}

/** The times from the request for a page to its first and to its largest contentful paint (ms). */
export interface Painting {
  first: number;
  largest: number;
}

/** Loads a page until the network is idle, and reads when it was painted. Fails if nothing was painted within 30 s. */
export async function timePainting(page: Page, url: string): Promise<Painting> {
  // Chromium paints only the page in front.
  await page.bringToFront();
  await page.addInitScript(() => {
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) performance.mark('painted', { startTime });
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  });
  await page.goto(url, { waitUntil: 'networkidle' });
  const painting = await page.waitForFunction((): Painting | undefined => {
    const [first] = performance.getEntriesByName('first-contentful-paint');
    const largest = performance.getEntriesByName('painted').at(-1);
    return first && largest && { first: first.startTime, largest: largest.startTime };
  });
  return (await painting.jsonValue())!;
}

/** Times from an answer of the server to the paint that the answer causes (ms), by the page's own clock. */
export interface Step {
  /** From the answer to the button's call until the placeholder of the next screen. */
  placeholder: number;
  /** From the answer with the next screen's data until that screen is painted. */
  screen: number;
}

/**
 * Presses a button, and times the step to the next screen. `call` and `data` are the endings of two URLs: of the button's call
 * and of the call for the screen's data.
 */
export async function timeStep(
  page: Page,
  { press, call, data }: { press: string; call: string; data: string },
): Promise<Step> {
  await page.evaluate(() => {
    const heading = () => document.querySelector('h1')?.textContent;
    const before = heading();
    const seen = new Set<string>();
    const observer = new MutationObserver(() => {
      if (heading() === undefined || heading() === before) return;
      const shown = document.querySelector('[data-waiting]') ? 'placeholder' : 'screen';
      if (shown === 'screen') observer.disconnect();
      if (seen.has(shown)) return;
      seen.add(shown);
      requestAnimationFrame(() => setTimeout(() => performance.mark(shown)));
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
  });
  await page.locator(press).first().click();
  // The browser may record a request's timing after the page has shown its answer.
  const step = await page.waitForFunction(
    (endings) => {
      const [placeholder] = performance.getEntriesByName('placeholder');
      const [screen] = performance.getEntriesByName('screen');
      const requests = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const [call, data] = endings.map((ending) =>
        requests.filter(({ name }) => name.split('?')[0]!.endsWith(ending)).at(-1),
      );
      if (!placeholder || !screen || !call || !data) return null;
      return {
        placeholder: placeholder.startTime - call.responseEnd,
        screen: screen.startTime - data.responseEnd,
      };
    },
    [call, data],
  );
  await page.evaluate(() => performance.clearMarks());
  return (await step.jsonValue())!;
}
