import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { settingNames } from './settings.ts';

test('every setting that the server reads is documented', () => {
  const root = resolve(import.meta.dirname, '../..');
  const reference = readFileSync(join(root, 'docs/reference.md'), 'utf8');
  const names = settingNames();
  assert.ok(names.includes('PUBLIC_URL') && names.includes('LINK_SECRET_ALSO'), `${names}`);
  // The commands that start stand-ins set the `…_EMULATOR_…` settings by themselves, so docs/reference.md need not name these.
  const documented = names.filter((name) => !/_EMULATOR_/.test(name));
  assert.deepEqual(
    documented.filter((name) => !reference.includes(`\`${name}\``)),
    [],
  );
});
