import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from '@playwright/test';
import { screens as paths } from '#core/navigation.ts';
import type { Screen } from '../../../tests/e2e/screens.ts';
import { freePort } from '../../local/ports.ts';
import { launchOptions } from './slowPhone.ts';

/**
 * The version of Lighthouse. It is not among the project's packages, since it and its dependencies are large: {@link install}
 * installs it separately.
 */
const VERSION = '13.5.0';
const program = resolve(import.meta.dirname, '../../../out/lighthouse/node_modules/lighthouse/core/index.js');
/** The most runs for one screen: Lighthouse sometimes misses the beginning of a load. */
const MOST_RUNS = 3;
const categories = ['performance', 'accessibility', 'best-practices'];

interface Outcome {
  lhr: {
    categories: Record<string, { score: number | null }>;
    finalDisplayedUrl: string;
    runtimeError?: { code: string; message: string };
  };
}
export type Lighthouse = (url: string, flags: object) => Promise<Outcome | undefined>;

/** Performance, accessibility and best practices, from 0 to 100. */
export type Scores = [number, number, number];

/** The command that installs Lighthouse. */
export const install = `npm install --prefix out/lighthouse lighthouse@${VERSION}`;

/** Loads Lighthouse; undefined when it is not installed. */
export async function findLighthouse(): Promise<Lighthouse | undefined> {
  if (!existsSync(program)) return undefined;
  return ((await import(pathToFileURL(program).href)) as { default: Lighthouse }).default;
}

/** Returns a screen's scores for a phone, with Lighthouse's own settings, in a browser with an empty cache. */
export async function scoreScreen(
  lighthouse: Lighthouse,
  { profile, url, screen }: { profile: string; url: string; screen: Screen },
): Promise<Scores> {
  const port = (await freePort())!;
  rmSync(profile, { recursive: true, force: true });
  const options = await launchOptions();
  const context = await chromium.launchPersistentContext(profile, {
    ...options,
    args: [...options.args, `--remote-debugging-port=${port}`],
  });
  try {
    // Arranges the screen and then opens another page of the site, which stores the join in the browser. Lighthouse is told to
    // keep what is stored (`disableStorageReset`).
    const page = await context.newPage();
    // `arrange` returns a path, or the whole URL of a link.
    const address = new URL(await screen.arrange(page), url).href;
    await page.goto(`${url}/static/`);
    await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
    const flags = { port, output: 'json', logLevel: 'silent', disableStorageReset: true };
    const run = () => lighthouse(address, { ...flags, onlyCategories: categories });
    let outcome = await run();
    // Lighthouse asks for another run when it has missed the beginning of a load.
    for (let count = 1; count < MOST_RUNS && outcome?.lhr.runtimeError?.code === 'NO_NAVSTART'; count++)
      outcome = await run();
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
