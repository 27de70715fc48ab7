import { join, resolve } from 'node:path';
import { type Browser, chromium } from '@playwright/test';
import type { Induct as Running } from '../../../tests/e2e/fixtures.ts';
import { screens } from '../../../tests/e2e/screens.ts';
import { fillDetails } from '../../../tests/e2e/steps.ts';
import { type Scores, scoreScreen } from '../browser/lighthouse.ts';
import {
  CPU_SLOWDOWN,
  LINE,
  launchOptions,
  openSlowPage,
  type Painting,
  type Step,
  timePainting,
  timeStep,
} from '../browser/slowPhone.ts';
import { compare } from '../compare.ts';
import { startInduct } from '../induct.ts';
import { spreadOf } from '../numbers.ts';
import { atMost, type Section, section, type Verdict } from '../report.ts';
import { makeOurDatabase } from '../subjects.ts';
import { watchOthers } from '../usage.ts';
import { type Bench, startWorld } from '../world.ts';

/**
 * How often Get Started is loaded in each repetition of the measurement. One load is not enough, since its time varies by a
 * fifth.
 */
const LOADS = 3;
const GET_STARTED = '/registration/get-started';
/** Screens that Lighthouse does not score: they answer with an error, or only a test can produce them. */
const UNSCORED = ['Congratulations, refunded', 'a payment that failed', 'Page not found'];

/** Lighthouse's scores of a screen. */
interface Scored {
  name: string;
  score: Scores;
}
type Load = Painting & { otherCores: number };
type Steps = Record<'Student Details' | 'Membership' | 'Checkout', Step>;

/**
 * On a slow phone, compares the paint times of Get Started with those of an empty page (floor/shell.ts), and measures how long
 * the steps from Get Started to Checkout take. Runs Lighthouse on every screen except {@link UNSCORED}.
 */
export async function benchmarkBrowser(bench: Bench): Promise<Section> {
  const { options, scope, say, folder } = bench;
  const world = await startWorld(bench);
  const { url: databaseUrl } = await makeOurDatabase(world);
  const induct = await startInduct(scope, { databaseUrl, folder: join(folder, 'ours') });
  // The helpers of the browser tests find the running servers in this environment variable.
  const { url, stripe, hubspot, mail, env } = induct;
  process.env.E2E_INDUCT = JSON.stringify({
    folder,
    server: { url },
    database: { url: databaseUrl },
    stripe: { url: stripe.url, secretKey: env.STRIPE_SECRET_KEY! },
    hubspot: { url: hubspot.url, accessToken: env.HUBSPOT_ACCESS_TOKEN! },
    mail,
  } satisfies Running);
  const shell = await scope.start<{ listening: string }>(resolve(import.meta.dirname, '../floor/shell.ts'), {
    args: [url],
  });
  const browser = await chromium.launch(await launchOptions());
  scope.onEnd(() => browser.close());

  const { ratio, report } = await compare(world, {
    title: 'Get Started',
    ours: () => load(browser, url + GET_STARTED),
    other: () => load(browser, shell.ready.listening + GET_STARTED),
    names: ['shell', 'Induct'],
    metrics: {
      'first contentful paint, ms': ({ first }) => first,
      'largest contentful paint, ms': ({ largest }) => largest,
    },
    rounds: options.repeat * LOADS,
  });
  const walks: Steps[] = [];
  for (let round = 1; round <= options.repeat; round++) {
    const steps = await walk(browser, url);
    walks.push(steps);
    const each = Object.entries(steps).map(
      ([name, { placeholder, screen }]) => `${name} ${Math.round(placeholder)} and ${Math.round(screen)} ms`,
    );
    say(`walk ${round}, placeholder and screen after their answers: ${each.join(', ')}`);
  }
  const version = browser.version().split('.')[0];
  await browser.close();

  const scores: Scored[] = [];
  for (const screen of screens.filter(({ name }) => !UNSCORED.includes(name))) {
    const score = await scoreScreen({ profile: join(folder, 'profile'), url, screen });
    scores.push({ name: screen.name, score });
    say(`Lighthouse, ${screen.name}: ${score.join(', ')}`);
  }
  return section(
    'Browser',
    [
      atMost('first paint of Get Started, of the plain shell’s', 0.35, ratio('first contentful paint, ms')),
      atMost(
        'largest paint of Get Started, of the plain shell’s',
        0.35,
        ratio('largest contentful paint, ms'),
      ),
      slowestStep(walks, 'placeholder', 'a step’s placeholder after the answer to the press'),
      slowestStep(walks, 'screen', 'a step’s screen after the answer with its data'),
      ...worstScores(scores),
    ],
    `Chromium ${version}, ${CPU_SLOWDOWN} times slower, ${(LINE.downloadThroughput * 8) / 1e6} Mbit/s, ${LINE.latency} ms for each request, empty cache. The shell (\`floor/shell.ts\`) is the same build with an empty page.`,
    report,
  );
}

async function load(browser: Browser, url: string): Promise<Load> {
  const page = await openSlowPage(browser);
  const others = watchOthers();
  const painting = await timePainting(page, url);
  const otherCores = others();
  await page.context().close();
  return { ...painting, otherCores };
}

/** Takes one joiner with a school's code from Get Started to Checkout. */
async function walk(browser: Browser, url: string): Promise<Steps> {
  const page = await openSlowPage(browser);
  /** Waits until the page has prefetched everything, as it would while a person reads and types. */
  const idle = () => page.waitForLoadState('networkidle');
  await page.goto(url + GET_STARTED);
  await page.getByLabel('Invite code').fill('LINCOLN2026');
  await idle();
  const details = await timeStep(page, {
    press: 'button:has-text("Submit")',
    call: '/initiate-school',
    data: '/hubspot-contact',
  });
  await fillDetails(page);
  await idle();
  const Membership = await timeStep(page, {
    press: 'button:has-text("Save")',
    call: '/submit-student-details',
    data: '/membership-details',
  });
  await idle();
  const Checkout = await timeStep(page, {
    press: '[aria-label^="Choose this membership"]',
    call: '/set-membership',
    data: '/create-payment-intent',
  });
  await page.context().close();
  return { 'Student Details': details, Membership, Checkout };
}

/** Returns the verdict about the step whose median is the greatest. */
function slowestStep(walks: readonly Steps[], part: keyof Step, what: string): Verdict {
  const [slowest] = (Object.keys(walks[0]!) as (keyof Steps)[])
    .map((name) => ({ name, times: spreadOf(walks.map((steps) => steps[name][part])) }))
    .sort((one, other) => other.times.median - one.times.median);
  return atMost(`${what}, ms (slowest: ${slowest!.name})`, 100, slowest!.times);
}

/** Returns the verdicts about Get Started and about the screen with the lowest scores among all others. */
function worstScores(scores: readonly Scored[]): Verdict[] {
  const [first] = scores.filter(({ name }) => name === 'Get Started');
  const [lowest] = scores
    .filter((scored) => scored !== first)
    .sort((one, other) => Math.min(...one.score) - Math.min(...other.score));
  return [
    ...(first ? [scoreVerdict(first, 100)] : []),
    ...(lowest ? [scoreVerdict({ ...lowest, name: `lowest of the others (${lowest.name})` }, 95)] : []),
  ];
}

function scoreVerdict({ name, score }: Scored, least: number): Verdict {
  const [performance, accessibility, bestPractices] = score;
  return {
    what: `Lighthouse, ${name}: performance; accessibility, best practices`,
    budget: `≥ ${least}; 100, 100`,
    measured: `${performance}; ${accessibility}, ${bestPractices}`,
    isMet: performance >= least && accessibility === 100 && bestPractices === 100,
  };
}
