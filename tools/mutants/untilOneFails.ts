import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';

/** Runs test files one after the other and ends with the first that fails: the rest could not tell more of a mutant. */
const files = process.argv.slice(2).flatMap((pattern) => globSync(pattern).sort());
const isPure = files.every((file) => file.startsWith('packages/'));
for (const group of isPure ? [files] : files.map((file) => [file])) {
  const isolation = isPure ? ['--test-isolation=none'] : [];
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-reporter=dot',
    ...isolation,
    ...group,
  ];
  const run = spawn(process.execPath, args, { stdio: 'ignore' });
  const code = await new Promise((resolve) => run.once('exit', resolve));
  if (code !== 0) process.exit(1);
}
