import { join } from 'node:path';
import { runProgram } from '../../tools/local/checks.ts';

/** `npm run lab -- image [image] [systemd]`: runs the named suites, one after the other. Without a name, runs both. */
const suites = ['image', 'systemd'];
const chosen = process.argv.length > 2 ? process.argv.slice(2) : suites;
const unknown = chosen.filter((name) => !suites.includes(name));
if (unknown.length > 0) {
  console.error(`There is no suite "${unknown.join(', ')}"; there are ${suites.join(' and ')}.`);
  process.exitCode = 1;
} else {
  const passed = await runProgram([
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-concurrency=1',
    '--test-timeout=3600000',
    ...chosen.map((name) => join(import.meta.dirname, `${name}.suite.ts`)),
  ]);
  process.exitCode = passed ? 0 : 1;
}
