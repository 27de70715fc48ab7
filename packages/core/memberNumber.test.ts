import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { displayMemberNumber, parseMemberNumber, verifyPath } from './memberNumber.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const numbers = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 8, maxLength: 8 });

test('a number is read back however it was typed: case, spaces, dashes, and letters that look like digits', () => {
  const slips: Record<string, string[]> = { 0: ['0', 'O', 'o'], 1: ['1', 'I', 'i', 'L', 'l'] };
  const typed = numbers.chain((number) =>
    fc
      .tuple(
        ...[...number].map((character) =>
          fc.constantFrom(...(slips[character] ?? [character, character.toLowerCase()])),
        ),
      )
      .chain((characters) =>
        fc
          .array(fc.constantFrom('', '', '-', ' ', '–', '\u00a0'), { minLength: 9, maxLength: 9 })
          .map((gaps) => ({
            number,
            text: gaps.map((gap, index) => gap + (characters[index] ?? '')).join(''),
          })),
      ),
  );
  fc.assert(fc.property(typed, ({ number, text }) => assert.equal(parseMemberNumber(text), number)));
});

test('what is printed is read back', () => {
  fc.assert(
    fc.property(numbers, (number) => assert.equal(parseMemberNumber(displayMemberNumber(number)), number)),
  );
  assert.equal(verifyPath('7K3M9QXR'), '/verify/7K3M-9QXR');
});

test('a number is found in the line with which it was copied', () => {
  for (const text of ['Member number: 7K3M-9QXR', 'Your member number is 7k3m–9qxr.', '7K3M-9QXR (Jordan)'])
    assert.equal(parseMemberNumber(text), '7K3M9QXR', text);
  for (const text of ['Member number', 'Order 7K3M-9QXR2', 'x7K3M-9QXR'])
    assert.equal(parseMemberNumber(text), null, text);
});

test('what cannot be a number is none', () => {
  for (const text of ['', '7K3M9QX', '7K3M9QXRR', '7K3M9QXU', '7K3M9QX!', 'ЖК3M9QXR'])
    assert.equal(parseMemberNumber(text), null, text);
});
