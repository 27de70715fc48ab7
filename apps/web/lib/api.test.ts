import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Site } from '#contract/schemas.ts';
import { NO_ANSWER, sentenceOfProxy, UNSENT_TOAST } from '#core/sentences.ts';
import { ApiError, call, Unsent } from './api.ts';
import { setSite } from './site.ts';
import { setToaster, type ToastMessage } from './toasts.ts';
import { PATIENCE_MS } from './within.ts';

/** Lets the network answer with this response, and returns the toasts that are shown. */
function answering(t: TestContext, response: () => Response): ToastMessage[] {
  const shown: ToastMessage[] = [];
  setSite({ apiUrl: '' } as Site);
  setToaster(async () => ({ showToast: async (toast) => void shown.push(toast) }));
  t.mock.method(globalThis, 'fetch', async () => response());
  return shown;
}

/** A response whose body begins, and then breaks off with this error. */
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
  const shown = answering(t, () => cut(new TypeError('network error')));
  await assert.rejects(call('getCheckoutDetails', details), Unsent);
  assert.deepEqual(shown, [{ kind: 'error', ...UNSENT_TOAST }]);
});

test('a call that is aborted while its answer arrives shows nothing', async (t) => {
  const left = new AbortController();
  const shown = answering(t, () => {
    left.abort();
    return cut(new DOMException('aborted', 'AbortError'));
  });
  await assert.rejects(call('getCheckoutDetails', { ...details, signal: left.signal }), Unsent);
  assert.deepEqual(shown, []);
});

test('a call that is never answered ends with a sentence', async (t) => {
  const shown = answering(t, () => cut(new TypeError('never read')));
  t.mock.method(globalThis, 'fetch', () => new Promise(() => {}));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calling = call('getCheckoutDetails', details);
  t.mock.timers.tick(PATIENCE_MS);
  await assert.rejects(calling, (error) => error instanceof Unsent && error.userMessage === NO_ANSWER);
  assert.deepEqual(shown, [{ kind: 'error', ...UNSENT_TOAST }]);
});

for (const status of [200, 502])
  test(`a page that something else answers with status ${status} is told as such`, async (t) => {
    const shown = answering(t, () => new Response('<html></html>', { status }));
    await assert.rejects(call('getCheckoutDetails', details), ApiError);
    assert.deepEqual(
      shown.map(({ text }) => text),
      [sentenceOfProxy(status)],
    );
  });
