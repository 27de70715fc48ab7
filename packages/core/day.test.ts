import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayInWords, daysLater, isDay } from './day.ts';

test('a day is one of the calendar, from 1900 to 2999', () => {
  for (const text of ['1900-01-01', '2028-02-29', '2999-12-31']) assert.ok(isDay(text), text);
  for (const text of [
    '',
    'foo',
    '0000-01-01',
    '1899-12-31',
    '3000-01-01',
    '2027-02-29',
    '2027-1-1',
    '2027-01-01\0',
  ])
    assert.ok(!isDay(text), text);
});

test('a day is written in words, and as an earlier server sends it, with a time', () => {
  for (const [day, words] of [
    ['2026-01-05', 'January 5, 2026'],
    ['2026-11-23', 'November 23, 2026'],
    ['2026-12-31T23:59:00.000Z', 'December 31, 2026'],
  ] as const)
    assert.equal(dayInWords(day), words);
});

test('days later are those of the calendar', () => {
  assert.equal(daysLater('2028-02-27', 3), '2028-03-01');
  assert.equal(daysLater('2026-12-30', 5), '2027-01-04');
});
