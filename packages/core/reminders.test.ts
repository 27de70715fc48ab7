import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLong } from '../../tests/harness/testLength.ts';
import { joinSessionStates } from './joinSession.ts';
import { judgeReminder, type LeftJoin, MOST_REMINDERS, reminderHours, reminderKinds } from './reminders.ts';

const now = new Date('2026-11-23T12:00:00Z');
const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
const left = (change: Partial<LeftJoin> = {}): LeftJoin => ({
  state: 'ordering',
  lastActivityAt: ago(2),
  hasAgreedToPolicies: true,
  isReminded: true,
  isProven: false,
  joiner: null,
  isEmailOfMember: false,
  others: [],
  isStopped: false,
  sentLately: 0,
  ...change,
});

test('each reminder is sent in its hours after the last activity, not before and not later', () => {
  for (const kind of reminderKinds) {
    const { from, to } = reminderHours[kind];
    assert.equal(judgeReminder(kind, left({ lastActivityAt: ago(from) }), now), 'send');
    assert.equal(judgeReminder(kind, left({ lastActivityAt: ago(to) }), now), 'send');
    assert.equal(judgeReminder(kind, left({ lastActivityAt: ago(to + 0.01) }), now), 'withdraw');
    assert.deepEqual(judgeReminder(kind, left({ lastActivityAt: ago(from - 0.5) }), now), ago(-0.5));
  }
});

test('a payment that is under way is waited for', () => {
  assert.deepEqual(judgeReminder('reminder-hour', left({ state: 'paying' }), now), ago(-1));
});

test('none is sent to whom nobody reminds, whenever it is; what is postponed is postponed into the future', () => {
  const anyJoin = fc.record({
    state: fc.constantFrom(...joinSessionStates),
    lastActivityAt: fc.double({ min: -1, max: 200, noNaN: true }).map(ago),
    hasAgreedToPolicies: fc.boolean(),
    isReminded: fc.boolean(),
    isProven: fc.boolean(),
    joiner: fc.option(
      fc.record({
        holdsMembership: fc.boolean(),
        holdsUpgrade: fc.boolean(),
        isMemberAtHubspot: fc.boolean(),
        isMadeByJoin: fc.boolean(),
        hasPaidProven: fc.boolean(),
      }),
    ),
    isEmailOfMember: fc.boolean(),
    others: fc.array(fc.record({ isProven: fc.boolean(), isPaid: fc.boolean(), isNewer: fc.boolean() }), {
      maxLength: 2,
    }),
    isStopped: fc.boolean(),
    sentLately: fc.nat(3),
  });
  const run = fc.property(fc.constantFrom(...reminderKinds), anyJoin, (kind, join) => {
    const verdict = judgeReminder(kind, join, now);
    const unwanted =
      !join.hasAgreedToPolicies ||
      !join.isReminded ||
      join.joiner?.holdsMembership ||
      join.isEmailOfMember ||
      join.others.some(({ isProven, isPaid, isNewer }) => isProven && (isPaid || isNewer)) ||
      join.isStopped ||
      join.state === 'paid' ||
      join.sentLately >= MOST_REMINDERS;
    if (unwanted) assert.equal(verdict, 'withdraw');
    if (verdict instanceof Date) assert.ok(verdict > now);
  });
  fc.assert(run, { numRuns: isLong ? 20_000 : 2_000 });
});

test('what an unproven join did withdraws no reminder to whoever is proven', () => {
  const paid = { isProven: false, isPaid: true, isNewer: false };
  const newer = { isProven: false, isPaid: false, isNewer: true };
  const judged = (isProven: boolean, others: LeftJoin['others']) =>
    judgeReminder('reminder-hour', left({ isProven, others }), now);
  assert.equal(judged(true, [paid, newer]), 'send');
  assert.equal(judged(true, [{ ...paid, isProven: true }]), 'withdraw');
  assert.equal(judged(false, [paid]), 'withdraw');
  assert.equal(judged(false, [newer]), 'withdraw');
  assert.equal(judged(false, [{ ...newer, isNewer: false }]), 'send');
});
