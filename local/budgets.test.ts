import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { buildWeb } from './builds.ts';

/** What the first page and the whole flow may weigh, as they are sent (bytes; a kB is 1000 of them). */
const dist = resolve(import.meta.dirname, '../apps/web/dist');
before(() => buildWeb());

/** The files of one kind that the page names: what every first visit loads. */
function firstLoad(kind: 'js' | 'css'): string[] {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map((match) => join(dist, match[1]!));
  const found = files.filter((file) => file.endsWith(`.${kind}`));
  assert.ok(found.length > 0, `the page names no ${kind} at all`);
  return found;
}

/** The packed sizes of files, with the largest first when they are too much together. */
function assertAtMost(most: number, files: readonly string[], packed: 'gz' | 'br'): void {
  const sizes = files.map((file) => ({ file: basename(file), bytes: statSync(`${file}.${packed}`).size }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const told = sizes.sort((a, b) => b.bytes - a.bytes).map(({ file, bytes }) => `${file} ${bytes}`);
  assert.ok(total <= most, `${total} bytes of ${most} (${packed}): ${told.join(', ')}`);
}

test('the scripts of the first load weigh at most 112 kB with gzip and 98 kB with Brotli', () => {
  assertAtMost(112_000, firstLoad('js'), 'gz');
  assertAtMost(98_000, firstLoad('js'), 'br');
});

test('the style sheet, which has that of every screen, weighs at most 8 kB', () => {
  assertAtMost(8_000, firstLoad('css'), 'gz');
  assert.deepEqual(
    globSync('static/css/**/*.css', { cwd: dist }).map((file) => basename(file)),
    firstLoad('css').map((file) => basename(file)),
    'no screen has a style sheet of its own',
  );
});

test('all scripts of all screens together weigh at most 215 kB with gzip', () => {
  assertAtMost(215_000, globSync(join(dist, 'static/js/**/*.js')), 'gz');
});

test('what a step from screen to screen runs asks to be compiled as a whole while it comes', () => {
  for (const name of [
    'index',
    'async/shared',
    'async/studentDetails',
    'async/membership',
    'async/checkout',
  ]) {
    const [script] = globSync(join(dist, `static/js/${name}.*.js`));
    assert.match(readFileSync(script!, 'utf8'), /^\/\/# allFunctionsCalledOnLoad\n/, name);
  }
});
