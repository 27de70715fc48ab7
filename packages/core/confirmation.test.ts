import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Confirmation, confirmationOf, type PaymentFacts } from './confirmation.ts';
import type { MembershipStanding } from './refunds.ts';

const nothing = {
  holdsMembership: false,
  holdsUpgrade: false,
  isMemberAtHubspot: false,
  isMadeByJoin: false,
  hasPaidProven: false,
};
const first: PaymentFacts = {
  kind: 'join',
  bought: 'membership',
  isAsShown: true,
  status: 'open',
  hasMembership: false,
  hasEarlier: false,
  contactId: '101',
  isProven: true,
  held: [],
  isHeldByJoin: false,
  holdings: nothing,
  madeAgain: null,
};
const upgrade: PaymentFacts = {
  ...first,
  kind: 'upgrade',
  bought: 'membership_upgrade',
  held: [{ type: 'membership', isProven: true }],
  isHeldByJoin: true,
};

/**
 * Returns the facts of a payment that is made again after a restore. `standing` is the membership's standing after Stripe's
 * refunds.
 */
const again = (facts: PaymentFacts, standing: MembershipStanding, isReturned = false): PaymentFacts => ({
  ...facts,
  status: null,
  madeAgain: { isReturned, standing, paidAt: new Date(0) },
});
const heldByAnother: PaymentFacts = { ...first, held: [{ type: 'membership', isProven: true }] };
const madeAgain: [string, PaymentFacts, Confirmation['is']][] = [
  ['one that is made again', again(first, 'active'), 'wanted'],
  ['one that is made again and was given back as a second one', again(first, 'refunded', true), 'unwanted'],
  ['one that is made again beside another one that is held', again(heldByAnother, 'active'), 'unwanted'],
  ['the same while it is disputed', again(heldByAnother, 'disputed'), 'unwanted'],
  ['one that is made again and was refunded before the next', again(heldByAnother, 'refunded'), 'wanted'],
  ['one that is made again and was charged back', again(heldByAnother, 'charged_back'), 'wanted'],
  [
    'a second one of the same join that is made again, whatever went back of it',
    again({ ...first, hasEarlier: true }, 'refunded'),
    'unwanted',
  ],
  [
    'an upgrade that is made again after its membership has ended',
    again({ ...upgrade, isProven: true, held: [], isHeldByJoin: false }, 'active'),
    'wanted',
  ],
  [
    'a payment that is confirmed already, whatever is made again',
    { ...again(first, 'refunded', true), status: 'succeeded', hasMembership: true },
    'confirmed already',
  ],
];

const cases: [string, PaymentFacts, Confirmation['is']][] = [
  ['a first payment', first, 'wanted'],
  ['one of another amount than was shown', { ...first, isAsShown: false }, 'another amount'],
  [
    'one of another amount that goes back already',
    { ...first, isAsShown: false, status: 'duplicate' },
    'given back already',
  ],
  ['one whose row a crash kept from being written', { ...first, status: null }, 'wanted'],
  ['one that was cancelled here before Stripe said otherwise', { ...first, status: 'canceled' }, 'wanted'],
  [
    'one that is told a second time',
    { ...first, status: 'succeeded', hasMembership: true },
    'confirmed already',
  ],
  [
    'one that is told again when its contact holds what it bought',
    { ...first, status: 'succeeded', hasMembership: true, held: [{ type: 'membership', isProven: true }] },
    'confirmed already',
  ],
  [
    'one that is told again by a database that knows of another amount on the screen',
    { ...first, status: 'succeeded', hasMembership: true, isAsShown: false },
    'confirmed already',
  ],
  ['one that was found to be a duplicate', { ...first, status: 'duplicate' }, 'given back already'],
  ['one that succeeded and bought nothing yet', { ...first, status: 'succeeded' }, 'wanted'],
  [
    'one that was written off, its membership void, and that Stripe took after all',
    { ...first, status: 'canceled', hasMembership: true },
    'wanted',
  ],
  ['a second one of the same join', { ...first, hasEarlier: true }, 'unwanted'],
  [
    'one whose contact is a member by another join',
    { ...first, held: [{ type: 'membership', isProven: true }] },
    'unwanted',
  ],
  ['one of nobody known', { ...first, contactId: null, isProven: true, held: [] }, 'wanted'],
  ['an upgrade of a membership that is held', upgrade, 'wanted'],
  [
    'an upgrade of a membership that has ended',
    { ...upgrade, isHeldByJoin: false, holdings: { ...nothing, holdsMembership: true } },
    'unwanted',
  ],
  [
    'an upgrade that the contact has already',
    {
      ...upgrade,
      held: [
        { type: 'membership', isProven: true },
        { type: 'membership_upgrade', isProven: true },
      ],
    },
    'unwanted',
  ],
  [
    'an upgrade sold to a member by a link, as a join of its own',
    {
      ...first,
      bought: 'membership_upgrade',
      held: [{ type: 'membership', isProven: true }],
      holdings: { ...nothing, holdsMembership: true },
    },
    'wanted',
  ],
  [
    'an upgrade sold by a link to who is no member any more',
    { ...first, bought: 'membership_upgrade', isProven: true, held: [] },
    'unwanted',
  ],
  ...madeAgain,
];
for (const [what, facts, expected] of cases)
  test(`${what}: ${expected}`, () => {
    assert.equal(confirmationOf(facts).is, expected);
  });

const reasons: [string, PaymentFacts, string][] = [
  [
    'a join paid twice',
    { ...first, hasEarlier: true },
    'was a second one for a membership that this join has already paid for.',
  ],
  [
    'an upgrade paid twice',
    { ...upgrade, hasEarlier: true },
    'was a second one for a membership upgrade that this join has already paid for.',
  ],
  [
    'a member who joined again',
    { ...first, held: [{ type: 'membership', isProven: true }] },
    'was for a membership that contact 101 already holds by another join.',
  ],
  [
    'an upgrade that another join bought',
    { ...upgrade, held: [{ type: 'membership_upgrade', isProven: true }] },
    'was for a membership upgrade that contact 101 already holds by another join.',
  ],
  [
    'an upgrade whose membership has ended',
    { ...upgrade, isHeldByJoin: false, holdings: { ...nothing, holdsMembership: true } },
    'was for the upgrade of a membership that has ended meanwhile.',
  ],
  [
    'an upgrade that a link sold to who is no member',
    { ...first, bought: 'membership_upgrade' },
    'was for the upgrade of somebody who is not a member.',
  ],
  [
    'an upgrade that a link sold twice',
    { ...first, bought: 'membership_upgrade', hasEarlier: true },
    'was a second one for a membership upgrade that this join has already paid for.',
  ],
];
for (const [what, facts, why] of reasons)
  test(`staff are told of ${what}: it ${why}`, () => {
    assert.deepEqual(confirmationOf(facts), { is: 'unwanted', why });
  });
