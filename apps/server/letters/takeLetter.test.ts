import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LetterKind } from '#core/letterKinds.ts';
import { sampleLetter, sampleNow } from '../../../tests/harness/sampleLetters.ts';
import { holds, type Letter } from './takeLetter.ts';

const isSent = (kind: LetterKind, change: Partial<Letter> = {}) =>
  holds(sampleLetter(kind, change), sampleNow);
const paidAs = (status: NonNullable<Letter['payment']>['status']) => ({
  payment: { ...sampleLetter('confirmation').payment!, status },
});
const daysAgo = (days: number) => new Date(sampleNow.getTime() - days * 86_400_000);

test('a receipt is sent of what was paid, and a second payment is told while it is one', () => {
  for (const kind of ['confirmation', 'upgrade'] as const)
    for (const status of ['open', 'succeeded', 'canceled', 'duplicate'] as const)
      assert.equal(isSent(kind, paidAs(status)), status === 'succeeded', `${kind} ${status}`);
  for (const status of ['open', 'succeeded', 'canceled', 'duplicate'] as const)
    assert.equal(isSent('second-payment', paidAs(status)), status === 'duplicate', status);
});

test('a receipt is not sent when what was paid for has ended meanwhile', () => {
  for (const kind of ['confirmation', 'upgrade'] as const) {
    const payment = { ...sampleLetter(kind).payment!, isHeld: false };
    assert.equal(isSent(kind, { payment }), false, kind);
  }
  assert.equal(
    isSent('upgrade', { isMember: false }),
    true,
    'an upgrade by link, whose base is another join’s',
  );
});

test('a payment that failed is told to who has not paid since, by it or by another one', () => {
  const open = { state: 'ordering', ...paidAs('open') } as const;
  assert.equal(isSent('payment-failed', open), true);
  assert.equal(isSent('payment-failed', { ...open, ...paidAs('canceled') }), true);
  assert.equal(isSent('payment-failed', { ...open, state: 'paid' }), false);
  assert.equal(isSent('payment-failed', { ...open, ...paidAs('succeeded') }), false);
});

test('a refund is told when it is made', () => {
  const refund = { reason: 'requested' as const, amountCents: 500, lines: null };
  for (const status of ['due', 'pending', 'succeeded', 'failed', 'canceled'] as const)
    assert.equal(isSent('refund', { refund: { ...refund, status } }), status === 'succeeded', status);
});

test('a proof is asked for of a member who owes one, may still send it, and has days left', () => {
  assert.equal(isSent('proof-due'), true);
  assert.equal(isSent('proof-overdue'), true);
  assert.equal(isSent('proof-overdue', { hasProof: true }), false);
  assert.deepEqual(
    [29, 31].map((days) => isSent('proof-overdue', { paidAt: daysAgo(days) })),
    [false, true],
  );
  assert.equal(isSent('proof-due', { isMember: false }), false);
  assert.equal(isSent('proof-due', { hasProof: true }), false);
  assert.equal(isSent('proof-due', { isRejectedFinally: true }), false);
  assert.equal(isSent('proof-due', { paidAt: null }), false);
  assert.deepEqual(
    [29, 31].map((days) => isSent('proof-due', { paidAt: daysAgo(days) })),
    [true, false],
  );
});

test('what a membership brings is told while it is held', () => {
  for (const kind of ['certificate', 'portal'] as const)
    assert.deepEqual([isSent(kind), isSent(kind, { isMember: false })], [true, false]);
});

test('a decision is told while it stands, a final one by a letter of its own', () => {
  assert.equal(isSent('proof-accepted', { review: 'rejected' }), false);
  const first = { data: { reason: 'gpa', isFinal: false } };
  const last = { data: { reason: 'gpa', isFinal: true }, isRejectedFinally: true };
  assert.deepEqual([isSent('proof-rejected', first), isSent('proof-rejected', last)], [true, true]);
  assert.equal(isSent('proof-rejected', { ...first, isRejectedFinally: true }), false);
  assert.equal(isSent('proof-rejected', { ...first, review: 'accepted' }), false);
  assert.equal(isSent('proof-rejected', { ...first, hasProof: true }), false, 'another one has arrived');
  assert.equal(isSent('proof-rejected', { ...last, hasProof: true }), true);
  assert.equal(isSent('proof-rejected', { ...last, isRejectedFinally: false }), false);
});

test('a decision is not told of a membership that has ended, but for the final rejection that ended it', () => {
  const over = { hasEnded: true, isMember: false };
  assert.deepEqual([isSent('proof-accepted'), isSent('proof-accepted', over)], [true, false]);
  const data = { reason: 'unreadable', isFinal: false };
  assert.deepEqual(
    [isSent('proof-rejected', { data }), isSent('proof-rejected', { data, ...over })],
    [true, false],
  );
  const final = { data: { reason: 'unreadable', isFinal: true }, isRejectedFinally: true };
  assert.equal(isSent('proof-rejected', { ...final, ...over }), true);
});
