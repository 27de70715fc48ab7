import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIgnored } from './dockerignore.ts';

test('a .dockerignore leaves out what its last matching line leaves out, folders with all that is in them', () => {
  const ignoreFile = '# all\n*\n!apps\n!tools/local\napps/*/dist*\n**/*.test.ts\n';
  const paths = [
    'a.ts',
    'apps/a/b.ts',
    'apps/a/b.test.ts',
    'apps/a/dist/x.js',
    'apps/a/dist.new-1/x.js',
    'tools/local/a.ts',
    'lab/bench/a.ts',
    'node_modules/x/y.js',
  ];
  assert.deepEqual(
    paths.filter((path) => !isIgnored(path, ignoreFile)),
    ['apps/a/b.ts', 'tools/local/a.ts'],
  );
  assert.equal(isIgnored('.env', ignoreFile), true);
});
