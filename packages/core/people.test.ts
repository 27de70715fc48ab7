import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  answerToSecond,
  type EndOfSecond,
  endOfSecond,
  isMember,
  orderRefusal,
  type Purchase,
  type Relation,
  saleRefusal,
} from './people.ts';

/** What Buy Now is answered in the browser of the first join, and in another one; and what becomes of a payment all the same. */
type Row = [
  Relation,
  first: 'unproven' | 'proven',
  second: 'unproven' | 'proven',
  Purchase,
  here: Answer,
  elsewhere: Answer,
  EndOfSecond,
];
const told = 'buys, staff are told';
const table: readonly Row[] = [
  // One person, by a code, a signed link or the word of staff.
  ['same', 'proven', 'proven', 'paying', 'wait', 'wait', 'buys'],
  ['same', 'proven', 'proven', 'paid', 'refuse', 'refuse', 'goes back'],
  ['same', 'proven', 'proven', 'disputed', 'refuse', 'refuse', 'goes back'],
  ['same', 'proven', 'proven', 'refunded', 'sell', 'sell', 'buys'],
  // A self-nomination that staff have joined with the person, or that is the person whom a link names.
  ['same', 'unproven', 'proven', 'paying', 'wait', 'wait', 'buys'],
  ['same', 'unproven', 'proven', 'paid', 'refuse', 'refuse', told],
  ['same', 'unproven', 'proven', 'disputed', 'refuse', 'refuse', told],
  ['same', 'unproven', 'proven', 'refunded', 'sell', 'sell', 'buys'],
  ['same', 'proven', 'unproven', 'paying', 'wait', 'wait', 'buys'],
  ['same', 'proven', 'unproven', 'paid', 'refuse', 'refuse', told],
  ['same', 'proven', 'unproven', 'disputed', 'refuse', 'refuse', told],
  ['same', 'proven', 'unproven', 'refunded', 'sell', 'sell', 'buys'],
  ['same', 'unproven', 'unproven', 'paying', 'wait', 'wait', 'buys'],
  ['same', 'unproven', 'unproven', 'paid', 'refuse', 'refuse', told],
  ['same', 'unproven', 'unproven', 'disputed', 'refuse', 'refuse', told],
  ['same', 'unproven', 'unproven', 'refunded', 'sell', 'sell', 'buys'],
  // One human with two contacts or two codes; or a father and his son, whose names and emails are alike.
  ['likely same', 'proven', 'proven', 'paying', 'ask', 'sell', 'buys'],
  ['likely same', 'proven', 'proven', 'paid', 'ask', 'sell', told],
  ['likely same', 'proven', 'proven', 'disputed', 'ask', 'sell', told],
  ['likely same', 'proven', 'proven', 'refunded', 'sell', 'sell', 'buys'],
  // A stranger who typed the name and email of a member; or the member, who has lost the code.
  ['likely same', 'proven', 'unproven', 'paying', 'ask', 'sell', 'buys'],
  ['likely same', 'proven', 'unproven', 'paid', 'ask', 'sell', told],
  ['likely same', 'proven', 'unproven', 'disputed', 'ask', 'sell', told],
  ['likely same', 'proven', 'unproven', 'refunded', 'sell', 'sell', 'buys'],
  // The owner of a code whose name and email a stranger typed first.
  ['likely same', 'unproven', 'proven', 'paying', 'ask', 'sell', 'buys'],
  ['likely same', 'unproven', 'proven', 'paid', 'ask', 'sell', told],
  ['likely same', 'unproven', 'proven', 'disputed', 'ask', 'sell', told],
  ['likely same', 'unproven', 'proven', 'refunded', 'sell', 'sell', 'buys'],
  ['likely same', 'unproven', 'unproven', 'paying', 'ask', 'sell', 'buys'],
  ['likely same', 'unproven', 'unproven', 'paid', 'ask', 'sell', told],
  ['likely same', 'unproven', 'unproven', 'disputed', 'ask', 'sell', told],
  ['likely same', 'unproven', 'unproven', 'refunded', 'sell', 'sell', 'buys'],
  // Siblings with one email, and everybody else.
  ...(['proven', 'unproven'] as const).flatMap((first) =>
    (['proven', 'unproven'] as const).flatMap((second) =>
      (['paying', 'paid', 'disputed', 'refunded'] as const).map(
        (is): Row => ['other', first, second, is, 'sell', 'sell', 'buys'],
      ),
    ),
  ),
];

for (const [relation, first, second, is, here, elsewhere, end] of table)
  test(`${relation} person, first join ${first} and ${is}, second ${second}`, () => {
    const both = {
      relation,
      first: { isProven: first === 'proven', is },
      second: { isProven: second === 'proven' },
    };
    assert.equal(answerToSecond({ ...both, inSameBrowser: true }), here);
    assert.equal(answerToSecond({ ...both, inSameBrowser: false }), elsewhere);
    assert.equal(endOfSecond(both), end);
  });

test('the table has each case once', () => {
  const cases = table.map((row) => row.slice(0, 4).join());
  assert.deepEqual([cases.length, new Set(cases).size], [48, 48]);
});

const nothing = { holdsMembership: false, holdsUpgrade: false, isMemberAtHubspot: false };

test('who holds a membership, or is a member in HubSpot, is a member', () => {
  assert.equal(isMember(nothing), false);
  assert.equal(isMember({ ...nothing, holdsUpgrade: true }), false);
  assert.equal(isMember({ ...nothing, holdsMembership: true }), true);
  assert.equal(isMember({ ...nothing, isMemberAtHubspot: true }), true);
});

test('a membership is for those who are no members, and an upgrade for members who have none', () => {
  const member = { ...nothing, holdsMembership: true };
  assert.equal(saleRefusal('membership', nothing), null);
  assert.equal(saleRefusal('membership', member), 'held already');
  assert.equal(saleRefusal('membership_upgrade', nothing), 'not a member');
  assert.equal(saleRefusal('membership_upgrade', member), null);
  assert.equal(saleRefusal('membership_upgrade', { ...member, holdsUpgrade: true }), 'held already');
  assert.equal(orderRefusal([{ type: 'store' }, { type: 'membership_upgrade' }], nothing), 'not a member');
  assert.equal(orderRefusal([{ type: 'donation' }], member), null);
});
