import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Late, PATIENCE_MS, within } from './within.ts';

test('work that never ends is late after a minute, and its signal is aborted', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let given: AbortSignal | undefined;
  const waiting = within((signal) => {
    given = signal;
    return new Promise(() => {});
  });
  t.mock.timers.tick(PATIENCE_MS - 1);
  assert.equal(given?.aborted, false);
  t.mock.timers.tick(1);
  await assert.rejects(waiting, Late);
  assert.equal(given?.aborted, true);
});

test('work is aborted with the outer signal, before it or while it runs, and its own failure is passed on', async () => {
  for (const isEarly of [true, false]) {
    const outer = new AbortController();
    if (isEarly) outer.abort();
    const failing = within(async (signal) => {
      outer.abort();
      signal.throwIfAborted();
    }, outer.signal);
    await assert.rejects(failing, { name: 'AbortError' });
  }
  assert.equal(await within(async () => 7), 7);
});
