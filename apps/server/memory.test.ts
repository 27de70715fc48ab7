import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteUsedUp } from './memory.ts';

const MIB = 1_048_576;

test('of buffers that are used up no more than 4 MiB wait, however little each upload had', () => {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  // As five uploads of 5 MiB each, from a socket.
  for (let chunk = 0; chunk < 5 * 80; chunk++) {
    noteUsedUp(Buffer.allocUnsafeSlow(65_536).length);
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  assert.ok(most <= 5 * MIB, `${(most / MIB).toFixed(1)} MiB`);
});
