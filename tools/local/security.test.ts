import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');

/**
 * Checks the last column of SECURITY.md's table of threats, which names tests as `file`: title. Returns a sentence for each entry
 * of this column that names no existing test.
 */
function faultsIn(security: string): { threats: number; faults: string[] } {
  const rows = security.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| threat'));
  const faults = rows.flatMap((row) => {
    const [threat, , tests, ...more] = row.slice(2, -2).split(' | ');
    if (!tests || more.length > 0) return [`"${threat}" names no test.`];
    return tests.split('<br>').flatMap((entry) => {
      const [, file, title] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(entry) ?? [];
      if (!file || !title) return [`"${threat}": "${entry}" names no file and title.`];
      if (!existsSync(join(root, file))) return [`"${threat}": there is no ${file}.`];
      const source = readFileSync(join(root, file), 'utf8');
      const isThere = ["'", '"', '`'].some((quote) => source.includes(`test(${quote}${title}${quote}`));
      return isThere ? [] : [`"${threat}": ${file} has no test "${title}".`];
    });
  });
  return { threats: rows.length, faults };
}

test('against every threat of SECURITY.md stands a test that is there', () => {
  const { threats, faults } = faultsIn(readFileSync(join(root, 'SECURITY.md'), 'utf8'));
  assert.deepEqual(faults, []);
  assert.ok(threats > 20, `only ${threats} were found`);
});

test('a threat without a test, and a test that is not there, are told', () => {
  const file = 'apps/server/app.test.ts';
  assert.deepEqual(
    faultsIn(
      [
        '| One | What stands. |',
        '| Two | What stands. | somewhere |',
        '| Three | What stands. | `apps/server/no.test.ts`: something |',
        `| Four | What stands. | \`${file}\`: pages forbid inline scripts, framing and referrers<br>\`${file}\`: pages forbid |`,
      ].join('\n'),
    ).faults,
    [
      '"One" names no test.',
      '"Two": "somewhere" names no file and title.',
      '"Three": there is no apps/server/no.test.ts.',
      `"Four": ${file} has no test "pages forbid".`,
    ],
  );
});
