import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { groupsOf } from '../../tools/local/testGroups.ts';
import { arrows } from '../../tools/local/walls.ts';
import { nearTests, testsOf } from './mutants.ts';

/**
 * Runs the tests for one mutant, in a copy of the repository. These are the tests that load the mutated file; for a file of the
 * server, only those of its folder and of the folders near it (`nearTests` in mutants.ts). The nearest test file runs first, the
 * others in groups. Stops at the first group with a failure, since that is enough to catch the mutant.
 *
 * StrykerJS names the mutant in an environment variable. A caller that has mutated a file itself names the file with --changed,
 * and gets the files of the failing group by IPC. If no mutant is named, all tests run.
 *
 *   node lab/mutants/runTests.ts --seed N [--changed FILE] PATTERN …
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, changed: { type: 'string' } },
});
const texts = new Map<string, string>();
const textOf = (file: string): string => {
  if (!texts.has(file)) texts.set(file, existsSync(file) ? readFileSync(file, 'utf8') : '');
  return texts.get(file)!;
};
const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+\.ts)["']/g)].map(([, path]) =>
    normalize(join(dirname(file), path!)),
  );

const all = positionals.flatMap((pattern) => globSync(pattern).sort());
const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
const changed = values.changed ?? (mutant === undefined ? null : fileOf(mutant));
const chosen =
  changed === null
    ? all
    : nearTests(changed, all, arrows).flatMap((tests) => testsOf(changed, tests, importsOf));
if (chosen.every((file) => file.startsWith('packages/'))) await runHere(chosen);
else if (changed === null) await runGroups(groupsOf(chosen), 2 * availableParallelism());
else await runGroups([chosen.slice(0, 1), ...groupsOf(chosen.slice(1))], 1);

/** Returns the file that contains the mutant with this id. StrykerJS puts a call with the id into the file, around the mutant. */
function fileOf(id: string): string {
  const seen = new Set(all);
  for (const file of seen) {
    if (textOf(file).includes(`stryMutAct_9fa48("${id}")`)) return file;
    for (const next of importsOf(file)) seen.add(next);
  }
  throw new Error(`No test loads the file of mutant ${id}.`);
}

/** Runs tests of pure functions in this process, to save time. Node sets the exit status when a test fails. */
async function runHere(files: readonly string[]): Promise<void> {
  // Uses the same random examples for every mutant, and does not shrink counterexamples.
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(values.seed), endOnFailure: true });
  for (const file of files) await import(pathToFileURL(resolve(file)).href);
}

/** Runs groups of test files, each in a separate process, `most` at a time. Ends this process when a test fails. */
async function runGroups(groups: string[][], most: number): Promise<void> {
  const worker = async () => {
    for (let files = groups.shift(); files; files = groups.shift()) await runFiles(files);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

async function runFiles(files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-isolation=none',
    // A mutant that makes a test hang must be caught, too.
    '--test-timeout=180000',
    '--test-reporter=./tests/harness/terseReporter.ts',
    ...files,
  ];
  const run = spawn(process.execPath, args, { stdio: 'inherit' });
  const code = await new Promise((done) => run.once('exit', done));
  if (code === 0) return;
  if (process.send) await new Promise((done) => process.send!(files, done));
  process.exit(1);
}
