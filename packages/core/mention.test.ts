import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentions } from './mention.ts';

test('an email or a name is found as a whole, not as a part of a longer one', () => {
  for (const text of [
    'ann@example.com',
    'Ann Lee <ANN@example.com> paid twice.',
    'It was ann@example.com.',
    'mailto:ann@example.com, or "ann@example.com"',
  ])
    assert.ok(mentions(text, 'ann@example.com'), text);
  for (const text of [
    'joann@example.com',
    'jo.ann@example.com',
    'ann@example.com.au',
    'ann@example.community',
  ])
    assert.ok(!mentions(text, 'ann@example.com'), text);
  for (const text of ["Ann Lee's join", "'Ann Lee'", 'ann lee', 'of Ann Lee, and others'])
    assert.ok(mentions(text, 'Ann Lee'), text);
  for (const text of ['Joann Lee', 'Ann Leeds', 'Mary-Ann Lee', 'Ann Leeé', 'ÉAnn Lee'])
    assert.ok(!mentions(text, 'Ann Lee'), text);
});

test('what is a sign of a pattern stands for itself', () => {
  assert.ok(mentions('a+b@example.com', 'a+b@example.com'));
  assert.ok(!mentions('aab@exampleXcom', 'a+b@example.com'));
});
