import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { defaultFieldRules } from '#core/crmFields.ts';
import { reportNothing } from '../../providers/trouble.ts';
import { noBudget } from './budget.ts';
import { type HubspotClient, hubspotClient } from './client.ts';

const MIB = 1_048_576;
const SIZE = 32 * MIB;

/** Collects unhandled rejections. In a server, an unhandled rejection would end the process. */
const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

async function listening(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a document of which half has arrived from a bucket; `cut` breaks the connection to the bucket. */
async function document(t: TestContext): Promise<{ bytes: Readable; cut: () => void }> {
  let cut = () => {};
  const url = await listening(t, (request, response) => {
    response.writeHead(200, { 'content-length': SIZE });
    response.write(Buffer.alloc(SIZE / 2));
    cut = () => request.socket.destroy();
  });
  const [bytes] = (await once(get(url), 'response')) as [Readable];
  return { bytes, cut: () => cut() };
}

function clientOf(url: string): HubspotClient {
  return hubspotClient(
    { url, accessToken: 'token', apiVersion: '2026-09' },
    defaultFieldRules,
    noBudget,
    'background',
    reportNothing,
  );
}

const upload = (url: string, bytes: Readable) =>
  clientOf(url).uploadFile({ path: '/induct/t.jpg', mediaType: 'image/jpeg', sizeBytes: SIZE, bytes });

async function assertAlive(bytes: Readable): Promise<void> {
  if (!bytes.closed) await once(bytes, 'close');
  await turn();
  assert.deepEqual(unhandled, []);
}

for (const [what, answer] of [
  ['hangs up', (request) => request.once('data', () => request.socket.destroy())],
  ['refuses it', (_, response) => response.writeHead(413).end('{"message":"too large"}')],
  [
    'refuses it and hangs up',
    (request, response) => response.writeHead(413).end('{}', () => request.socket.destroy()),
  ],
] as [string, RequestListener][])
  test(`while HubSpot ${what} in the middle of a document, the call fails, and nothing else does`, async (t) => {
    const { bytes } = await document(t);
    await assert.rejects(upload(await listening(t, answer), bytes), { name: 'Error' });
    assert.ok(bytes.destroyed);
    await assertAlive(bytes);
  });

test('while the bucket hangs up in the middle of a document, the call fails by that, and nothing else does', async (t) => {
  const { bytes, cut } = await document(t);
  const url = await listening(t, (request) =>
    request
      .once('data', cut)
      .resume()
      .on('error', () => {}),
  );
  await assert.rejects(upload(url, bytes), { code: 'ECONNRESET' });
  await assertAlive(bytes);
});
