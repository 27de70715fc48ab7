import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from '@playwright/test';
import { screens } from '#core/navigation.ts';
import { freePort } from '../../local/ports.ts';
import type { Scope } from '../scope.ts';
import { launchOptions } from './launch.ts';
import type { Screen } from './screens.ts';

/** Beside the checkout's packages and not among them: with all that it brings it is larger than most of them together. */
const VERSION = '13.5.0';
const folder = resolve(import.meta.dirname, '../../out/lighthouse');
const program = join(folder, 'node_modules/lighthouse/core/index.js');

/** From 0 to 100. */
export interface Scores {
  performance: number;
  accessibility: number;
  bestPractices: number;
  /** What cost points, by Lighthouse's names. */
  found: string[];
}

interface Outcome {
  lhr: {
    categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
    audits: Record<string, { score: number | null }>;
    finalDisplayedUrl: string;
    runtimeError?: { message: string };
  };
}
type Lighthouse = (url: string, flags: object) => Promise<Outcome | undefined>;

/** Lighthouse, downloaded where it is not there yet and `download` says so; undefined without it. */
export async function findLighthouse(download: boolean): Promise<Lighthouse | undefined> {
  if (!existsSync(program)) {
    if (!download) return undefined;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const npm = spawnSync(
      'npm',
      ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', `lighthouse@${VERSION}`],
      { cwd: folder, encoding: 'utf8' },
    );
    if (npm.status !== 0) throw new Error(`Lighthouse could not be installed: ${npm.stderr}`);
  }
  return ((await import(pathToFileURL(program).href)) as { default: Lighthouse }).default;
}

/** A screen's scores for a phone, with Lighthouse's own settings, in a browser that has nothing in its cache. */
export async function scoreScreen(
  outer: Scope,
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
  const scope = outer.inner();
  scope.onEnd(() => context.close());
  try {
    // Opened once, so that the session is in the browser's storage, which Lighthouse then leaves as it is.
    const page = await context.newPage();
    const path = await screen.arrange(page);
    await page.goto(`${url}/static/`);
    const session = await context.newCDPSession(page);
    await session.send('Network.clearBrowserCache');
    const outcome = await lighthouse(url + path, {
      port,
      output: 'json',
      logLevel: 'silent',
      disableStorageReset: true,
      onlyCategories: ['performance', 'accessibility', 'best-practices'],
    });
    if (!outcome || outcome.lhr.runtimeError)
      throw new Error(`Lighthouse: ${screen.name}: ${outcome?.lhr.runtimeError?.message ?? 'no outcome'}`);
    const shown = new URL(outcome.lhr.finalDisplayedUrl).pathname;
    if (shown === screens.getStarted && path !== screens.getStarted)
      throw new Error(`Lighthouse was sent from ${path} to ${shown}: the browser did not hold the session.`);
    return scoresOf(outcome);
  } finally {
    await scope.end();
    rmSync(profile, { recursive: true, force: true });
  }
}

function scoresOf({ lhr: { categories, audits } }: Outcome): Scores {
  const score = (category: string) => Math.round((categories[category]?.score ?? 0) * 100);
  const found = Object.values(categories).flatMap(({ auditRefs }) =>
    auditRefs.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9).map(({ id }) => id),
  );
  return {
    performance: score('performance'),
    accessibility: score('accessibility'),
    bestPractices: score('best-practices'),
    found,
  };
}
