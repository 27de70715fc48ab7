import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import type { ScriptFiles } from '#contract/scriptFiles.ts';
import { buildDesk, buildWeb } from './builds.ts';

/**
 * Tests the demands of the built pages on a phone: the compressed size of the first page and of the whole flow (1 kB = 1000
 * bytes), and the oldest browser that can run them.
 */

const dist = resolve(import.meta.dirname, '../../apps/web/dist');
const desk = resolve(import.meta.dirname, '../../apps/desk/dist');
before(() => Promise.all([buildWeb(), buildDesk()]));

/** Returns the files of a kind that index.html names. Every first visit loads these files. */
function firstLoad(kind: 'js' | 'css', folder = dist): string[] {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map((match) =>
    join(folder, match[1]!),
  );
  const found = files.filter((file) => file.endsWith(`.${kind}`));
  assert.ok(found.length > 0, `the page names no ${kind} at all`);
  return found;
}

/** Asserts that files together have at most `most` bytes with gzip. The message lists them, the largest first. */
function assertAtMost(most: number, files: readonly string[]): void {
  const sizes = files.map((file) => ({ file: basename(file), bytes: statSync(`${file}.gz`).size }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const told = sizes.sort((a, b) => b.bytes - a.bytes).map(({ file, bytes }) => `${file} ${bytes}`);
  assert.ok(total <= most, `${total} bytes of ${most}: ${told.join(', ')}`);
}

test('the scripts of the first load weigh at most 116 kB with gzip', () => {
  assertAtMost(116_000, firstLoad('js'));
});

test('the style sheet, which has that of every screen, weighs at most 10.4 kB with gzip', () => {
  assertAtMost(10_400, firstLoad('css'));
  assert.deepEqual(
    globSync('static/css/**/*.css', { cwd: dist }).map((file) => basename(file)),
    firstLoad('css').map((file) => basename(file)),
    'no screen has a style sheet of its own',
  );
});

test('a screen that is opened by a link loads at most six scripts, as many as a browser loads at a time', () => {
  const { downloads } = JSON.parse(readFileSync(join(dist, 'scripts.json'), 'utf8')) as ScriptFiles;
  assert.ok(Object.keys(downloads).length > 15);
  for (const [screen, own] of Object.entries(downloads))
    assert.ok(own.length <= 5, `${screen}: ${own.length} beside the first`);
});

// Nearly half of the scripts belong to the first load. Each screen loads its own scripts when it is opened. Code that several
// screens share is counted once for each of them, unless it is large.
test('all scripts of all screens together weigh at most 249 kB with gzip', () => {
  assertAtMost(249_000, globSync(join(dist, 'static/js/**/*.js')));
});

test('the first load of the desk weighs at most 150 kB with gzip, and brings nothing for passkeys', () => {
  const scripts = firstLoad('js', desk);
  assertAtMost(150_000, [...scripts, ...firstLoad('css', desk)]);
  for (const file of scripts) assert.doesNotMatch(readFileSync(file, 'utf8'), /navigator\.credentials/);
});

// The newest Safari on an iPhone 6s or 7 is that of iOS 15.8. The build rewrites newer syntax for such browsers. It does not add
// functions that they lack, and does not change regular expressions.
test('the scripts use nothing that came after Safari 15.4', () => {
  const newer =
    /\.(?:toSorted|toReversed|toSpliced|isWellFormed|toWellFormed|checkVisibility)\(|\bgroupBy\(|withResolvers|canParse|AbortSignal\.\w+|Array\.fromAsync|\(\?<[=!]/g;
  const found = globSync(join(dist, 'static/js/**/*.js')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(newer)].map(([text]) => `${basename(file)}: ${text}`),
  );
  assert.deepEqual(found, []);
});
