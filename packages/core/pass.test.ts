import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FoundJoin, isSamePerson, joinsToLink } from './pass.ts';

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

test('of several joins of one name a link is sent of the paid or the newest, of proven and of others, the proven first', () => {
  const join = (id: string, more: Partial<FoundJoin> = {}) => ({
    id,
    firstName: 'Ada',
    lastName: 'Lovelace',
    isProven: false,
    isPaid: false,
    createdAt: 1,
    ...more,
  });
  const ids = (...found: ReturnType<typeof join>[]) => joinsToLink(found).map(({ id }) => id);
  assert.deepEqual(ids(join('old'), join('new', { createdAt: 2 })), ['new']);
  assert.deepEqual(ids(join('new', { createdAt: 2 }), join('paid', { isPaid: true })), ['paid']);
  assert.deepEqual(
    ids(join('paid', { isPaid: true }), join('proven', { isProven: true, lastName: 'LOVELACE' })),
    ['proven', 'paid'],
  );
  assert.deepEqual(
    ids(join('first', { firstName: null }), join('second', { firstName: null, lastName: null })),
    ['first', 'second'],
  );
  const family = [...'abcdef'].map((firstName, createdAt) => join(firstName, { firstName, createdAt }));
  assert.deepEqual(ids(...family), ['f', 'e', 'd', 'c']);
});
