import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { callDesk } from './deskClient.ts';
import { ApiError, Unsent } from './failures.ts';

/** Makes the network answer with this response. Returns the URLs and bodies of the requests that are sent. */
function answering(t: TestContext, respond: () => Response) {
  const sent: [string, unknown][] = [];
  t.mock.method(globalThis, 'fetch', async (url: string, { body }: RequestInit) => {
    sent.push([url, body]);
    return respond();
  });
  return sent;
}

const json = (status: number, value: unknown) => new Response(JSON.stringify(value), { status });

test('a call of the desk sends its parameters and body, and returns the data', async (t) => {
  const data = { rows: [], next: null };
  const sent = answering(t, () => json(200, { success: true, status: 'success', data }));
  assert.deepEqual(await callDesk('searchPeople', { body: { text: 'Rivera' } }), data);
  await callDesk('getPerson', { params: { id: '12' } });
  assert.deepEqual(sent, [
    ['/api/desk/people/search', '{"text":"Rivera"}'],
    ['/api/desk/people/12', undefined],
  ]);
});

test('a refusal has the server’s sentence and reference, and what is no answer of ours is a failure', async (t) => {
  const answers: [Response, number, string | undefined][] = [
    [
      json(401, { success: false, message: 'You are signed out.', reference: '1a2b3c4d' }),
      401,
      'You are signed out.',
    ],
    [
      new Response('<html>', { status: 502 }),
      502,
      'We cannot be reached right now. Please try again in a minute.',
    ],
    [json(200, {}), 200, undefined],
  ];
  let next = 0;
  answering(t, () => answers[next]![0]);
  for (; next < answers.length; next++) {
    const error = await callDesk('getMe').catch((caught: unknown) => caught);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.userMessage], answers[next]!.slice(1));
  }
});

test('a request without an answer is unsent', async (t) => {
  answering(t, () => {
    throw new TypeError('offline');
  });
  await assert.rejects(callDesk('getToday'), Unsent);
});
