import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysOf, lastMonth, monthsBefore, thisMonth, thisYear, today } from './periods.ts';

test('a period ends with the last day of its month or year', () => {
  assert.deepEqual(thisMonth('2028-02-10'), { from: '2028-02-01', to: '2028-02-29' });
  assert.deepEqual(lastMonth('2026-01-31'), { from: '2025-12-01', to: '2025-12-31' });
  assert.deepEqual(thisYear('2026-11-29'), { from: '2026-01-01', to: '2026-12-31' });
  assert.equal(
    daysOf({ from: '2026-02-27', to: '2026-03-02' }).join(),
    '2026-02-27,2026-02-28,2026-03-01,2026-03-02',
  );
});

test('months go back over the turn of a year', () => {
  assert.deepEqual(monthsBefore('2026-01-31', 2), [
    { value: '2026-01', label: 'January 2026' },
    { value: '2025-12', label: 'December 2025' },
  ]);
});

test('today is the day of the time zone', () => {
  const at = new Date('2026-11-30T03:00:00Z');
  assert.equal(today('America/Chicago', at), '2026-11-29');
  assert.equal(today('UTC', at), '2026-11-30');
});
