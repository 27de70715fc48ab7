import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const sheets = globSync('{packages/ui,apps/web,apps/desk}/**/*.css', { cwd: root, exclude: ['**/dist*/**'] });

/**
 * The page uses few pairs of font size and weight. For each additional pair, the browser looks up another font before the first
 * paint. Using fewer pairs made the first paint measurably earlier.
 */
test('text is of the sizes in tokens.css and 400 or 600, or 700 in the serif of headings', () => {
  const odd: string[] = [];
  let seen = 0;
  for (const sheet of sheets) {
    const css = readFileSync(join(root, sheet), 'utf8').replace(/\/\*.*?\*\//gs, '');
    for (const [, selector, rule] of css.matchAll(/([^{}]+)\{([^{}]*)\}/g))
      for (const [, property, value] of rule!.matchAll(
        /(?<![\w-])(font|font-size|font-weight):\s*([^;]+);/g,
      )) {
        seen++;
        if (value === 'inherit') continue;
        const hasSize = property === 'font-weight' || /var\(--text-\w+\)/.test(value!);
        const mayBeBold = value!.includes('var(--serif)') || selector!.trim().startsWith('h1,');
        const hasWeight = property === 'font-size' || (mayBeBold ? /^[47]00\b/ : /^[46]00\b/).test(value!);
        if (!hasSize || !hasWeight) odd.push(`${sheet}: ${selector!.trim()} { ${property}: ${value} }`);
      }
  }
  assert.ok(seen > 50, `${seen} declarations`);
  assert.deepEqual(odd, []);
});
