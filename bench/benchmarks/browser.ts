import { join, resolve } from 'node:path';
import { type Browser, chromium, expect, type Page } from '@playwright/test';
import { fillDetails, typeCard } from '../../e2e/steps.ts';
import { STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import { describeMachine } from '../accounting/machine.ts';
import { type Spread, spreadOf } from '../accounting/numbers.ts';
import { machineBusySeconds, usageOf } from '../accounting/processTree.ts';
import { eachFirstInTurn, quietOnes, type Rounds, spreadBy, tellRounds } from '../accounting/rounds.ts';
import { launchOptions } from '../browser/launch.ts';
import { findLighthouse, type Scores, scoreScreen } from '../browser/lighthouse.ts';
import { type Screen, screensFor } from '../browser/screens.ts';
import { newPage, type Painting, type Received, readPainting, SLOW } from '../browser/slowPage.ts';
import { type StepTime, timeStep } from '../browser/steps.ts';
import { contactIdOf, inviteCodeOf } from '../flows/ours.ts';
import { figure, spread, table } from '../report/table.ts';
import { atMost, type Verdict, verdictTable } from '../report/verdicts.ts';
import { makeOurDatabase, type Subject, startOurs } from '../servers.ts';
import { type Bench, startWorld } from '../world.ts';

const shellFloor = resolve(import.meta.dirname, '../floor/shell.ts');

/** Loads of Get Started for one of another screen: a load varies by a fifth, and what is asked of it is a ratio. */
const PAIRS = 3;

/** One cold load of a screen. */
interface Load extends Painting {
  received: readonly Received[];
  otherCores: number;
}

/** Every screen on a slow phone with nothing in its cache, Get Started beside a plain shell, and the steps between them. */
export async function benchmarkBrowser(bench: Bench): Promise<string> {
  const { options, scope, say } = bench;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world, 'ours');
  // HubSpot's stand-in knows one person for links and one more for each walk.
  const ours = await startOurs(world, database, { known: options.repeat + 1 });
  await ours.people(options.repeat + 1, true);
  const [url] = ours.urls;
  tellArranging(ours);
  const shell = await scope.start<{ listening: string }>(shellFloor, { args: [url!] });
  const browser = await chromium.launch(await launchOptions());
  scope.onEnd(() => browser.close());

  const screens = screensFor(contactIdOf(1));
  const [first, ...others] = screens;
  // A browser's very first page takes longer than any later one.
  for (const origin of [url!, shell.ready.listening]) await loadScreen(browser, origin, first!);
  const loads = new Map<string, Load[]>(screens.map(({ name }) => [name, []]));
  const pairs: { ours: Load; other: Load }[] = [];
  const walks: Record<string, StepTime>[] = [];
  const scripts: number[] = [];
  // By themselves: what a walk leaves to be cleared away would fall into one of them.
  for (let round = 1; round <= options.repeat * PAIRS; round++) {
    const pair = await eachFirstInTurn(
      round,
      () => loadScreen(browser, url!, first!),
      () => loadScreen(browser, shell.ready.listening, first!),
    );
    pairs.push(pair);
    loads.get(first!.name)!.push(pair.ours);
    say(
      `pair ${round}, Get Started: first paint ${Math.round(pair.ours.fcp)} ms, of the plain shell ${Math.round(pair.other.fcp)} ms`,
    );
  }
  for (let round = 1; round <= options.repeat; round++) {
    for (const screen of others) loads.get(screen.name)!.push(await loadScreen(browser, url!, screen));
    const { steps, scriptBytes } = await walk(browser, url!, inviteCodeOf(round + 1));
    walks.push(steps);
    scripts.push(scriptBytes);
    say(
      `round ${round}, ${Object.entries(steps)
        .map(([name, { afterAnswer }]) => `${name} ${Math.round(afterAnswer)} ms after the answer`)
        .join(', ')}`,
    );
  }
  const version = browser.version().split('.')[0];
  await browser.close();

  const lighthouse = await findLighthouse(options.lighthouse);
  const scores = new Map<string, Scores>();
  if (lighthouse)
    for (const screen of screens) {
      const profile = join(bench.folder, 'profile');
      const score = await scoreScreen(scope, lighthouse, { profile, url: url!, screen });
      scores.set(screen.name, score);
      say(`Lighthouse, ${screen.name}: ${score.performance}, ${score.accessibility}, ${score.bestPractices}`);
    }
  return report({
    scores,
    machine: `${await describeMachine(database.client)}, Chromium ${version}`,
    loads: new Map([...loads].map(([name, all]) => [name, quietOnes(all, ({ otherCores }) => [otherCores])])),
    shells: quietOnes(pairs, ({ ours, other }) => [ours.otherCores, other.otherCores]),
    walks,
    scripts,
  });
}

/** The journeys' own helpers bring a browser to a state of the join; they want to know where everything is. */
function tellArranging({ urls, flow, databaseUrl }: Subject): void {
  if (flow.server !== 'ours') return;
  process.env.E2E_INDUCT = JSON.stringify({
    folder: '',
    server: { url: urls[0] },
    stripe: { url: flow.stripe.url, secretKey: STRIPE_SECRET_KEY },
    database: { url: databaseUrl },
  });
}

async function loadScreen(browser: Browser, url: string, { arrange, complete }: Screen): Promise<Load> {
  const { page, received, slowDown, close } = await newPage(browser);
  const path = await arrange(page);
  await slowDown();
  const used = () => usageOf(process.pid).cpuSeconds;
  const before = { used: used(), busy: machineBusySeconds(), at: performance.now() };
  await page.goto(url + path, { waitUntil: 'load' });
  await page.locator(complete).first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  const others = machineBusySeconds() - before.busy - (used() - before.used);
  const load = {
    ...(await readPainting(page)),
    received: [...received],
    otherCores: Math.max(0, others / ((performance.now() - before.at) / 1000)),
  };
  await close();
  return load;
}

/** One joiner on the slow phone from Get Started to Checkout: how long each step takes, and all our scripts (bytes). */
async function walk(
  browser: Browser,
  url: string,
  code: string,
): Promise<{ steps: Record<string, StepTime>; scriptBytes: number }> {
  const { page, received, slowDown, close } = await newPage(browser);
  await slowDown();
  await page.goto(`${url}/registration/get-started`);
  await page.getByLabel('Invite code').fill(code);
  const steps: Record<string, StepTime> = {};
  const step = async (name: string, to: Parameters<typeof timeStep>[1]) => {
    // Somebody reads and types meanwhile: what the page fetches ahead has come.
    await page.waitForLoadState('networkidle');
    steps[name] = await timeStep(page, to);
  };
  await step('Student Details', {
    press: 'button:has-text("Submit")',
    call: '/join/initiate',
    complete: 'input[name="firstName"]',
  });
  await fillDetails(page);
  await step('Membership', {
    press: 'button:has-text("Save")',
    call: '/submit-student-details',
    complete: 'button[aria-label^="Choose this membership"]',
  });
  await step('Checkout', {
    press: 'button[aria-label^="Choose this membership"]',
    call: '/set-membership',
    complete: 'button[type="submit"]',
  });
  await finish(page);
  const scriptBytes = received
    .filter(({ url: from, type }) => type === 'Script' && new URL(from).pathname.startsWith('/static/'))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  await close();
  return { steps, scriptBytes };
}

/** Pays, takes the upgrade and sees the welcome: every script of the flow has come by then. */
async function finish(page: Page): Promise<void> {
  await typeCard(page);
  await page.getByRole('button', { name: 'Buy Now', exact: true }).click();
  await page.getByRole('button', { name: 'Upgrade Now', exact: true }).click();
  await expect(page.getByRole('link', { name: 'Shop Now' })).toBeVisible({ timeout: 60_000 });
  await page.waitForLoadState('networkidle');
}

function report({
  scores,
  machine,
  loads,
  shells,
  walks,
  scripts,
}: {
  /** Empty without Lighthouse. */
  scores: ReadonlyMap<string, Scores>;
  machine: string;
  loads: Map<string, Rounds<Load>>;
  shells: Rounds<{ ours: Load; other: Load }>;
  walks: readonly Record<string, StepTime>[];
  scripts: readonly number[];
}): string {
  const toShell = (of: (load: Load) => number) => spreadBy(shells, ({ ours, other }) => of(ours) / of(other));
  const steps = Object.keys(walks[0]!).map((name) => {
    const of = (part: keyof StepTime): Spread => spreadOf(walks.map((walk) => walk[name]![part]));
    return { name, shown: of('shown'), afterAnswer: of('afterAnswer'), complete: of('complete') };
  });
  const noShift: Verdict[] = [...loads].map(([name, rounds]) => {
    const { max } = spreadBy(rounds, ({ cls }) => cls);
    return { what: `layout shift, ${name}`, target: '0', measured: figure(max), isMet: max === 0 };
  });
  return [
    '## Browser',
    '',
    machine,
    '',
    verdictTable([
      atMost(
        'first paint of Get Started, of the plain shell’s',
        0.35,
        toShell(({ fcp }) => fcp),
      ),
      atMost(
        'largest paint of Get Started, of the plain shell’s',
        0.35,
        toShell(({ lcp }) => lcp),
      ),
      ...steps.map(({ name, afterAnswer }) =>
        atMost(`${name} is shown after the answer to the press (ms)`, 100, afterAnswer),
      ),
      ...[...scores].flatMap(([name, score]) => scoreVerdicts(name, score)),
      ...noShift.filter(({ isMet }) => !isMet),
      ...(noShift.every(({ isMet }) => isMet)
        ? [{ what: 'layout shift of every screen', target: '0', measured: '0', isMet: true }]
        : []),
    ]),
    '',
    `A phone with a processor ${SLOW.cpu} times slower than this machine’s, ${SLOW.downBitsPerSecond / 1e6} Mbit/s and ${SLOW.latencyMs} ms for each request; nothing in the cache.`,
    tellRounds([...loads.values(), shells]),
    '',
    '### Get Started beside a plain shell',
    '',
    'The shell is the same build with an empty page and its style sheet as a file.',
    '',
    table(
      ['', 'shell, ms', 'Induct, ms', 'ratio'],
      (
        [
          ['first contentful paint', (load) => load.fcp],
          ['largest contentful paint', (load) => load.lcp],
        ] as [string, (load: Load) => number][]
      ).map(([name, of]) => [
        name,
        spread(spreadBy(shells, ({ other }) => of(other))),
        spread(spreadBy(shells, ({ ours }) => of(ours))),
        spread(toShell(of)),
      ]),
    ),
    '',
    '### Every screen, opened first on a device',
    '',
    table(
      [
        '',
        'first paint, ms',
        'largest paint, ms',
        'blocked, ms',
        'shift',
        'requests',
        'all, kB',
        'our scripts, kB',
        'page, kB',
      ],
      [...loads].map(([name, rounds]) => {
        const bytes = (which: (one: Received) => boolean) =>
          spreadBy(
            rounds,
            ({ received }) => received.filter(which).reduce((sum, one) => sum + one.bytes, 0) / 1000,
          );
        return [
          name,
          spread(spreadBy(rounds, ({ fcp }) => fcp)),
          spread(spreadBy(rounds, ({ lcp }) => lcp)),
          spread(spreadBy(rounds, ({ tbt }) => tbt)),
          figure(spreadBy(rounds, ({ cls }) => cls).max),
          figure(spreadBy(rounds, ({ received }) => received.length).median),
          figure(bytes(() => true).median),
          figure(bytes(({ type, url }) => type === 'Script' && url.includes('/static/')).median),
          figure(bytes(({ type }) => type === 'Document').median),
        ];
      }),
    ),
    '',
    '### Lighthouse',
    '',
    scores.size === 0
      ? 'Lighthouse is not installed: `npm run bench -- browser --lighthouse` downloads it into `out/lighthouse`.'
      : table(
          ['', 'performance', 'accessibility', 'best practices', 'what cost points'],
          [...scores].map(([name, { performance, accessibility, bestPractices, found }]) => [
            name,
            String(performance),
            String(accessibility),
            String(bestPractices),
            found.join(', '),
          ]),
        ),
    '',
    '### From a press to the next screen',
    '',
    table(
      ['to', 'shown, ms', 'of that, after the answer', 'with its data, ms'],
      steps.map(({ name, shown, afterAnswer, complete }) => [
        name,
        spread(shown),
        spread(afterAnswer),
        spread(complete),
      ]),
    ),
    '',
    `A whole join, from Get Started to Congratulations with an upgrade, downloads ${figure(spreadOf(scripts).median / 1000)} kB of our scripts.`,
  ].join('\n');
}

function scoreVerdicts(name: string, { performance, accessibility, bestPractices }: Scores): Verdict[] {
  const least = name === 'Get Started' ? 100 : 95;
  return [
    {
      what: `Lighthouse, ${name}: performance; accessibility and best practices`,
      target: `≥ ${least}; 100, 100`,
      measured: `${performance}; ${accessibility}, ${bestPractices}`,
      isMet: performance >= least && accessibility === 100 && bestPractices === 100,
    },
  ];
}
