import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProviderEmail, providerEmail } from './providerEmail.ts';

const longLocal = 'l'.repeat(64);
/** An email of 254 characters, the most that is allowed. */
const longest = `${longLocal}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(57)}.com`;

test('what a provider takes as an email', () => {
  for (const email of [
    'jordan.rivera@example.com',
    'first.last+tag@mail.example.co.uk',
    "o'brien_a-b@example.org",
    'JORDAN@EXAMPLE.COM',
    '1@2.example.com',
    'name@xn--bcher-kva.example',
    'name@example.xn--p1ai',
    longest,
  ])
    assert.equal(isProviderEmail(email), true, email);
});

test('what it does not', () => {
  for (const email of [
    '',
    'n/a',
    'none',
    '@',
    '@example.com',
    'name@',
    'name@localhost',
    'name@gmail',
    'name@gmail..com',
    'name@.example.com',
    'name@example.com.',
    'name@example.c',
    'name@127.0.0.1',
    'name@-example.com',
    'name@example-.com',
    'name@exam_ple.com',
    'first..last@example.com',
    '.name@example.com',
    'name.@example.com',
    'a,b@example.com',
    'a b@example.com',
    'a@b@example.com',
    'name@example.com;other@example.com',
    '<name@example.com>',
    '"name"@example.com',
    'ü@example.com',
    'name@exämple.com',
    'name＠example.com',
    'name@example.com\n',
    ' name@example.com',
    `${longLocal}l@example.com`,
    `name@${'d'.repeat(64)}.com`,
    longest.replace('.com', 'd.com'),
  ])
    assert.equal(isProviderEmail(email), false, JSON.stringify(email));
});

test('the first candidate that is taken is the one, without the spaces around it', () => {
  assert.equal(providerEmail([null, '', 'n/a', ' a@example.com ', 'b@example.com']), 'a@example.com');
  assert.equal(providerEmail(['name@gmail..com', undefined]), null);
  assert.equal(providerEmail([]), null);
});
