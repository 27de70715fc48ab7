import type { Browser, CDPSession, Page } from '@playwright/test';

/** A phone of some years ago on a slow line: the processor four times slower, 1.6 Mbit/s down, 150 ms for each request. */
export const SLOW = {
  cpu: 4,
  latencyMs: 150,
  downBitsPerSecond: 1_600_000,
  upBitsPerSecond: 750_000,
} as const;

export interface SlowPage {
  page: Page;
  /** What came over the line so far. */
  received: Received[];
  close(): Promise<void>;
}

export interface Received {
  url: string;
  type: string;
  /** As they were sent, with headers (bytes). */
  bytes: number;
}

/** A new browser profile, with nothing in its cache. It is slow as soon as `slowDown` is called: not while it is arranged. */
export async function newPage(browser: Browser): Promise<SlowPage & { slowDown(): Promise<void> }> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    locale: 'en-US',
  });
  await context.addInitScript(observe);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const received: Received[] = [];
  await noteTraffic(session, received);
  return {
    page,
    received,
    async slowDown() {
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: SLOW.latencyMs,
        downloadThroughput: SLOW.downBitsPerSecond / 8,
        uploadThroughput: SLOW.upBitsPerSecond / 8,
      });
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW.cpu });
    },
    close: () => context.close(),
  };
}

async function noteTraffic(session: CDPSession, received: Received[]): Promise<void> {
  const requests = new Map<string, { url: string; type: string }>();
  session.on('Network.requestWillBeSent', ({ requestId, request, type }) =>
    requests.set(requestId, { url: request.url, type: type ?? 'Other' }),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const request = requests.get(requestId);
    if (request) received.push({ ...request, bytes: encodedDataLength });
  });
  await session.send('Network.enable');
}

/** Of one load (ms since its beginning, and for `cls` the score). */
export interface Painting {
  /** First and largest contentful paint. */
  fcp: number;
  lcp: number;
  /** Total blocking time: what tasks after the first paint took beyond 50 ms each. */
  tbt: number;
  /** Cumulative layout shift. */
  cls: number;
}

export async function readPainting(page: Page): Promise<Painting> {
  // A slow page may have all its bytes before it is painted.
  await page.waitForFunction(() => {
    const { fcp, lcp } = (window as unknown as Observed).__bench;
    return fcp > 0 && lcp > 0;
  });
  return page.evaluate(() => {
    const { fcp, lcp, tasks, shifts } = (window as unknown as Observed).__bench;
    const blocking = tasks.filter(({ end }) => end > fcp).map(({ duration }) => Math.max(0, duration - 50));
    return {
      fcp,
      lcp,
      tbt: blocking.reduce((sum, ms) => sum + ms, 0),
      cls: shifts.reduce((sum, value) => sum + value, 0),
    };
  });
}

interface Observed {
  __bench: { fcp: number; lcp: number; tasks: { end: number; duration: number }[]; shifts: number[] };
}

/** Runs in the page, before anything of its own. */
function observe(): void {
  const seen: Observed['__bench'] = { fcp: 0, lcp: 0, tasks: [], shifts: [] };
  (window as unknown as Observed).__bench = seen;
  const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') seen.fcp = startTime;
  });
  watch('largest-contentful-paint', ({ startTime }) => {
    seen.lcp = startTime;
  });
  watch('longtask', ({ startTime, duration }) => {
    seen.tasks.push({ end: startTime + duration, duration });
  });
  watch('layout-shift', (entry) => {
    const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
    if (!hadRecentInput) seen.shifts.push(value);
  });
}
