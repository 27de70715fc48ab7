import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NO_ANSWER, sentenceOfProxy, UNSENT_TOAST } from '#core/sentences.ts';
import { createClient, type FailureToast } from './client.ts';
import { ApiError, Unsent } from './failures.ts';
import { PATIENCE_MS } from './within.ts';

/** Makes the network answer with this response. Returns the client's `call`, and the toasts that it shows. */
function answering(t: TestContext, response: () => Response) {
  const shown: FailureToast[] = [];
  t.mock.method(globalThis, 'fetch', async () => response());
  const showFailure = (toast: FailureToast) => void shown.push(toast);
  const { call } = createClient({ apiUrl: () => '', showFailure, redirectTo: (path) => path });
  return { call, shown };
}

/** A response whose body begins and then fails with this error. */
function cut(error: Error): Response {
  const begin = new TextEncoder().encode('{"success":true,');
  let isBegun = false;
  return new Response(
    new ReadableStream({
      pull(body) {
        if (isBegun) body.error(error);
        else body.enqueue(begin);
        isBegun = true;
      },
    }),
  );
}

const details = { params: { uuid: '11111111-1111-4111-8111-111111111111' } };

test('an answer that breaks off is one that did not arrive', async (t) => {
  const { call, shown } = answering(t, () => cut(new TypeError('network error')));
  await assert.rejects(call('getCheckoutDetails', details), Unsent);
  assert.deepEqual(shown, [UNSENT_TOAST]);
});

test('a call that is aborted while its answer arrives shows nothing', async (t) => {
  const left = new AbortController();
  const { call, shown } = answering(t, () => {
    left.abort();
    return cut(new DOMException('aborted', 'AbortError'));
  });
  await assert.rejects(call('getCheckoutDetails', { ...details, signal: left.signal }), Unsent);
  assert.deepEqual(shown, []);
});

test('a call that is never answered ends with a sentence', async (t) => {
  const { call, shown } = answering(t, () => cut(new TypeError('never read')));
  t.mock.method(globalThis, 'fetch', () => new Promise(() => {}));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calling = call('getCheckoutDetails', details);
  t.mock.timers.tick(PATIENCE_MS);
  await assert.rejects(calling, (error) => error instanceof Unsent && error.userMessage === NO_ANSWER);
  assert.deepEqual(shown, [UNSENT_TOAST]);
});

for (const status of [200, 502])
  test(`a page that something else answers with status ${status} is told as such`, async (t) => {
    const { call, shown } = answering(t, () => new Response('<html></html>', { status }));
    await assert.rejects(call('getCheckoutDetails', details), ApiError);
    assert.deepEqual(
      shown.map(({ text }) => text),
      [sentenceOfProxy(status)],
    );
  });
