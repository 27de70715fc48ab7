import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const folders = ['apps', 'docs', 'emulators', 'lab', 'ops', 'packages', 'society', 'tests', 'tools'];
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

for (const page of [
  'README.md',
  'CONTRIBUTING.md',
  'CONTEXT.md',
  ...globSync('{docs,lab/*}/*.md', { cwd: root }),
])
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

/** Files that may point to a document: `[text](path#anchor)` in Markdown, and `docs/name.md, "Heading"` anywhere. */
const sources = [
  ...globSync('{*.md,*.yaml,*.json,Dockerfile}', {
    cwd: root,
    exclude: ['package-lock.json'],
  }),
  ...globSync(`{${folders}}/**/*.{ts,tsx,mjs,sql,md,yaml,yml,cfg,service,timer,example,Dockerfile}`, {
    cwd: root,
    exclude: ['**/node_modules', '**/dist'],
  }),
  'ops/Caddyfile',
];

/** Returns the headings of a Markdown file as GitHub's anchors; null if there is no such file. */
function anchorsOf(path: string): Set<string> | null {
  if (!existsSync(path)) return null;
  if (!path.endsWith('.md')) return new Set();
  const text = readFileSync(path, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!)));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the references to documents or headings in a file's text whose target does not exist. */
function deadPointers(source: string, text: string): string[] {
  const unwrapped = text.replaceAll(/\n\s*(?:\*|\/\/|#|--)?\s*/g, ' ');
  const links = source.endsWith('.md')
    ? [...text.matchAll(/\]\((?!\w+:)([^)\s#{]*)(?:#([^)\s]+))?\)/g)].map(([all, path, anchor]) => ({
        all,
        path: path === '' ? source : join(dirname(source), path!),
        anchor,
      }))
    : [];
  const named = [
    ...unwrapped.matchAll(/\b((?:docs\/[\w/-]+|README|CONTRIBUTING|SECURITY)\.md)(?:,? "([^"]+)")?/g),
  ].map(([all, path, heading]) => ({ all, path: path!, anchor: heading && anchorOf(heading) }));
  return [...links, ...named]
    .filter(({ path, anchor }) => {
      const anchors = anchorsOf(join(root, path));
      return !anchors || (anchor !== undefined && !anchors.has(anchor));
    })
    .map(({ all }) => `${source}: ${all}`);
}

test('every pointer to a document, in pages, code and configuration, leads to a file and a heading that exist', () => {
  assert.ok(sources.length > 500);
  const dead = sources
    .filter((source) => !source.endsWith('documentedPaths.test.ts'))
    .flatMap((source) => deadPointers(source, readFileSync(join(root, source), 'utf8')));
  assert.deepEqual(dead, []);
});

test('a pointer to a document or a heading that does not exist is noticed', () => {
  assert.deepEqual(
    deadPointers('docs/run.md', '[a](nowhere.md), [b](#nothing), [c](deploy.md#ipv6), [d](https://a.b)'),
    ['docs/run.md: ](nowhere.md)', 'docs/run.md: ](#nothing)'],
  );
  assert.deepEqual(
    deadPointers('a.ts', '// docs/none.md; docs/run.md, "Back\n// up"; docs/run.md, "Nothing"'),
    ['a.ts: docs/none.md', 'a.ts: docs/run.md, "Nothing"'],
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

test('every decision that is mentioned by its number exists, and the numbers have no gaps', () => {
  const known = globSync('docs/decisions/*.md', { cwd: root }).map((path) =>
    Number.parseInt(basename(path), 10),
  );
  const lost = sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\b[Dd]ecision (\d+)|docs\/decisions\/(\d{4})\b/g)]
      .filter(([, number, path]) => !known.includes(Number(number ?? path)))
      .map(([mention]) => `${file}: ${mention}`),
  );
  assert.deepEqual(lost, []);
  assert.deepEqual(
    known.sort((a, b) => a - b),
    known.map((_, index) => index + 1),
  );
});
