import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteOfRefund } from './sentences.ts';

const returned = { amount: 4500, isReturned: true, isWithStaff: false };

// When an upgrade could not be sold, there may be no earlier payment for one, so its payment is not called a second one.
for (const [what, refund, sentence] of [
  [
    'of another amount',
    { ...returned, kind: 'join', why: 'other_amount', amount: 56_500 },
    'We received a payment of $565.00, which was not the amount of your order, and have refunded it in full.',
  ],
  [
    'for an upgrade of another amount, which is not returned yet',
    { ...returned, kind: 'upgrade', why: 'other_amount', isReturned: false },
    'We received a payment of $45.00, which was not the amount of your order, and are refunding it in full.',
  ],
  [
    'for a membership that was paid for',
    { ...returned, kind: 'join', why: 'held' },
    'We received a second payment of $45.00 for this membership, and have refunded it in full.',
  ],
  [
    'for an upgrade that was held',
    { ...returned, kind: 'upgrade', why: 'held' },
    'We received a payment of $45.00 for an upgrade that was no longer available, and have refunded it in full.',
  ],
  [
    'that staff look into',
    { ...returned, kind: 'join', why: 'held', isWithStaff: true },
    'We received a second payment of $45.00 for this membership. It has not been refunded yet: we are looking into it and will write to you.',
  ],
] as const)
  test(`a payment ${what} is told for what it was`, () => assert.equal(noteOfRefund(refund), sentence));
