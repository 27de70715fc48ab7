import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { arrows } from '../local/walls.ts';
import { nearTests, testsOf } from './mutants.ts';

/**
 * What is run for each mutant, in a copy of the repository: the tests that load the mutated file, of the server those in its
 * room and in the rooms next to it. Ends with the first file that fails, since the rest could not tell more. StrykerJS names the
 * mutant; a caller that changed a file itself names the file, and is sent the name of the test file that fails. Without either:
 * all.
 *
 *   node tools/mutants/runTests.ts --seed N [--changed FILE] PATTERN …
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
else if (changed === null) await runFiles(chosen);
else for (const file of chosen) await runFiles([file]);

/** The file that has the switch of a mutant. */
function fileOf(id: string): string {
  const seen = new Set(all);
  for (const file of seen) {
    if (textOf(file).includes(`stryMutAct_9fa48("${id}")`)) return file;
    for (const next of importsOf(file)) seen.add(next);
  }
  throw new Error(`No test loads the file of mutant ${id}.`);
}

/** Tests of pure functions need no process each. Node sets the exit status when one fails. */
async function runHere(files: readonly string[]): Promise<void> {
  // The same examples for every mutant, and no search for the smallest that fails.
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(values.seed), endOnFailure: true });
  for (const file of files) await import(pathToFileURL(resolve(file)).href);
}

async function runFiles(files: readonly string[]): Promise<void> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${availableParallelism()}`,
    // A mutant that lets a test wait for ever is caught, too.
    '--test-timeout=180000',
    '--test-reporter=./tests/harness/terseReporter.ts',
    ...files,
  ];
  const run = spawn(process.execPath, args, { stdio: 'inherit' });
  const code = await new Promise((done) => run.once('exit', done));
  if (code === 0) return;
  if (process.send) await new Promise((done) => process.send!(files[0], done));
  process.exit(1);
}
