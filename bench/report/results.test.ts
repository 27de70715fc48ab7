import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../local/testing/temporaryFolder.ts';
import { keepSection } from './results.ts';

test('a benchmark run alone replaces its own section, and all stand in their order', (t) => {
  const file = join(temporaryFolder(t), 'results.md');
  keepSection(file, 'uploads', '## Uploads\n\nold');
  keepSection(file, 'server', '## Server\n\n| a | b |');
  keepSection(file, 'uploads', '## Uploads\n\nnew, with $& and $1');
  const text = readFileSync(file, 'utf8');
  assert.deepEqual(text.match(/^## .*$/gm), ['## Server', '## Uploads']);
  assert.match(text, /\| a \| b \|/);
  assert.match(text, /new, with \$& and \$1/);
  assert.doesNotMatch(text, /old/);
});

test('writing a section again changes nothing', (t) => {
  const file = join(temporaryFolder(t), 'results.md');
  keepSection(file, 'server', '## Server');
  keepSection(file, 'soak', '## Soak');
  const before = readFileSync(file, 'utf8');
  keepSection(file, 'server', '## Server');
  assert.equal(readFileSync(file, 'utf8'), before);
});

test('words between the sections that nobody measured do not stay', (t) => {
  const file = join(temporaryFolder(t), 'results.md');
  writeFileSync(file, '# Results\n\nAll targets were met.\n');
  keepSection(file, 'server', '## Server');
  assert.doesNotMatch(readFileSync(file, 'utf8'), /were met/);
});
