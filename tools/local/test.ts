import { existsSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JSONReport, JSONReportSuite } from '@playwright/test/reporter';
import pLimit from 'p-limit';
import { placeCluster, startTestPostgres, testDatabase } from '../../tests/harness/database.ts';
import { beginningOf, type Outcome } from '../../tests/harness/outcomeReporter.ts';
import { buildAll, builtServer } from './builds.ts';
import { checkLint, checkTypes, runProgram } from './checks.ts';
import { compiledCode } from './child.ts';
import { findChromium } from './chromium.ts';
import { parseTyped } from './parseTyped.ts';
import { endLeftServer } from './postgres.ts';
import { isRunning } from './processes.ts';
import { explain, settingNames } from './settings.ts';
import { groupsOf, startsPrograms } from './testGroups.ts';

/** `npm test`: runs every suite, even if an earlier one failed. */

interface Counts {
  passed: number;
  failed: number;
  /** How many tests this machine cannot run. Each prints its reason; they count as neither passed nor failed. */
  skipped?: number;
  /** A line for each failed test: its place, its name, and the first line of its error. */
  failures?: string[];
}

const root = resolve(import.meta.dirname, '../..');
/** Whether the suite `build` has built the server of these sources. */
let isBuilt = false;
const { values, positionals: filters } = readArguments();
const scratch = mkdtempSync(join(tmpdir(), 'induct-tests-'));
/** The environment of all suites. With `npm run test:long`, TEST_LENGTH is `long`, and tests that read it use larger numbers. */
const env = {
  ...compiledCode,
  ...cleanEnvironment(process.env),
  ...(values.long ? { TEST_LENGTH: 'long' } : {}),
};
/** The folder of Linux whose files are in memory. */
const MEMORY = '/dev/shm';
/** The minimum free space (bytes) for placing clusters in memory. They take some hundreds of megabytes. */
const ENOUGH_MEMORY = 3 * 2 ** 30;
/**
 * The size (MB) of each half of the young generation of a process of tests. V8 keeps new objects there, most of which are soon
 * unused.
 */
const YOUNG_MB = 64;
/** The time after which a hanging test is ended. On a busy machine a test takes many times as long as on a quiet one. */
const TEST_TIMEOUT_MS = values.long ? 3_600_000 : 900_000;

const suites: Record<string, () => Promise<Counts>> = {
  types: () => check(checkTypes()),
  lint: () => check(checkLint()),
  build: () => check(buildAll().then(() => (isBuilt = true))),
  unit: runNodeTests,
  faults: () =>
    check(
      runProgram(['--disable-warning=ExperimentalWarning', join(root, 'tests/faults/main.ts')], smallRun()),
    ),
  e2e: runJourneys,
  browsers: runOtherBrowsers,
};
/**
 * The tests of code that only tests use: the emulators, the faults suite and the harness. They run with `npm run test:long`, or
 * if they are named on the command line, since a fault in this code also fails the tests that use it.
 */
const ofTests = /^(emulators|tests\/(faults|harness))\//;
/**
 * The suites in the order of their start; suites in the same list run at the same time. Later suites test what `build` has built.
 * The browser journeys run alone, because they need all processors.
 */
const together = [['build'], ['types', 'lint', 'unit', 'faults'], ['e2e'], ['browsers']];

process.exit(await main());

function readArguments() {
  const options = {
    only: { type: 'string', multiple: true },
    long: { type: 'boolean', default: false },
  } as const;
  try {
    return parseTyped('npm test --', { allowPositionals: true, options });
  } catch (error) {
    console.error(`${explain(error)}

npm test                   everything
npm test -- --only SUITE   one suite, or several: types, lint, unit, faults, build, e2e, browsers
npm test -- PART           the test files with this in their path`);
    process.exit(1);
  }
}

async function main(): Promise<number> {
  // During development, parts can be run: suites by name, or test files by a part of their path.
  const chosen = values.only ?? (filters.length > 0 ? ['unit', 'e2e', 'browsers'] : Object.keys(suites));
  const unknown = chosen.filter((name) => !(name in suites));
  if (unknown.length > 0) {
    console.error(`There is no suite "${unknown.join(', ')}"; there are ${Object.keys(suites).join(', ')}.`);
    return 1;
  }
  const outcomes: Suite[] = [];
  for (const names of together) {
    const next = names.filter((name) => chosen.includes(name));
    outcomes.push(...(await Promise.all(next.map(runSuite))));
  }
  const total = outcomes.reduce<Counts>((so, { counts }) => sum(so, counts), { passed: 0, failed: 0 });
  const failures = (total.failures ?? []).map((each) => `  ✖ ${each}\n`);
  rmSync(scratch, { recursive: true, force: true });
  if (total.passed + total.failed + (total.skipped ?? 0) === 0) {
    console.error(`No test matches ${filters.join(', ') || 'that'}.`);
    total.failed = 1;
  }
  // Printed last, so that the failures are easy to find.
  if (failures.length > 0) console.log(`\n${failures.join('')}`);
  console.log(`\n${outcomes.map(lineOf).join('\n')}\n\n${total.passed} passed, ${total.failed} failed`);
  return total.failed > 0 ? 1 : 0;
}

interface Suite {
  name: string;
  counts: Counts;
  seconds: number;
}

async function runSuite(name: string): Promise<Suite> {
  console.log(`\n── ${name}`);
  const began = Date.now();
  const counts: Counts = await suites[name]!().catch((error: unknown) => {
    console.error(explain(error));
    return { passed: 0, failed: 1 };
  });
  if (counts.passed + counts.failed + (counts.skipped ?? 0) === 0 && filters.length === 0) {
    console.error('No test ran, which is not what was meant.');
    counts.failed = 1;
  }
  return { name, counts, seconds: (Date.now() - began) / 1000 };
}

function lineOf({ name, counts: { passed, failed, skipped = 0 }, seconds }: Suite): string {
  const notRun = skipped > 0 ? `, ${skipped} skipped` : '';
  return `  ${name.padEnd(8)} ${passed} passed, ${failed} failed${notRun}, ${seconds.toFixed(1)} s`;
}

async function check(outcome: Promise<boolean>): Promise<Counts> {
  return (await outcome) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Runs the unit and integration tests, all on one PostgreSQL that is thrown away afterwards. */
async function runNodeTests(): Promise<Counts> {
  const chosen = ['apps', 'emulators', 'packages', 'society', 'tests', 'tools'].flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`, {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name === 'e2e' || name.startsWith('dist'),
    })
      .filter((file) => isChosen(file) && (values.long || filters.length > 0 || !ofTests.test(file)))
      .sort(),
  );
  if (chosen.length === 0) return { passed: 0, failed: 0 };
  const clusters = await clustersFolder();
  const empty = join(clusters, 'empty');
  const first = await startTestPostgres(empty);
  // Leaves the template in the cluster, so that no copy of the cluster has to be migrated.
  await (await testDatabase(first.url)).drop();
  await first.stop();
  // If root runs this, `postgres` may be a symbolic link to a folder of another account. Such a folder is not copied.
  const isHere = !lstatSync(join(empty, 'postgres')).isSymbolicLink();
  const files = isHere ? join(empty, 'postgres') : '';
  placeCluster(join(clusters, 'database'), files);
  const postgres = await startTestPostgres(join(clusters, 'database'));
  const stop = () => void postgres.stop().finally(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const settings = {
      TEST_POSTGRES_URL: postgres.url,
      TEST_POSTGRES_FILES: files,
      ...(isBuilt && { TEST_SERVER: builtServer }),
    };
    // Three processes for each processor, since tests mostly wait: for the database, timeouts, and programs that start. At most one
    // of the three runs tests that start whole programs.
    const cores = availableParallelism();
    const { programs = [], others = [] } = Object.groupBy(chosen, (file) =>
      startsPrograms(file) ? 'programs' : 'others',
    );
    const [all, some] = [pLimit(3 * cores), pLimit(cores)];
    const run = (files: string[]) => all(() => nodeTests(files, settings));
    const counts = await Promise.all([
      ...groupsOf(programs).map((files) => some(() => run(files))),
      ...groupsOf(others).map(run),
    ]);
    return counts.reduce(sum, { passed: 0, failed: 0 });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await postgres.stop();
  }
}

/**
 * Makes the folder of the test clusters, which is removed when this process ends: in memory, if the machine has enough, since each
 * test server copies a database of hundreds of files. Removes what a killed run has left there.
 */
async function clustersFolder(): Promise<string> {
  const space = await statfs(MEMORY).catch(() => undefined);
  if (!space || space.bavail * space.bsize < ENOUGH_MEMORY) return scratch;
  const name = `induct-tests-${process.getuid?.()}-of-`;
  for (const left of globSync(`${name}*`, { cwd: MEMORY })) {
    if (isRunning(Number(/-of-(\d+)-/.exec(left)?.[1]))) continue;
    for (const cluster of ['empty', 'database']) await endLeftServer(join(MEMORY, left, cluster, 'postgres'));
    rmSync(join(MEMORY, left), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(MEMORY, `${name}${process.pid}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the whole join in Firefox and in WebKit, if they are installed. */
async function runOtherBrowsers(): Promise<Counts> {
  const files = globSync('tests/e2e/browsers/*.browsers.ts', { cwd: root }).filter(isChosen).sort();
  const limit = pLimit(availableParallelism());
  const counts = await Promise.all(groupsOf(files).map((each) => limit(() => nodeTests(each, {}))));
  return counts.reduce(sum, { passed: 0, failed: 0 });
}

/** Runs test files in one process. The hooks at the top of each file then apply to the tests of all of them. */
async function nodeTests(files: string[], settings: NodeJS.ProcessEnv): Promise<Counts> {
  const output = join(mkdtempSync(join(scratch, 'outcome-')), 'outcome.json');
  const succeeded = await runProgram(
    [
      '--disable-warning=ExperimentalWarning',
      // By default each half of V8's young generation has 16 MB, which the tests fill many times a second, each time with a
      // garbage collection.
      `--min-semi-space-size=${YOUNG_MB}`,
      `--max-semi-space-size=${YOUNG_MB}`,
      '--test',
      '--test-isolation=none',
      // A hook that fails may leave something running, which would keep the process for good.
      '--test-force-exit',
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      '--test-reporter=./tests/harness/terseReporter.ts',
      '--test-reporter-destination=stdout',
      '--test-reporter=./tests/harness/outcomeReporter.ts',
      `--test-reporter-destination=${output}`,
      ...files,
    ],
    { ...env, ...settings },
  );
  const outcome = existsSync(output) ? readFileSync(output, 'utf8') : '';
  if (outcome === '')
    return { passed: 0, failed: 1, failures: [`${files.join(', ')}: the process of the tests broke off`] };
  const { counts, failures } = JSON.parse(outcome) as Outcome;
  const { passed, skipped } = counts;
  // A failed hook, or an error after the end of its test, is counted among the failures, although it is not a failed test.
  const failed = Math.max(counts.tests - passed - skipped - counts.todo, failures.length);
  if (succeeded || failed > 0) return { passed, skipped, failed, failures };
  return { passed, skipped, failed: 1, failures: [`${files.join(', ')}: the process of the tests failed`] };
}

function sum(one: Counts, other: Counts): Counts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: (one.skipped ?? 0) + (other.skipped ?? 0),
    failures: [...(one.failures ?? []), ...(other.failures ?? [])],
  };
}

/** Runs the browser tests in Chromium. A test that passes only when repeated counts as failed. */
async function runJourneys(): Promise<Counts> {
  const journeys = globSync('tests/e2e/**/*.{test,spec}.ts', { cwd: root }).filter(isChosen);
  if (filters.length > 0 && journeys.length === 0) return { passed: 0, failed: 0 };
  const output = join(scratch, 'journeys.json');
  const succeeded = await runProgram(
    [
      join(root, 'node_modules/@playwright/test/cli.js'),
      'test',
      '-c',
      'tests/e2e/playwright.config.ts',
      '--reporter=line,json',
      ...(filters.length > 0 ? journeys : []),
    ],
    { ...env, CHROMIUM_PATH: await findChromium(), PLAYWRIGHT_JSON_OUTPUT_NAME: output, CI: '1' },
  );
  const report = JSON.parse(readFileSync(output, 'utf8')) as JSONReport;
  const failed = report.stats.unexpected + report.stats.flaky;
  return {
    passed: report.stats.expected,
    skipped: report.stats.skipped,
    failed: succeeded ? failed : Math.max(failed, 1),
    failures: report.suites.flatMap(failedJourneys),
  };
}

function failedJourneys({ specs, suites = [] }: JSONReportSuite): string[] {
  const failed = specs.flatMap(({ tests, file, line, title }) =>
    tests
      .filter(({ status }) => status === 'unexpected' || status === 'flaky')
      .map(({ results }) => {
        const why = results.find(({ error }) => error)?.error?.message ?? 'failed';
        return `tests/e2e/${file}:${line} ${title}: ${beginningOf(why)}`;
      }),
  );
  return [...failed, ...suites.flatMap(failedJourneys)];
}

/**
 * Returns the environment variables for the fault suite: a twentieth of its usual size, unless --long is given. SEED, JOINS and KILLS
 * take precedence.
 */
function smallRun(): NodeJS.ProcessEnv {
  return values.long ? env : { SEED: '1', JOINS: '15', KILLS: '4', ...env };
}

function isChosen(file: string): boolean {
  return filters.length === 0 || filters.some((filter) => file.includes(filter));
}

/**
 * Removes our settings from the environment: a developer's keys and settings must neither reach the tests nor decide their
 * outcome.
 */
function cleanEnvironment(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = new Set([...settingNames(), 'NODE_ENV']);
  const others = /^(EMULATORS_|DRIFT_|PG)/;
  return Object.fromEntries(Object.entries(from).filter(([name]) => !ours.has(name) && !others.test(name)));
}
