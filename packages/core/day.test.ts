import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDay } from './day.ts';

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
