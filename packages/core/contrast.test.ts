import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { contrast, contrastFaults, mix, pageColours } from './contrast.ts';

test('contrast is reckoned as WCAG says', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#9e1b32', '#9e1b32'), 1);
  // Known contrasts with white: #767676 is the lightest grey that passes, #777777 the darkest that fails.
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54');
  assert.equal(contrast('#ffffff', '#777777').toFixed(2), '4.48');
});

test('colours are mixed as the style sheet mixes them', () => {
  assert.equal(mix('#ff0000', 50, '#0000ff'), '#800080');
  assert.equal(mix('#000000', 6, '#ffffff'), '#f0f0f0');
});

test('the fixed colours are those of the style sheet', () => {
  const tokens = readFileSync(join(import.meta.dirname, '../ui/tokens.css'), 'utf8');
  const names = {
    paper: 'paper',
    paperTint: 'paper-tint',
    inkSoft: 'ink-soft',
    green: 'green',
    danger: 'danger',
    dangerWash: 'danger-wash',
  } as const;
  for (const [key, name] of Object.entries(names))
    assert.ok(tokens.includes(`--${name}: ${pageColours[key as keyof typeof names]};`), name);
  assert.match(tokens, /--red-wash: color-mix\(in srgb, var\(--red\) 6%, #fff\)/);
  assert.match(tokens, /--gold-wash: color-mix\(in srgb, var\(--gold\) 13%, #fffefa\)/);
});

test('the fixed colours can be read on the page, and errors on their tint', () => {
  const { white, paper, paperTint, dangerWash, ...texts } = pageColours;
  for (const text of Object.values(texts))
    for (const ground of [white, paper, paperTint])
      assert.ok(contrast(text, ground) >= 4.5, `${text} on ${ground}`);
  assert.ok(contrast(texts.danger, dangerWash) >= 4.5);
});

for (const [what, colours, colour] of [
  ['the demo society', { gold: '#E8B23A', red: '#9E1B32' }, null],
  ['navy and mint', { gold: '#7FC8A9', red: '#1F3A68' }, null],
  ['a red too light for links', { gold: '#E8B23A', red: '#E0566D' }, 'red'],
  ['white for buttons', { gold: '#E8B23A', red: '#FFFFFF' }, 'red'],
  ['a gold that is nearly black', { gold: '#000000', red: '#B5382A' }, 'gold'],
] as const)
  test(`${what} ${colour ? `fails by its ${colour}` : 'can be read'}`, () => {
    assert.deepEqual(
      contrastFaults(colours).map((fault) => fault.colour),
      colour ? [colour] : [],
    );
  });
