import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../tools/local/checks.ts';

/**
 * `npm run lab -- NAME`: runs an instrument of the laboratory, which is the folder of that name. Installs the packages that only
 * this instrument needs, when its folder has a package.json. `npm run lab -- test` runs the instruments' own tests.
 */

const instruments = ['bench', 'mutants', 'cluster', 'image', 'drift'];
const here = import.meta.dirname;
const [name, ...args] = process.argv.slice(2);

if (name === 'test') {
  for (const each of instruments) installPackagesOf(each);
  const files = globSync('*/*.test.ts', { cwd: here })
    .filter((file) => args.length === 0 || args.some((word) => file.includes(word)))
    .sort();
  const passed = await runProgram([
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-timeout=900000',
    ...files.map((file) => join(here, file)),
  ]);
  process.exitCode = passed ? 0 : 1;
} else if (name !== undefined && instruments.includes(name)) {
  installPackagesOf(name);
  // An instrument reads its own arguments.
  process.argv.splice(2, 1);
  await import(`./${name}/main.ts`);
} else {
  if (name !== undefined && name !== 'help') {
    console.error(`There is no instrument "${name}".\n`);
    process.exitCode = 1;
  }
  console.log('npm run lab -- NAME [ARGUMENTS]\n');
  for (const each of instruments) console.log(`  ${each.padEnd(8)} ${titleOf(each)} (lab/${each}/README.md)`);
  console.log(`  ${'test'.padEnd(8)} The tests of the laboratory itself`);
}

/** Returns the first sentence below the heading of an instrument's README.md. */
function titleOf(instrument: string): string {
  const readme = readFileSync(join(here, instrument, 'README.md'), 'utf8');
  return /\n\n([^.]+)\./.exec(readme)![1]!.replaceAll('\n', ' ');
}

/** Installs an instrument's packages, unless they were installed after the last change of its lockfile. */
function installPackagesOf(instrument: string): void {
  const cwd = join(here, instrument);
  const lockfile = statSync(join(cwd, 'package-lock.json'), { throwIfNoEntry: false });
  const installed = statSync(join(cwd, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  if (!lockfile || (installed && installed.mtimeMs >= lockfile.mtimeMs)) return;
  console.error(`Installing the packages of lab/${instrument} …`);
  const { status } = spawnSync('npm', ['install', '--no-save', '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    // On Windows `npm` is a script, which only a shell can run.
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(1);
}
