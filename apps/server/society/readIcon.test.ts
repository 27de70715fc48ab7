import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { societyFile } from '../../../tests/harness/standIns.ts';
import { readIcon } from './readIcon.ts';
import { SocietyFaults } from './readSociety.ts';

const sound = readFileSync(join(societyFile, '../icon.png'));

function ofSize(width: number, height: number): Buffer {
  const icon = Buffer.from(sound);
  icon.writeUInt32BE(width, 16);
  icon.writeUInt32BE(height, 20);
  return icon;
}

for (const [what, content, is] of [
  ['that is missing', null, 'cannot be read'],
  ['of another kind', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is not a PNG'],
  ['that is empty', Buffer.alloc(0), 'is not a PNG'],
  ['that was cut off', sound.subarray(0, 1000), 'is not complete'],
  ['that is not square', ofSize(300, 200), 'is 300 by 200 pixels'],
  ['that is too small for home screens', ofSize(48, 48), 'is 48 by 48 pixels'],
  ['of a poster', ofSize(4000, 4000), 'is 4000 by 4000 pixels'],
  [
    'that no letter should carry',
    Buffer.concat([sound.subarray(0, 33), Buffer.alloc(100_000), sound.subarray(33)]),
    'has 104 kB',
  ],
] as const)
  test(`an icon ${what} is refused with a sentence that names its file and says what it must be`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'induct-icon-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'icon.png');
    if (content) writeFileSync(file, content);
    assert.throws(() => readIcon(join(folder, 'society.yaml')), {
      constructor: SocietyFaults,
      message: `${file} ${is}. The icon of tabs, home screens and letters must be a square PNG of 180 to 1024 pixels and at most 100 kB`,
    });
  });

test('the icons of both example societies are as they must be', () => {
  assert.deepEqual(readIcon(societyFile), sound);
  assert.notDeepEqual(readIcon(join(societyFile, '../examples/meridian.yaml')), sound);
});
