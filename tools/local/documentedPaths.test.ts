import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const folders = ['apps', 'docs', 'emulators', 'ops', 'packages', 'society', 'tests', 'tools'];
const names = new Set(
  folders
    .flatMap((folder) =>
      globSync(`${folder}/**/*.{ts,tsx,sql,md,yaml}`, { cwd: root, exclude: ['**/node_modules', '**/dist'] }),
    )
    .map((path) => basename(path)),
);

/**
 * Returns the paths in a page's inline code that do not exist. Code counts as a path if it begins with a top-level folder. If
 * code is only the name of a TypeScript or SQL file, some file in the repository must have that name. Code with `*`, `$`, `<` or
 * `NNNN` is a pattern and is skipped.
 */
function lost(markdown: string): string[] {
  return [...markdown.matchAll(/`([^`\s]+)`/g)]
    .map(([, code]) => code!)
    .filter((code) => !/[<*$]|NNNN/.test(code))
    .filter((code) =>
      folders.includes(code.split('/')[0]!) && code.includes('/')
        ? !existsSync(join(root, code))
        : /^[\w.-]+\.(ts|tsx|sql)$/.test(code) && !names.has(code),
    );
}

for (const page of ['README.md', 'CONTRIBUTING.md', 'CONTEXT.md', ...globSync('docs/*.md', { cwd: root })])
  test(`every file and folder that ${page} names is there`, () => {
    assert.deepEqual(lost(readFileSync(join(root, page), 'utf8')), []);
  });

test('a file or folder that is not there is noticed, with its folder or without', () => {
  assert.deepEqual(
    lost(
      'See `apps/server/nowhere/` and `tools/local/test.ts`, `nobody.ts`, `test.ts`, `apps/web/screens/<screen>/`.',
    ),
    ['apps/server/nowhere/', 'nobody.ts'],
  );
});

test('CONTRIBUTING.md says of every room of the server what is there', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const rooms = globSync('apps/server/*/', { cwd: root, exclude: ['**/dist'] }).map((path) => basename(path));
  assert.deepEqual(
    rooms.filter((room) => !text.includes(`apps/server/${room}`)),
    [],
  );
});
