import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const sheets = globSync('{packages/ui,apps/web,apps/desk}/**/*.css', { cwd: root, exclude: ['**/dist*/**'] });

// Safari before 16.2 does not know `color-mix`. It ignores a declaration whose value contains `color-mix`, directly or through a
// custom property. A button with such a background would have no background, and its white text could not be read.
test('colours are mixed in two sheets alone, and each has one that is not mixed for old browsers', () => {
  const mixing = sheets.filter((sheet) => /color-mix\(/.test(readFileSync(join(root, sheet), 'utf8')));
  assert.deepEqual(mixing, ['packages/ui/dark.css', 'packages/ui/tokens.css']);

  const namesIn = (css: string, value: RegExp) =>
    [...css.matchAll(/(--[\w-]+):\s*([^;]+);/g)]
      .filter(([, , given]) => value.test(given!))
      .map(([, name]) => name)
      .sort();
  for (const sheet of mixing) {
    const [usual, fallback] = readFileSync(join(root, sheet), 'utf8').split(
      '@supports not (color: color-mix(in srgb, red, red))',
    );
    const mixed = namesIn(usual!, /color-mix/);
    assert.ok(mixed.length >= 4, `${mixed.length} mixed colours`);
    assert.deepEqual(namesIn(fallback ?? '', /^(var\(--|#)/), mixed);
  }
});

// On a touch screen, `:hover` continues to apply after a tap until something else is tapped.
test('what a pointer is on is shown only where the device hovers', () => {
  for (const sheet of sheets) {
    const css = readFileSync(join(root, sheet), 'utf8');
    const outside = css.replace(/@media \(hover: hover\) \{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '');
    assert.ok(!outside.includes(':hover'), sheet);
  }
});

test('errors have a colour of their own and not the society’s', () => {
  const rules = sheets.flatMap((sheet) => [
    ...readFileSync(join(root, sheet), 'utf8').matchAll(/([^{}]+)\{([^{}]*)\}/g),
  ]);
  const ofErrors = rules.filter(([, selector]) => /aria-invalid|error|\.alert|\.summary\b/i.test(selector!));
  const coloured = ofErrors.filter(([, , rule]) => /var\(--danger\)/.test(rule!));
  assert.ok(coloured.length >= 6, `${coloured.length} rules`);
  assert.deepEqual(
    ofErrors.filter(([, , rule]) => /var\(--red/.test(rule!)).map(([, selector]) => selector!.trim()),
    [],
  );
});
