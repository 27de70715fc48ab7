import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureOf, wholeNumber } from './signature.ts';

test('a link passes on what it is signed with, and nothing when it is not signed', () => {
  assert.deepEqual(signatureOf(new URLSearchParams('vid=1&exp=99&sig=ab')), { exp: '99', sig: 'ab' });
  assert.deepEqual(signatureOf(new URLSearchParams('vid=1')), {});
});

test('a whole number of the query is a number, absent null, anything else not a number', () => {
  const query = new URLSearchParams('mp=12&c=19.99&usp=&x=-1');
  assert.equal(wholeNumber(query, 'mp'), 12);
  assert.equal(wholeNumber(query, 'usp'), null);
  assert.equal(wholeNumber(query, 'none'), null);
  assert.ok(Number.isNaN(wholeNumber(query, 'c')));
  assert.ok(Number.isNaN(wholeNumber(query, 'x')));
});
