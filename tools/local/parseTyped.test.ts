import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTyped } from './parseTyped.ts';

const config = {
  args: ['core'],
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, seed: { type: 'string' } },
} as const;

test('options are read, and one that npm has taken is refused', () => {
  assert.deepEqual(parseTyped('npm test --', { ...config, args: ['core', '--seed', '7'] }, {}).values, {
    __proto__: null,
    seed: '7',
  });
  for (const [settings, option] of [
    [{ npm_config_quick: 'true' }, '--quick'],
    [{ npm_config_seed: '7' }, '--seed'],
  ] as const)
    assert.throws(() => parseTyped('npm run lab -- mutants', config, settings), {
      message: `npm has taken ${option} for itself, so nothing was done. Type it after --: npm run lab -- mutants ${option}`,
    });
});
