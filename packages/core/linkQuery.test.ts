import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkQuery, readCheckoutQuery } from './linkQuery.ts';

const ORIGIN = 'https://induct.example/initialize/checkout';

for (const query of [
  'vid=103&mp=1&c=4500',
  'vid=103&amp;mp=1&amp;c=4500',
  'vid=103&amp;amp;mp=1&amp;amp;amp;c=4500',
  'vid=103&AMP;mp=1&Amp;c=4500',
  'vid=103&#38;mp=1&#038;c=4500',
  'vid=103&#x26;mp=1&amp;#38;c=4500',
  'vid=103&amp%3Bmp=1&amp%3bc=4500',
  'vid=103&MP=1&C=4500',
  'vid=103&mp=1&c=4500%20',
  'vid=103&mp=1&c=%E2%80%8B4500',
  'vid=103&mp=1&c=4500&c=4500',
  'vid=103&mp=1&amp;c=4500&utm_source=mail&amp;_hsmi=1&fbclid=x&gclid=y',
  '&amp;vid=103&amp;&mp=1&c=4500&',
])
  test(`${query} sells product 1 at 4500 cents to contact 103`, () => {
    assert.deepEqual(readCheckoutQuery(`${ORIGIN}?${query}`), { vid: '103', mp: '1', c: '4500' });
  });

for (const [query, unread] of [
  ['vid=103&mp=abc', 'mp=abc'],
  ['vid=103&mp=1&c=45.00', 'c=45.00'],
  ['vid=103&mp=1&c=-1', 'c=-1'],
  ['vid=103&mp=1&c=$45', 'c=$45'],
  ['vid=103&mp=1&c=4,500', 'c=4,500'],
  ['vid=103&mp=1&c=', 'c='],
  ['vid=103&mp=1&c', 'c='],
  ['vid=103&mp=1&c={{price}}', 'c={{price}}'],
  ['vid=103&mp=1&c=4500&c=6500', 'c=4500'],
  ['vid=103&mp=1&amp;c=4500&c=6500', 'c=4500'],
  ['vid=103&vid=104&mp=1', 'vid=103'],
  ['vid=103&mp=1&price=4500', 'price=4500'],
  ['vid=103&mp=1&cents=4500', 'cents=4500'],
  ['vid=103&mp=1&amp;x;c=4500', 'x;c=4500'],
] as const)
  test(`${query} sells nothing, since ${unread} cannot be read`, () => {
    assert.deepEqual(readCheckoutQuery(`${ORIGIN}?${query}`), { unread });
  });

test('a query without anything has nothing, and a fragment is no part of it', () => {
  assert.equal(readCheckoutQuery(ORIGIN), null);
  assert.equal(readCheckoutQuery(`${ORIGIN}?vid=&mp=x`), null);
  assert.deepEqual(readCheckoutQuery(`${ORIGIN}?vid=103#mp=2`), { vid: '103' });
  assert.equal(linkQuery(`${ORIGIN}?exp=1&amp;sig=Ab-_C`).get('sig'), 'Ab-_C');
});

test('a signature says what a link sells, so that unknown names beside it do not matter', () => {
  const query = 'vid=103&mp=1&exp=99&amp;sig=aB&campaign=x';
  assert.deepEqual(readCheckoutQuery(`${ORIGIN}?${query}`), { vid: '103', mp: '1', exp: '99', sig: 'aB' });
});
