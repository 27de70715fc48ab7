import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { npmSettings } from '../server/platform/config/config.ts';
import { commands } from './commands.ts';
import { swallowedOptions } from './swallowedOptions.ts';

test('each option of each command that npm takes for itself is noticed, and none that is behind --', (t) => {
  const folder = temporaryFolder(t);
  const script = `node -e "console.log(JSON.stringify(process.env))" --`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { show: script } }));
  const { PATH, HOME } = process.env;
  const handedOver = (...args: string[]) =>
    swallowedOptions(
      commands,
      npmSettings(
        JSON.parse(
          execFileSync('npm', ['run', '--silent', 'show', ...args], {
            cwd: folder,
            env: { PATH, HOME },
            stdio: ['ignore', 'pipe', 'ignore'],
          }).toString(),
        ),
      ),
    ).sort();
  const all = commands
    .flatMap(({ options = {} }) => Object.entries(options))
    // npm reads `--csv` as three letters, of which the last is its own `-v`: it prints its version and starts nothing.
    .filter(([name]) => name !== 'csv')
    .map(([name, { type, default: byDefault }]) =>
      byDefault === true ? `--no-${name}` : type === 'string' ? `--${name}=1` : `--${name}`,
    );
  const named = [...new Set(all.map((option) => option.split('=')[0]!))].sort();
  assert.ok(named.includes('--dry-run') && named.includes('--no-membership') && named.includes('--yes'));
  assert.deepEqual(handedOver(...new Set(all)), named);
  assert.deepEqual(handedOver('--', ...new Set(all)), []);
  assert.deepEqual(handedOver('refund', 'JOIN'), []);
});
