import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { groupsOf } from './testGroups.ts';

test('up to 22 test files of a part of the project share a process, and neighbours are spread over all', () => {
  const links = Array.from({ length: 23 }, (_, number) => `apps/server/joining/links/${number}.test.ts`);
  const money = 'packages/core/money.test.ts';
  const [even, odd] = [0, 1].map((rest) => links.filter((_, number) => number % 2 === rest));
  assert.deepEqual(groupsOf([...links, money]), [even, odd, [money]]);
});

test('a test file that starts whole programs, or tests what a process has once, shares its process with none', () => {
  const files = [
    'apps/server/app.test.ts',
    'apps/server/operator.test.ts',
    'apps/server/running/alerts.test.ts',
    'apps/server/running/metrics.test.ts',
    'tests/faults/books.test.ts',
    'tools/local/lock.test.ts',
  ];
  assert.deepEqual(
    groupsOf(files),
    files.map((file) => [file]),
  );
});

test('no test file has a hook that runs around the tests of other files', () => {
  const root = resolve(import.meta.dirname, '../..');
  const files = globSync('{apps,emulators,lab,packages,society,tests,tools}/**/*.test.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
  assert.ok(files.length > 200);
  const hooked = files.filter((file) =>
    /import [^;]*\b(before|after)Each\b[^;]* from 'node:test'/.test(readFileSync(join(root, file), 'utf8')),
  );
  assert.deepEqual(hooked, []);
});
