import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressPercent } from './upload.ts';

test('progress is a whole percent and never above 100', () => {
  assert.equal(progressPercent(1, 3), 33);
  assert.equal(progressPercent(2, 3), 67);
  assert.equal(progressPercent(5, 0), 0);
  assert.equal(progressPercent(7, 5), 100);
});
