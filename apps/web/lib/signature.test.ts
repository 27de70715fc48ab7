import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureOf } from './signature.ts';

test('a link passes on what it is signed with, and nothing when it is not signed', () => {
  assert.deepEqual(signatureOf(new URLSearchParams('vid=1&exp=99&sig=ab')), { exp: '99', sig: 'ab' });
  assert.deepEqual(signatureOf(new URLSearchParams('vid=1')), {});
});
