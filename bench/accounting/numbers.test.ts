import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentile, slopeOf, spreadOf } from './numbers.ts';
import { quietOnes, spreadBy } from './rounds.ts';

test('the median of an even count is the mean of the two in the middle', () => {
  assert.deepEqual(spreadOf([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4, count: 4 });
  assert.equal(spreadOf([5, 1, 3]).median, 3);
});

test('the 99th of a hundred is the 99th percentile, and of a few the largest', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  assert.equal(percentile(hundred, 0.99), 99);
  assert.equal(percentile([1, 2, 3], 0.99), 3);
});

test('what grows by two for each one has a slope of two', () => {
  assert.equal(slopeOf([0, 1, 2, 3].map((x) => ({ x, y: 7 + 2 * x }))), 2);
});

const round = (value: number, other: number) => ({ value, other });
const otherOf = ({ other }: { other: number }) => [other];

test('a round that other programs disturbed does not count', () => {
  const rounds = quietOnes([round(1, 0.1), round(100, 0.9), round(3, 0.2)], otherOf);
  assert.deepEqual([rounds.isNoisy, rounds.kept.length], [false, 2]);
  assert.equal(spreadBy(rounds, ({ value }) => value).max, 3);
});

test('with fewer than two quiet rounds all count, and it is said', () => {
  const rounds = quietOnes([round(1, 0.1), round(100, 0.9), round(3, 0.8)], otherOf);
  assert.deepEqual([rounds.isNoisy, rounds.kept.length], [true, 3]);
});

test('one round that was quiet is enough when no more were asked for', () => {
  assert.equal(quietOnes([round(1, 0.1)], otherOf).isNoisy, false);
});
