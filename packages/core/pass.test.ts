import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSamePerson } from './pass.ts';

const known = { lastName: "O'Neill-Ruiz", zipcode: '78701' };
const cases: [string, string, boolean][] = [
  ["O'Neill-Ruiz", '78701', true],
  ['  ónéill ruiz ', '78701-1234', true],
  ['O', '78701', false],
  ["O'Neill", '78701', false],
  ["O'Neill-Ruiz-Smith", '78701', false],
  ["O'Neill-Ruiz", '7870', false],
  ["O'Neill-Ruiz", '787011', false],
  ["O'Neill-Ruiz", '', false],
  ['', '78701', false],
  ['-', '78701', false],
];
for (const [lastName, zipcode, expected] of cases)
  test(`"${lastName}" with "${zipcode}" is ${expected ? '' : 'not '}who has given O'Neill-Ruiz with 78701`, () =>
    assert.equal(isSamePerson({ lastName, zipcode }, known), expected));

test('a ZIP code that was given with four more digits is the same without them', () =>
  assert.ok(
    isSamePerson(
      { lastName: known.lastName, zipcode: '78701' },
      { lastName: known.lastName, zipcode: '78701-1234' },
    ),
  ));

for (const nothing of [
  { lastName: '', zipcode: '78701' },
  { lastName: 'Ruiz', zipcode: '' },
  { lastName: '', zipcode: '' },
])
  test(`nobody is who has given ${JSON.stringify(nothing)}`, () =>
    assert.equal(isSamePerson(nothing, nothing), false));
