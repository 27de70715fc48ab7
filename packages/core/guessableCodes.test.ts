import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { areAlike, followsOn, similarCodes } from './guessableCodes.ts';
import { MINTED_BYTES, mintedCode } from './mintedCode.ts';

const code = fc.string({ unit: fc.constantFrom(...'AB12'), minLength: 1, maxLength: 7 });

/** Returns the Levenshtein distance of two texts: the minimum number of characters to change, add or leave out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

test('codes are alike that are one change apart', () => {
  fc.assert(
    fc.property(code, code, (a, b) => {
      fc.pre(a !== b);
      assert.equal(areAlike(a, b), distance(a, b) === 1, `${a} ${b}`);
    }),
  );
});

for (const [a, b, follows] of [
  ['HONOR101', 'HONOR102', true],
  ['HONOR0199', 'HONOR0200', true],
  ['HONOR9', 'HONOR10', true],
  ['2026A7X', '2026A8X', true],
  ['HONOR101', 'HONOR103', false],
  ['HONOR101', 'HONOUR102', false],
  ['HONOR', 'HONOS', false],
] as const)
  test(`${b} ${follows ? 'follows on' : 'does not follow on'} ${a}`, () => {
    assert.deepEqual([followsOn(a, b), followsOn(b, a)], [follows, follows]);
  });

test('minted codes are never alike', () => {
  const random = fc.uint8Array({ minLength: MINTED_BYTES, maxLength: MINTED_BYTES });
  fc.assert(
    fc.property(random, fc.nat(39), (bytes, bit) => {
      const near = bytes.slice();
      near[bit >> 3]! ^= 1 << (bit & 7);
      assert.equal(areAlike(mintedCode(bytes), mintedCode(near)), false);
    }),
  );
});

test('the codes that are one slip away from a code are all found, and the code itself is not', () => {
  const similar = new Set(similarCodes('AB12'));
  for (const slip of ['B12', 'AB1', 'XAB12', 'AB12X', 'AX12', 'BA12', 'AB21', 'A112'])
    assert.ok(similar.has(slip), slip);
  assert.equal(similar.has('AB12'), false);
  fc.assert(
    fc.property(code, code, (a, b) => {
      if (a !== b && areAlike(a, b)) assert.ok(similarCodes(a).includes(b), `${a} and ${b}`);
    }),
  );
});
