import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { quietRounds } from './compare.ts';
import { percentile, spreadOf } from './numbers.ts';
import { keepSection } from './report.ts';

test('the median of an even count is the mean of the two in the middle', () => {
  assert.deepEqual(spreadOf([4, 1, 3, 2]), { median: 2.5, min: 1, max: 4, count: 4 });
});

test('the 99th of a hundred is the 99th percentile, and of a few the largest', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  assert.equal(percentile(hundred, 0.99), 99);
  assert.equal(percentile([1, 2, 3], 0.99), 3);
});

test('a round that other programs disturbed does not count, unless too few were quiet', () => {
  const kept = (otherCores: number[]) => quietRounds(otherCores, (cores) => cores).kept;
  assert.deepEqual(kept([0.1, 0.9, 0.2]), [0.1, 0.2]);
  assert.deepEqual(kept([0.1, 0.9, 0.8]), [0.1, 0.9, 0.8]);
});

test('a benchmark run alone replaces its own section, and the others stay', (t) => {
  const file = join(temporaryFolder(t), 'results.md');
  writeFileSync(file, '# Results\n\nAll budgets were met.\n\n## Cluster\n');
  keepSection(file, 'uploads', '## Uploads\n\nold');
  keepSection(file, 'server', '## Server\n\n| a | b |');
  keepSection(file, 'uploads', '## Uploads\n\nnew, with $& and $1');
  const text = readFileSync(file, 'utf8');
  assert.deepEqual(text.match(/^## .*$/gm), ['## Server', '## Uploads', '## Cluster']);
  assert.match(text, /\| a \| b \|/);
  assert.match(text, /new, with \$& and \$1/);
  assert.doesNotMatch(text, /old|were met/);
});
