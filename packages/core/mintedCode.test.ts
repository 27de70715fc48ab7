import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inviteCodeError, normaliseInviteCode } from './inviteCode.ts';
import { isMinted, isSlip, MINTED_BYTES, mintedCode } from './mintedCode.ts';

const random = fc.uint8Array({ minLength: MINTED_BYTES, maxLength: MINTED_BYTES });
const place = fc.nat(8);
const replaced = (code: string, index: number, character: string) =>
  code.slice(0, index) + character + code.slice(index + 1);

test('a minted code is an invite code of nine characters, none of which is taken for another', () => {
  fc.assert(
    fc.property(random, (bytes) => {
      const code = mintedCode(bytes);
      assert.match(code, /^[2-9A-HJ-NP-Z]{9}$/);
      assert.equal(inviteCodeError(code), null);
      assert.equal(normaliseInviteCode(code.toLowerCase()), code);
      assert.deepEqual([isMinted(code), isSlip(code)], [true, false]);
    }),
  );
});

test('all 40 random bits are in it: other bytes are another code', () => {
  fc.assert(
    fc.property(random, random, (a, b) => {
      assert.equal(mintedCode(a) === mintedCode(b), a.join() === b.join());
    }),
  );
  for (let bit = 0; bit < 40; bit++) {
    const bytes = new Uint8Array(MINTED_BYTES);
    bytes[bit >> 3] = 1 << (bit & 7);
    assert.notEqual(mintedCode(bytes), mintedCode(new Uint8Array(MINTED_BYTES)), `bit ${bit}`);
  }
});

test('one wrong character, of whatever kind, is a slip', () => {
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  fc.assert(
    fc.property(random, place, character, (bytes, index, typed) => {
      const code = mintedCode(bytes);
      const wrong = replaced(code, index, typed);
      assert.deepEqual([isMinted(wrong), isSlip(wrong)], [wrong === code, wrong !== code]);
    }),
  );
});

test('any two characters that have changed places are a slip', () => {
  fc.assert(
    fc.property(random, place, place, (bytes, first, second) => {
      const code = mintedCode(bytes);
      const wrong = replaced(replaced(code, first, code[second]!), second, code[first]!);
      assert.deepEqual([isMinted(wrong), isSlip(wrong)], [wrong === code, wrong !== code]);
    }),
  );
});

test("a society's own codes are mostly no slips", () => {
  for (const code of ['HONOR101', 'LINCOLN2026', 'EXPIRED2025', 'WRONG1', 'ABCDEFGH', ''])
    assert.equal(isSlip(code), false, code);
});
