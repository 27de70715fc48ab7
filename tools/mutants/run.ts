import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { random } from '../../faults/random.ts';
import { startTestPostgres } from '../../local/testing/database.ts';

/**
 * `npm run test:mutants`: small faults, one at a time, in the code that decides about money, by StrykerJS. What no test
 * catches is told, unless accepted.json says why it changes nothing. Exit status 1 when there is such a survivor.
 */
const here = import.meta.dirname;
const root = resolve(here, '../..');

/** What is changed, and the tests that are to notice. A scope with `sample` is changed in so many places, drawn by the seed. */
const moneyRules = [
  'money',
  'price',
  'orderLine',
  'orderSummary',
  'intentText',
  'refunds',
  'confirmation',
  'reconciliation',
  'joinSession',
  'ledger',
  'fulfilment',
];
const scopes = {
  core: {
    files: moneyRules.map((name) => `packages/core/${name}.ts`),
    tests: [...moneyRules, 'pricing'].map((name) => `packages/core/${name}.test.ts`),
    sample: null,
  },
  server: {
    files: ['payments', 'upgrade', 'links'].flatMap((folder) =>
      globSync(`apps/server/${folder}/*.ts`, {
        cwd: root,
        exclude: (name) => /\.test\.ts$|ommands?\.ts$/.test(name),
      }),
    ),
    tests: ['payments', 'upgrade', 'checkout', 'links'].map((folder) => `apps/server/${folder}/*.test.ts`),
    sample: 120,
  },
} as const;
type Scope = keyof typeof scopes;

interface Mutant {
  fileName: string;
  mutatorName: string;
  replacement: string;
  /** Lines and columns from 0. */
  location: { start: { line: number; column: number }; end: { line: number; column: number } };
}

/** One that no test needs to catch. `original` is the text that is replaced. */
interface Accepted {
  file: string;
  original: string;
  replacement: string;
  why: string;
}

/**
 * Left out: texts. A state that is misspelt does not compile, and sentences are held by the journeys.
 */
const excludedMutations = ['StringLiteral'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, sample: { type: 'string' } },
});
installOnce();
const unknown = positionals.filter((name) => !(name in scopes));
if (unknown.length > 0 || !/^\d{1,9}$/.test(values.seed) || !/^[1-9]\d{0,4}$/.test(values.sample ?? '1')) {
  console.error('Usage: npm run test:mutants -- [core] [server] [--seed N] [--sample N]');
  process.exit(2);
}
const chosen = (positionals.length > 0 ? positionals : Object.keys(scopes)) as Scope[];
let survivors = 0;
for (const scope of chosen) survivors += await run(scope);
process.exit(survivors > 0 ? 1 : 0);

/** Returns how many survived that nobody accepted. */
async function run(scope: Scope): Promise<number> {
  const { tests, sample } = scopes[scope];
  const files = scopes[scope].files.filter((file) => existsSync(join(root, file)));
  const all = await mutantsOf(files);
  const most = sample === null ? all.length : Number(values.sample ?? sample);
  const drawn = draw(all, most, Number(values.seed));
  console.log(`${scope}: ${drawn.length} of ${all.length} mutants, seed ${values.seed}`);
  const { Stryker } = await import('@stryker-mutator/core');
  const scratch = mkdtempSync(join(tmpdir(), 'induct-mutants-'));
  const postgres = scope === 'server' ? await startTestPostgres(join(scratch, 'database')) : null;
  if (postgres) process.env.TEST_POSTGRES_URL = postgres.url;
  process.chdir(root);
  try {
    const results = await new Stryker({
      testRunner: 'command',
      commandRunner: {
        command: `node --disable-warning=ExperimentalWarning tools/mutants/untilOneFails.ts ${tests.join(' ')}`,
      },
      mutate: drawn.map(rangeOf),
      mutator: { plugins: null, excludedMutations },
      concurrency: availableParallelism(),
      reporters: ['progress-append-only'],
      // It would be rewritten by TypeScript's JavaScript interface, which version 7 has not; Node does not read it.
      tsconfigFile: 'none',
      tempDirName: 'out/mutants',
      ignorePatterns: ['data', 'out', 'bench', 'docs/images', 'e2e', '**/dist', 'tools/mutants/node_modules'],
      allowConsoleColors: false,
      logLevel: 'warn' as never,
      timeoutMS: 20_000,
    } as never).runMutationTest();
    return report(scope, results as unknown as (Mutant & { status: string })[]);
  } finally {
    await postgres?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** StrykerJS is not among the packages of the project, since nothing else needs it. */
function installOnce(): void {
  const options = ['install', '--no-save', '--loglevel=error', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', options, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exit(1);
}

async function mutantsOf(files: readonly string[]): Promise<Mutant[]> {
  const { createInjector } = await import('typed-inject');
  const { createInstrumenter } = await import('@stryker-mutator/instrumenter');
  const silent = new Proxy({}, { get: () => () => false });
  const injector = createInjector()
    .provideValue('options', {} as never)
    .provideValue('logger', silent as never);
  const { mutants } = await injector
    .injectFunction(createInstrumenter as never as () => Instrumenter)
    .instrument(
      files.map((name) => ({ name, content: readFileSync(join(root, name), 'utf8'), mutate: true })),
      { ignorers: [], excludedMutations, plugins: null },
    );
  return mutants;
}

interface Instrumenter {
  instrument(files: object[], options: object): Promise<{ mutants: Mutant[] }>;
}

/** Places, drawn one after the other until they hold `most` mutants; what stands within a place is taken with it. */
function draw(all: readonly Mutant[], most: number, seed: number): Mutant[] {
  if (most >= all.length) return [...all];
  const dice = random(seed);
  const left = [...all];
  const drawn = new Set<Mutant>();
  while (drawn.size < most && left.length > 0) {
    const [place] = left.splice(dice.integer(left.length), 1) as [Mutant];
    const within = all.filter((other) => other.fileName === place.fileName && isWithin(other, place));
    // A whole function that is emptied says little, and would bring all that is in it.
    if (within.length <= 6) for (const mutant of within) drawn.add(mutant);
  }
  return [...drawn];
}

function isWithin(inner: Mutant, outer: Mutant): boolean {
  const before = (a: { line: number; column: number }, b: { line: number; column: number }) =>
    a.line < b.line || (a.line === b.line && a.column <= b.column);
  return before(outer.location.start, inner.location.start) && before(inner.location.end, outer.location.end);
}

function rangeOf({ fileName, location: { start, end } }: Mutant): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

function report(scope: Scope, results: readonly (Mutant & { status: string })[]): number {
  const accepted = JSON.parse(readFileSync(join(here, 'accepted.json'), 'utf8')) as Accepted[];
  const survived = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const open = survived.filter(
    (mutant) =>
      !accepted.some(
        ({ file, original, replacement }) =>
          mutant.fileName.endsWith(file) &&
          original === originalOf(mutant) &&
          replacement === mutant.replacement,
      ),
  );
  for (const mutant of open) {
    const { start } = mutant.location;
    console.log(`\n${mutant.fileName.replace(`${root}/`, '')}:${start.line} ${mutant.mutatorName}`);
    console.log(`- ${originalOf(mutant)}\n+ ${mutant.replacement}`);
  }
  const errors = results.filter(({ status }) => status.endsWith('Error')).length;
  const caught = results.length - survived.length - errors;
  console.log(
    `\n${scope}: ${results.length} mutants, ${caught} caught, ${survived.length - open.length} change nothing, ${open.length} survived, ${errors} could not run`,
  );
  return open.length + errors;
}

/** The replaced text. A result's lines are from 1. */
function originalOf({ fileName, location: { start, end } }: Mutant): string {
  const lines = readFileSync(resolve(root, fileName), 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  lines[0] = lines[0]!.slice(start.column - 1);
  return lines.join('\n');
}
