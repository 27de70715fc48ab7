import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { startTestPostgres } from '../../tests/harness/database.ts';
import { compiledCode } from '../../tools/local/child.ts';
import { parseTyped } from '../../tools/local/parseTyped.ts';
import type { RunningPostgres } from '../../tools/local/postgres.ts';
import {
  type Accepted,
  draw,
  type Mutant,
  needlessEntries,
  originalOf,
  outcomeOf,
  type Result,
  rangeOf,
  staleEntries,
} from './mutants.ts';
import { sqlMutants, templatesIn, withMutant } from './sql.ts';

/**
 * `npm run lab -- mutants`: puts small faults (mutants) into the code, one at a time, and runs the tests. StrykerJS makes the
 * mutants of core's rules and of the server. It does not mutate SQL, so sql.ts makes the mutants of the server's SQL. Prints each
 * mutant that no test catches, unless accepted.json gives a reason why it changes nothing. The exit status is 1 when there is
 * such a mutant, when a mutant could not be run, or when accepted.json is out of date.
 */

const here = import.meta.dirname;
const root = resolve(here, '../..');

/** The folders of the server that decide about people, their money and their documents. */
const decidingRooms = 'books crm documents joining letters membership paying people session'.split(' ');

/**
 * The files that are mutated, and the tests that must catch their mutants. `sample`: how many mutants are drawn by the seed; null:
 * all.
 */
const scopes = {
  core: {
    files: [
      'money',
      'price',
      'product',
      'orderLine',
      'orderSummary',
      'intentText',
      'refunds',
      'dashboardRefunds',
      'purchases',
      'crmFields',
      'confirmation',
      'reconciliation',
      'joinSession',
      'ledger',
      'fulfilment',
    ].map((name) => `packages/core/${name}.ts`),
    tests: ['packages/core/*.test.ts'],
    sample: null,
  },
  server: {
    files: decidingRooms.flatMap((room) =>
      globSync(`apps/server/${room}/**/*.ts`, { cwd: root })
        .filter((file) => !file.endsWith('.test.ts'))
        .sort(),
    ),
    tests: decidingRooms.map((room) => `apps/server/${room}/**/*.test.ts`),
    sample: 80,
  },
  sql: {
    files: globSync('apps/server/*/**/*.ts', {
      cwd: root,
      exclude: ['apps/server/dist/**', '**/*.test.ts'],
    }).sort(),
    tests: ['apps/server/*/**/*.test.ts'],
    sample: 60,
  },
} as const;
type Scope = keyof typeof scopes;

/** String literals are not mutated: a misspelt state does not compile, and the browser tests check the sentences. */
const excludedMutations = ['StringLiteral'];

const { values, positionals } = parseTyped('npm run lab -- mutants', {
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, sample: { type: 'string' } },
});
const unknown = positionals.filter((name) => !(name in scopes));
if (unknown.length > 0 || !/^\d{1,9}$/.test(values.seed) || !/^[1-9]\d{0,4}$/.test(values.sample ?? '1')) {
  console.error('Usage: npm run lab -- mutants [core] [server] [sql] [--seed N] [--sample N]');
  process.exit(2);
}
const accepted = JSON.parse(readFileSync(join(here, 'accepted.json'), 'utf8')) as Accepted[];
/**
 * The folder of the copies of the repository, below out/, which nothing else reads. Each run has its own, so that two runs at the
 * same time do not disturb each other.
 */
const sandboxes = join('out', `mutants-${process.pid}`);
const scratch = mkdtempSync(join(tmpdir(), 'induct-mutants-'));
const texts = new Map<string, string>();
/** The running child processes, each the leader of its process group. */
const children = new Set<ChildProcess>();
let postgres: RunningPostgres | null = null;
let isEnding = false;
// Ctrl-C sends SIGINT twice: from the terminal, and again from the parent process. With `once` instead of `on`, the second
// signal would kill this process before it has cleaned up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (!isEnding) void cleanUp().finally(() => process.exit(130));
  });

process.chdir(root);
try {
  const chosen = (positionals.length > 0 ? positionals : Object.keys(scopes)) as Scope[];
  let troubles = printStrangers();
  for (const scope of chosen) troubles += await run(scope);
  process.exitCode = troubles > 0 ? 1 : 0;
} finally {
  await cleanUp();
}

async function cleanUp(): Promise<void> {
  isEnding = true;
  for (const child of children) {
    const ended = new Promise((done) => child.once('exit', done));
    process.kill(process.platform === 'win32' ? child.pid! : -child.pid!, 'SIGKILL');
    await ended;
  }
  rmSync(sandboxes, { recursive: true, force: true });
  await postgres?.stop();
  rmSync(scratch, { recursive: true, force: true });
}

/**
 * Tests the mutants of a scope. Returns the number of faults found: mutants that survived or could not be run, and outdated
 * entries of accepted.json.
 */
async function run(scope: Scope): Promise<number> {
  const { files, tests, sample } = scopes[scope];
  const all = scope === 'sql' ? await sqlMutantsOf(files) : await mutantsOf(files);
  const least = Number(values.sample ?? sample ?? all.length);
  const drawn = draw(all, least, Number(values.seed), textOf);
  console.log(
    `${scope}: ${drawn.length} of ${all.length} mutants in ${files.length} files, seed ${values.seed}`,
  );
  if (scope !== 'core') postgres ??= await startTestPostgres(join(scratch, 'database'));
  if (scope === 'sql') return report(scope, all, drawn.length, await runInCopies(drawn, tests));
  const results = await runStryker({
    testRunner: 'command',
    commandRunner: { command: ['node', ...testArguments(tests)].join(' ') },
    mutate: drawn.length === all.length ? files : drawn.map(rangeOf),
    mutator: { plugins: null, excludedMutations },
    concurrency: lanes(scope),
    reporters: ['progress-append-only'],
    // Without this, StrykerJS would rewrite tsconfig.json through TypeScript's JavaScript API, which TypeScript 7 lacks. Node
    // does not read the file.
    tsconfigFile: 'none',
    tempDirName: sandboxes,
    ignorePatterns: [
      'data',
      'out',
      'lab/bench',
      'docs/images',
      'tests/e2e',
      '**/dist',
      'lab/mutants/node_modules',
    ],
    allowConsoleColors: false,
    logLevel: 'warn',
    // The dry run: all tests once, before the first mutant.
    dryRunTimeoutMinutes: 30,
    // A mutant that runs too long counts as caught. For the server the limit is long, since all tests of several folders take
    // minutes, and a test that hangs fails by itself.
    timeoutMS: scope === 'server' ? 1_800_000 : 20_000,
  });
  return report(scope, all, drawn.length, results);
}

function testArguments(tests: readonly string[]): string[] {
  return [
    '--disable-warning=ExperimentalWarning',
    'lab/mutants/runTests.ts',
    '--seed',
    values.seed,
    ...tests,
  ];
}

/** Rejects when StrykerJS ends without results; it has printed the reason. */
function runStryker(options: object): Promise<Result[]> {
  const stryker = start(['--disable-warning=ExperimentalWarning', join(here, 'stryker.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  stryker.send(options);
  return new Promise((done, fail) => {
    stryker.once('message', (results) =>
      done((results as Result[]).map((result) => ({ ...result, fileName: named(result.fileName) }))),
    );
    stryker.once('exit', (code, signal) => fail(new Error(`StrykerJS ended (${signal ?? code}).`)));
  });
}

/** How many mutants are tested at a time. The server's tests mostly wait: for the database, timeouts, and programs that start. */
function lanes(scope: Scope): number {
  return scope === 'core' ? availableParallelism() : 2 * availableParallelism();
}

/**
 * Runs the tests for each mutant, one mutant at a time in each copy of the repository. {@link lanes} returns the number of
 * copies. Rejects when a test that failed with a mutant also fails without it.
 */
async function runInCopies(mutants: readonly Mutant[], tests: readonly string[]): Promise<Result[]> {
  const left = [...mutants];
  const results: Result[] = [];
  const sound = new Set<string>();
  const work = async (copy: string) => {
    copyTo(copy);
    for (let mutant = left.shift(); mutant && !isEnding; mutant = left.shift()) {
      const file = join(copy, mutant.fileName);
      const text = textOf(mutant.fileName);
      writeFileSync(file, withMutant(text, mutant));
      const failed = await firstFailure(copy, ['--changed', mutant.fileName, ...tests]);
      writeFileSync(file, text);
      const names = failed?.join(', ') ?? '';
      if (failed && !sound.has(names) && (await firstFailure(copy, failed)) && !isEnding)
        throw new Error(`A test of ${names} fails without a fault, too.`);
      if (failed) sound.add(names);
      results.push({ ...mutant, status: failed ? 'Killed' : 'Survived' });
      const place = `${mutant.fileName}:${mutant.location.start.line}`;
      console.log(
        `${results.length} of ${mutants.length}: ${place}, ${failed ? `caught by ${names}` : 'survived'}`,
      );
    }
  };
  await Promise.all(
    Array.from({ length: lanes('sql') }, (_, number) => work(join(sandboxes, `copy-${number}`))),
  );
  return results;
}

/**
 * Runs the tests in a copy of the repository until one fails. Returns the test files that ran in the same process as that test; null
 * when all pass. Rejects when the tests could not be run.
 */
async function firstFailure(copy: string, args: readonly string[]): Promise<string[] | null> {
  const run = start(testArguments(args), { cwd: copy, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  let failed: string[] | null = null;
  run.once('message', (files) => {
    failed = files as string[];
  });
  const code = await new Promise((done) => run.once('exit', done));
  if (code !== 0 && failed === null && !isEnding) throw new Error('The tests could not be run.');
  return failed;
}

/** Copies the files that git tracks, and untracked ones that are not ignored. */
function copyTo(folder: string): void {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = spawnSync('git', options, { encoding: 'utf8' }).stdout.split('\0');
  // Leaves out two kinds of listed names: a node_modules that is a symbolic link, which .gitignore does not match, and files that
  // were just deleted.
  for (const file of files.filter((name) => name && name !== 'node_modules' && existsSync(name)))
    cpSync(file, join(folder, file), { verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
}

function start(args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...compiledCode, ...(postgres ? { TEST_POSTGRES_URL: postgres.url } : {}) },
    detached: true,
    ...options,
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Returns every mutant of some files, except excluded kinds. */
async function mutantsOf(files: readonly string[]): Promise<Mutant[]> {
  const { createInjector } = await import('typed-inject');
  const { createInstrumenter } = await import('@stryker-mutator/instrumenter');
  const silent = new Proxy({}, { get: () => () => false });
  const injector = createInjector().provideValue('options', {}).provideValue('logger', silent);
  const instrumenter = injector.injectFunction(createInstrumenter) as Instrumenter;
  const { mutants } = await instrumenter.instrument(
    files.map((name) => ({ name, content: textOf(name), mutate: true })),
    { ignorers: [], excludedMutations, plugins: null },
  );
  // StrykerJS's instrumenter counts lines and columns from 0.
  const fromOne = ({ line, column }: Mutant['location']['start']) => ({ line: line + 1, column: column + 1 });
  return mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ location: { start, end }, ...mutant }) => ({
      ...mutant,
      location: { start: fromOne(start), end: fromOne(end) },
    }));
}

/** Returns every mutant of the SQL of some files. */
async function sqlMutantsOf(files: readonly string[]): Promise<Mutant[]> {
  const { parse } = await import('@babel/parser');
  return files.flatMap((name) => {
    const tree = parse(textOf(name), { sourceType: 'module', plugins: ['typescript'], attachComment: false });
    return templatesIn(tree.program).flatMap((template) => sqlMutants(name, textOf(name), template));
  });
}

interface Instrumenter {
  instrument(files: object[], options: object): Promise<{ mutants: (Mutant & { status?: string })[] }>;
}

/**
 * Prints the entries of accepted.json that name an unknown scope, or a file that their scope does not mutate. Returns how many
 * there are.
 */
function printStrangers(): number {
  const isKnown = ({ scope, file }: Accepted) =>
    scope in scopes && (scopes[scope as Scope].files as readonly string[]).includes(file);
  const strangers = accepted.filter((entry) => !isKnown(entry));
  for (const entry of strangers) tell('accepted.json has an entry on a file that is not changed', entry);
  return strangers.length;
}

function report(scope: Scope, all: readonly Mutant[], expected: number, results: readonly Result[]): number {
  const ours = accepted.filter((entry) => entry.scope === scope);
  const outcome = outcomeOf(results, ours, textOf);
  const { caught, tooLong, survived, couldNotRun } = outcome;
  const described = (mutant: Mutant) => ({
    file: `${mutant.fileName}:${mutant.location.start.line} ${mutant.mutatorName}`,
    original: originalOf(mutant, textOf(mutant.fileName)),
    replacement: mutant.replacement,
  });
  for (const mutant of survived) tell('No test caught it', described(mutant));
  for (const mutant of couldNotRun) tell('It could not be run', described(mutant));
  const stale = staleEntries(ours, all, textOf);
  for (const entry of stale) tell('accepted.json has an entry on no mutant that there is', entry);
  const needless = needlessEntries(ours, results, textOf);
  for (const entry of needless) tell('accepted.json has an entry on a mutant that a test catches', entry);
  const count = caught + outcome.accepted + survived.length + couldNotRun.length;
  if (count !== expected) console.log(`\n${count} mutants were run, and ${expected} were drawn.`);
  console.log(
    `\n${scope}: ${count} mutants, ${caught} caught (${tooLong} ran too long), ${outcome.accepted} change nothing, ${survived.length} survived, ${couldNotRun.length} could not run`,
  );
  return survived.length + couldNotRun.length + stale.length + needless.length + (count === expected ? 0 : 1);
}

function tell(
  sentence: string,
  { file, original, replacement }: Pick<Accepted, 'file' | 'original' | 'replacement'>,
): void {
  console.log(`\n${file}: ${sentence}.\n- ${original}\n+ ${replacement}`);
}

function named(file: string): string {
  return relative(root, resolve(root, file)).replaceAll('\\', '/');
}

/** Returns a file's text as it was when first read: somebody may edit the file while its mutants run. */
function textOf(file: string): string {
  if (!texts.has(file)) texts.set(file, readFileSync(join(root, file), 'utf8'));
  return texts.get(file)!;
}
