import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { md5, rc4 } from './oldCiphers.ts';

test('MD5 is what everybody computes, for every length around a block', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Buffer.alloc(length, 'some bytes');
    assert.deepEqual(Buffer.from(md5(bytes)), createHash('md5').update(bytes).digest(), `${length} bytes`);
  }
});

for (const [key, text, expected] of [
  ['Key', 'Plaintext', 'bbf316e8d940af0ad3'],
  ['Wiki', 'pedia', '1021bf0420'],
  ['Secret', 'Attack at dawn', '45a01f645fc35b383552544b9bf5'],
] as const)
  test(`RC4 with ${key} makes of "${text}" what its published example says`, () => {
    assert.equal(Buffer.from(rc4(Buffer.from(key), Buffer.from(text))).toString('hex'), expected);
  });
