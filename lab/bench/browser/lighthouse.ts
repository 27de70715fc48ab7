import { rmSync } from 'node:fs';
import { chromium } from '@playwright/test';
import { screens as paths } from '../../../packages/core/navigation.ts';
import type { Screen } from '../../../tests/e2e/screens.ts';
import { freePort } from '../../../tools/local/ports.ts';
import { launchOptions } from './slowPhone.ts';

/** The maximum number of runs for one screen. Lighthouse sometimes misses the beginning of a load. */
const MOST_RUNS = 3;
const categories = ['performance', 'accessibility', 'best-practices'];

interface Outcome {
  lhr: {
    categories: Record<string, { score: number | null }>;
    finalDisplayedUrl: string;
    runtimeError?: { code: string; message: string };
  };
}

/** Performance, accessibility and best practices, from 0 to 100. */
export type Scores = [number, number, number];

/** Returns a screen's scores for a phone, with Lighthouse's own settings, in a browser with an empty cache. */
export async function scoreScreen({
  profile,
  url,
  screen,
}: {
  profile: string;
  url: string;
  screen: Screen;
}): Promise<Scores> {
  const port = (await freePort())!;
  rmSync(profile, { recursive: true, force: true });
  const options = await launchOptions();
  const context = await chromium.launchPersistentContext(profile, {
    ...options,
    args: [...options.args, `--remote-debugging-port=${port}`],
  });
  try {
    // Arranges the screen and then opens another page of the site, which stores the join in the browser. The option
    // `disableStorageReset` makes Lighthouse keep the stored data.
    const page = await context.newPage();
    // `arrange` returns a path, or the whole URL of a link.
    const address = new URL(await screen.arrange(page), url).href;
    await page.goto(`${url}/static/`);
    await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
    const flags = { port, output: 'json', logLevel: 'silent', disableStorageReset: true };
    // Imported only here, since it takes long to load.
    const { default: lighthouse } = await import('lighthouse');
    const score = (): Promise<Outcome | undefined> =>
      lighthouse(address, { ...flags, onlyCategories: categories });
    let outcome = await score();
    // Lighthouse asks for another run when it has missed the beginning of a load.
    for (let count = 1; count < MOST_RUNS && outcome?.lhr.runtimeError?.code === 'NO_NAVSTART'; count++)
      outcome = await score();
    if (!outcome || outcome.lhr.runtimeError)
      throw new Error(`Lighthouse: ${screen.name}: ${outcome?.lhr.runtimeError?.message ?? 'no outcome'}`);
    const shown = new URL(outcome.lhr.finalDisplayedUrl).pathname;
    if (shown === paths.getStarted && new URL(address).pathname !== '/')
      throw new Error(
        `Lighthouse was sent from ${address} to ${shown}: the browser did not hold the session.`,
      );
    return scoresOf(outcome);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

function scoresOf({ lhr }: Outcome): Scores {
  return categories.map((name) => Math.round((lhr.categories[name]?.score ?? 0) * 100)) as Scores;
}
