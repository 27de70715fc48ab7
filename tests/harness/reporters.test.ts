import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './temporaryFolder.ts';

for (const [what, code, said] of [
  [
    'a hook',
    `test('passes', () => {}); after(() => { throw new Error('the cause'); });`,
    /fails\.test\.mjs: the cause$/,
  ],
  [
    'a rejection after its test',
    `test('passes', () => setImmediate(() => Promise.reject(new Error('the cause'))));
     test('waits', () => new Promise((done) => setImmediate(() => setImmediate(done))));`,
    /Test "passes" .* the error "Error: the cause"/,
  ],
  [
    'an error outside a test',
    `setImmediate(() => { throw new Error('the cause'); });
     test('waits', () => new Promise((done) => setImmediate(() => setImmediate(done))));`,
    /the error "Error: the cause"/,
  ],
] as const)
  test(`${what} that fails is named by both reporters, though all tests have passed`, (t) => {
    const file = join(temporaryFolder(t), 'fails.test.mjs');
    writeFileSync(file, `import { after, test } from 'node:test';\n${code}`);
    const report = (name: string) => {
      const reporter = join(import.meta.dirname, `${name}.ts`);
      const args = ['--test', '--test-isolation=none', `--test-reporter=${reporter}`, file];
      // Node sets NODE_TEST_CONTEXT in a process that runs tests, and does not run tests in a process that has it.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      return spawnSync(process.execPath, args, { encoding: 'utf8', env }).stdout;
    };
    const { counts, failures } = JSON.parse(report('outcomeReporter'));
    assert.equal(counts.passed, counts.tests);
    assert.equal(failures.length, 1);
    assert.match(failures[0], said);
    assert.match(report('terseReporter'), /✖ [\s\S]*the cause/);
  });
