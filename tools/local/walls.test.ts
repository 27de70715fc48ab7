import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wallFaults } from './walls.ts';

const allowed = { payments: ['session'], session: ['platform'] };
const files = [
  { path: 'apps/server/payments/a.ts', text: "import { b } from '../session/b.ts';" },
  { path: 'apps/server/session/b.ts', text: "const c = await import('../platform/http/c.ts');" },
  { path: 'apps/server/main.ts', text: "import { a } from './payments/a.ts';" },
];

test('imports along arrows that are written down pass, and files at the top import any room', () => {
  assert.deepEqual(wallFaults(files, allowed), []);
});

test('an import that nobody wrote down is told with its file, from a deeper folder too', () => {
  const back = {
    path: 'apps/server/platform/http/c.ts',
    text: "import type { A } from '../../payments/a.ts';",
  };
  assert.deepEqual(wallFaults([...files, back], allowed), [
    'apps/server/platform/http/c.ts: platform does not import payments. If it should, write the arrow down in tools/local/walls.ts.',
  ]);
});

test('a room does not import a file at the top, not even a type', () => {
  const path = 'apps/server/session/b.ts';
  assert.deepEqual(wallFaults([...files, { path, text: "import type { D } from '../deps.ts';" }], allowed), [
    'apps/server/session/b.ts: only files at the top of the server import deps.ts.',
  ]);
});

test('arrows that lead back, however far around, do not pass', () => {
  const faults = wallFaults(files, { ...allowed, platform: ['payments'] });
  assert.deepEqual(
    faults.filter((fault) => /leads back/.test(fault)),
    [
      'The arrow from payments to session leads back to payments.',
      'The arrow from session to platform leads back to session.',
      'The arrow from platform to payments leads back to platform.',
    ],
  );
});

test('an arrow that nobody needs any more is told', () => {
  assert.deepEqual(wallFaults(files, { ...allowed, payments: ['session', 'platform'] }), [
    'The arrow from payments to platform is not needed any more.',
  ]);
});

test('the server does not import the command line, not even at its top', () => {
  const path = 'apps/server/main.ts';
  assert.deepEqual(wallFaults([...files, { path, text: "import { d } from '../staff/d.ts';" }], allowed), [
    'apps/server/main.ts: the server does not import the command line.',
  ]);
});
