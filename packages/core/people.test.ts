import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  answerToSecond,
  baseOf,
  type EndOfSecond,
  endOfSecond,
  type Held,
  type Holdings,
  isMember,
  isMemberByHubspotAlone,
  orderRefusal,
  type Purchase,
  type Relation,
  saleRefusal,
  twiceHeld,
} from './people.ts';

/**
 * What happens on Buy Now in the browser of the first join, then in another browser; and what happens to the second payment in
 * either case.
 */
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
  // One person, because of a personal code, a signed link or a decision of staff.
  ['same', 'proven', 'proven', 'paying', 'wait', 'wait', 'buys'],
  ['same', 'proven', 'proven', 'paid', 'refuse', 'refuse', 'goes back'],
  ['same', 'proven', 'proven', 'disputed', 'refuse', 'refuse', 'goes back'],
  ['same', 'proven', 'proven', 'refunded', 'sell', 'sell', 'buys'],
  // A self-nomination whose person staff merged with the other one, or whose person a link names.
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
  // A stranger who typed the name and email of a member, or the member themselves without their code.
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

const nobody: Holdings = {
  holdsMembership: false,
  holdsUpgrade: false,
  isMemberAtHubspot: false,
  isMadeByJoin: false,
  hasPaidProven: false,
};

const bools = [false, true];
/**
 * Every combination of facts about a person, and whether somebody with a code, the joiner and staff are told that the person is a
 * member.
 */
const answers = bools.flatMap((isMadeByJoin) =>
  bools.flatMap((hasPaidProven) =>
    bools.flatMap((isMemberAtHubspot) =>
      bools.map((holdsMembership) => {
        const person = { ...nobody, isMadeByJoin, hasPaidProven, isMemberAtHubspot, holdsMembership };
        const is = (['code', 'joiner', 'staff'] as const).filter((asker) => isMember(person, asker));
        return `${isMadeByJoin ? 'made by a join' : 'known'}${hasPaidProven ? ', proven' : ''}${isMemberAtHubspot ? ', HubSpot' : ''}${holdsMembership ? ', holds' : ''}: ${is.join(' ')}`;
      }),
    ),
  ),
);

test('who is a member depends on who asks, only of a contact that a join made', () => {
  assert.deepEqual(answers, [
    'known: ',
    'known, holds: code joiner staff',
    'known, HubSpot: code joiner staff',
    'known, HubSpot, holds: code joiner staff',
    'known, proven: ',
    'known, proven, holds: code joiner staff',
    'known, proven, HubSpot: code joiner staff',
    'known, proven, HubSpot, holds: code joiner staff',
    'made by a join: ',
    'made by a join, holds: joiner staff',
    'made by a join, HubSpot: code staff',
    'made by a join, HubSpot, holds: code joiner staff',
    'made by a join, proven: ',
    'made by a join, proven, holds: code joiner staff',
    'made by a join, proven, HubSpot: code staff',
    'made by a join, proven, HubSpot, holds: code joiner staff',
  ]);
  assert.equal(isMember(null, 'staff'), false);
});

test('HubSpot is asked again only of those who hold nothing', () => {
  assert.equal(isMemberByHubspotAlone(null), false);
  assert.equal(isMemberByHubspotAlone(nobody), false);
  assert.equal(isMemberByHubspotAlone({ ...nobody, isMemberAtHubspot: true }), true);
  assert.equal(isMemberByHubspotAlone({ ...nobody, isMemberAtHubspot: true, holdsMembership: true }), false);
});

test('the base of an upgrade is lost only if it was bought here and nothing has replaced it', () => {
  const lost = { isHeldByJoin: false, wasBoughtHere: true, holdings: nobody };
  assert.equal(baseOf(lost), 'lost');
  assert.equal(baseOf({ ...lost, holdings: null }), 'lost');
  assert.equal(baseOf({ ...lost, wasBoughtHere: false }), 'unknown');
  assert.equal(baseOf({ ...lost, isHeldByJoin: true, holdings: null }), 'held');
  assert.equal(baseOf({ ...lost, holdings: { ...nobody, holdsMembership: true } }), 'held');
  assert.equal(baseOf({ ...lost, holdings: { ...nobody, isMemberAtHubspot: true } }), 'held');
});

test('a membership is for those who are no members, and an upgrade for members who have none', () => {
  const member = { ...nobody, holdsMembership: true };
  assert.equal(saleRefusal('membership', nobody, 'joiner'), null);
  assert.equal(saleRefusal('membership', member, 'joiner'), 'held already');
  assert.equal(saleRefusal('membership_upgrade', nobody, 'joiner'), 'not a member');
  assert.equal(saleRefusal('membership_upgrade', member, 'joiner'), null);
  assert.equal(saleRefusal('membership_upgrade', { ...member, holdsUpgrade: true }, 'code'), 'held already');
  // An upgrade link works for somebody who is not proven, but a code of theirs still sells a membership.
  const unproven = { ...member, isMadeByJoin: true };
  assert.equal(saleRefusal('membership', unproven, 'code'), null);
  assert.equal(saleRefusal('membership_upgrade', unproven, 'code'), null);
  assert.equal(orderRefusal([{ type: 'store' }, { type: 'membership_upgrade' }], nobody), 'not a member');
  assert.equal(orderRefusal([{ type: 'donation' }], member), null);
});

test('of two persons what both hold is told for each join of the first, with the joins of the other', () => {
  const held = (uuid: string, ...types: Held['type'][]) => types.map((type) => ({ uuid, type }));
  const mine = held('mine', 'membership', 'membership_upgrade');
  assert.deepEqual(twiceHeld(held('mine', 'membership'), held('theirs', 'membership_upgrade')), []);
  assert.deepEqual(twiceHeld(mine, held('theirs', 'membership_upgrade')), [
    { uuid: 'mine', types: ['membership_upgrade'], others: ['theirs'] },
  ]);
  assert.deepEqual(twiceHeld(mine, [...held('one', 'membership'), ...held('other', 'membership_upgrade')]), [
    { uuid: 'mine', types: ['membership', 'membership_upgrade'], others: ['one', 'other'] },
  ]);
  const apart = [...held('mine', 'membership'), ...held('link', 'membership_upgrade')];
  const theirs = held('theirs', 'membership', 'membership_upgrade');
  assert.deepEqual(twiceHeld(apart, theirs), [
    { uuid: 'mine', types: ['membership'], others: ['theirs'] },
    { uuid: 'link', types: ['membership_upgrade'], others: ['theirs'] },
  ]);
});
