import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from './poll.ts';

test('a poll ends with the answer it waits for, with its last delay, or when the page is left', async () => {
  const answers = ['processing', 'processing', 'succeeded', 'too late'];
  const isOver = (answer: string | undefined) => answer !== 'processing';
  assert.equal(
    await poll(
      async (tries) => answers[tries],
      isOver,
      () => 0,
    ),
    'succeeded',
  );
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return 'processing';
  };
  assert.equal(await poll(ask, isOver, (tries) => [0, 0][tries]), 'processing');
  assert.equal(asked, 3);
  const left = new AbortController();
  left.abort();
  await poll(ask, isOver, () => 0, { signal: left.signal });
  assert.equal(asked, 4);
});

test('a poll asks at once when its page is shown again, not when it is hidden, and never after it was left', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const left = new AbortController();
  let asked = 0;
  const polling = poll(
    async () => (asked += 1),
    () => false,
    () => 1_000,
    { signal: left.signal, page: page as unknown as Document },
  );
  const turn = () => new Promise(setImmediate);
  await turn();
  for (const [visibilityState, times] of [
    ['hidden', 1],
    ['visible', 2],
  ] as const) {
    page.visibilityState = visibilityState;
    page.dispatchEvent(new Event('visibilitychange'));
    await turn();
    assert.equal(asked, times, visibilityState);
  }
  left.abort();
  assert.equal(await polling, 2);
  t.mock.timers.tick(1_000);
  await turn();
  assert.equal(asked, 2);
});
