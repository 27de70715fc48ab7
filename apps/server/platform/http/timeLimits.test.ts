import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { calls } from '#contract/calls.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../../tests/harness/steps.ts';
import { browser, type Client, sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { buildApp } from '../../app.ts';
import { BUSY, levelOf } from './shedding.ts';
import { type TimeLimits, timeLimits } from './timeLimits.ts';

const server = await sharedServer();
const client = server.client();
const { uuid } = await paidJoin(server, client);
const path = `/api/public/join-session/${uuid}/upload-transcript`;

const NEVER_MS = 60_000;
const never: TimeLimits = {
  headersMs: NEVER_MS,
  bodyMs: NEVER_MS,
  uploadWindowMs: NEVER_MS,
  uploadWindowBytes: 1,
  restMs: NEVER_MS,
  idleMs: NEVER_MS,
  keepAliveMs: NEVER_MS,
};

/** Opens a connection to a server with only these time limits. Returns the socket and what the server sends on it. */
async function connectTo(t: TestContext, limits: Partial<TimeLimits>) {
  const app = await buildApp(server.deps, { times: { ...never, ...limits } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const arrived = once(app.server, 'connection') as Promise<[Socket]>;
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.on('error', () => {}).on('data', (chunk) => (answer += chunk));
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
  t.after(async () => {
    socket.destroy();
    await app.close();
  });
  const [theirs] = await arrived;
  return { socket, ended, theirs, answered: () => answer };
}

/** Writes `text` every `everyMs` (ms), like an attacker who keeps a connection occupied. */
function trickle(t: TestContext, socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.writable && socket.write(text), everyMs);
  t.after(() => clearInterval(timer));
}

const headOf = (method: string, to: string, headers: Record<string, string | number>) =>
  `${method} ${to} HTTP/1.1\r\nhost: induct\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
const fileStart =
  '--x\r\ncontent-disposition: form-data; name="file"; filename="t.pdf"\r\ncontent-type: application/pdf\r\n\r\n';
const fileEnd = '\r\n--x--\r\n';
const formHead = (length: number) =>
  headOf('POST', path, {
    cookie: client.cookie(),
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': length,
  });
const stored = () => (existsSync(server.documents) ? readdirSync(server.documents) : []);

test('a connection that says nothing is closed', async (t) => {
  const { ended } = await connectTo(t, { headersMs: 100 });
  await ended;
});

test('headers that never end are 408, however they trickle', async (t) => {
  const { socket, ended } = await connectTo(t, { headersMs: 100 });
  socket.write('GET /api/health HTTP/1.1\r\nhost: induct\r\n');
  trickle(t, socket, 'x-more: and more\r\n', 20);
  assert.match(await ended, /^HTTP\/1\.1 408 /);
});

test('the body of a call that never ends is 408 with a sentence, however it trickles', async (t) => {
  const { socket, ended } = await connectTo(t, { bodyMs: 100 });
  const head = { 'content-type': 'application/json', 'content-length': 60_000 };
  socket.write(headOf('POST', '/api/public/eligibility/check', head));
  trickle(t, socket, ' ', 20);
  const answer = await ended;
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.match(answer, /connection: close/i);
  assert.match(answer, /"message":"Your request did not arrive in time\. Please check/);
});

test('a body that never ends behind a call that needs none is answered, and its connection closed', async (t) => {
  const { socket, ended } = await connectTo(t, { restMs: 100 });
  socket.write(headOf('GET', '/api/health', { 'content-length': 60_000 }));
  trickle(t, socket, ' ', 20);
  assert.match(await ended, /^HTTP\/1\.1 200 /);
});

for (const [how, text] of [
  ['stops', ''],
  ['trickles', 'x'],
] as const)
  test(`an upload that ${how} is 408 with a sentence, and leaves nothing behind`, async (t) => {
    const files = stored();
    const { socket, ended } = await connectTo(t, { uploadWindowMs: 1000, uploadWindowBytes: 2000 });
    socket.write(formHead(1_000_000) + fileStart + pdf({ size: 100_000 }).toString('latin1'));
    if (text) trickle(t, socket, text, 20);
    const answer = await ended;
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(
      answer,
      /"message":"Your file stopped arriving\. Please check your connection, and send it again\."/,
    );
    assert.deepEqual(stored(), files);
  });

test('an upload that is slow and goes on is taken, though it takes longer than every limit', async (t) => {
  const limits = { bodyMs: 1000, restMs: 1000, uploadWindowMs: 1000, keepAliveMs: 100 };
  const { socket, ended, theirs } = await connectTo(t, { ...limits, uploadWindowBytes: 1000 });
  const body = Buffer.from(fileStart + pdf({ size: 100_000 }).toString('latin1') + fileEnd, 'latin1');
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  socket.write(formHead(body.length));
  // Sends the body in ten pieces, each within one window.
  const size = Math.ceil(body.length / 10);
  for (let at = 0; at < body.length; at += size) {
    const before = theirs.bytesRead;
    const piece = body.subarray(at, at + size);
    socket.write(piece);
    while (theirs.bytesRead < before + piece.length) await setImmediate();
    t.mock.timers.tick(900);
  }
  assert.match(await ended, /^HTTP\/1\.1 200 /);
});

test('what is done with a file may take longer than a connection may rest', async (t) => {
  const { socket, ended, theirs } = await connectTo(t, { keepAliveMs: 100 });
  let idleMs: number | undefined;
  server.deps.scanner = {
    async scan() {
      idleMs = theirs.timeout;
      return null;
    },
  };
  t.after(() => (server.deps.scanner = null));
  const body = fileStart + pdf().toString('latin1') + fileEnd;
  socket.write(formHead(body.length) + body);
  assert.match(await ended, /^HTTP\/1\.1 200 /);
  assert.equal(idleMs, 0, 'while it is scanned, its connection has no timeout');
});

test('a file that is refused in the middle is read to its end, so that a browser gets to the answer', async (t) => {
  const { socket, answered } = await connectTo(t, {});
  const name = fileStart.replace('t.pdf', 't.exe');
  const body = Buffer.concat([Buffer.from(name), Buffer.alloc(8_000_000, 'x'), Buffer.from(fileEnd)]);
  socket.write(formHead(body.length));
  await new Promise<void>((resolve) => socket.write(body, () => resolve()));
  socket.write(headOf('GET', '/api/health', { connection: 'close' }));
  await once(socket, 'close');
  assert.match(answered(), /^HTTP\/1\.1 415 .*HTTP\/1\.1 200 /s);
});

test('a client that never reads its answers is let go', async (t) => {
  const { socket, theirs } = await connectTo(t, { idleMs: 200 });
  socket.pause();
  const gone = once(theirs, 'close');
  socket.write(headOf('GET', '/api/openapi.json', {}).repeat(150));
  await gone;
  assert.ok(theirs.bytesWritten > 0);
});

test('a connection that waits for its next request is kept for longer than nginx keeps it, and then closed', async (t) => {
  assert.ok(timeLimits.keepAliveMs > 60_000);
  const { socket, ended } = await connectTo(t, { keepAliveMs: 100 });
  socket.write(headOf('GET', '/api/health', {}));
  assert.match(await ended, /^HTTP\/1\.1 200 /);
});

test('the limits that production has are those of the server', () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server.app.server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, timeout },
    { headersTimeout: 15_000, requestTimeout: 0, keepAliveTimeout: 72_000, timeout: 120_000 },
  );
});

test('a call that was injected, as by a test, is not waited for: it has no connection that could be closed', async (t) => {
  const app = await buildApp(server.deps, { times: { ...never, restMs: 1 } });
  t.after(() => app.close());
  assert.equal((await app.inject('/api/health')).statusCode, 200);
  // The test fails if the timer of `restMs` throws an error. Waits until that timer has fired.
  await setTimeout(20);
});

const limits = { eventLoopDelayMs: 100, heapBytes: 1_000_000, rssBytes: 1_000_000 };

/** Starts a server whose measured load is `level` (or what it returns) times its limits. Returns a client of it. */
async function underPressure(t: TestContext, level: number | (() => number)): Promise<Client> {
  const now = typeof level === 'number' ? () => level : level;
  const deps = { ...server.deps, config: { ...server.deps.config, shedding: limits } };
  const app = await buildApp(deps, {
    measured: () => ({ eventLoopDelay: 0, heapUsed: now() * limits.heapBytes, rssBytes: 0 }),
  });
  t.after(() => app.close());
  return browser(await app.listen({ host: '127.0.0.1', port: 0 }));
}

async function statusOf(client: Client, path: string, method = 'GET'): Promise<number> {
  const answer = await client.fetch(path, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Makes an upload, one call of each priority, and a webhook call. Returns which of them are accepted (not answered with 503). */
async function letIn(client: Client, uuid: string) {
  const isIn = async (name: keyof typeof calls) =>
    (await statusOf(client, calls[name].path.replace(/\{\w+\}/, uuid), calls[name].method)) !== 503;
  return {
    new: await isIn('checkEligibility'),
    upload: await isIn('uploadTranscript'),
    joining: await isIn('getCheckoutDetails'),
    paying: await isIn('beginPayment'),
    webhook: (await statusOf(client, '/api/webhooks/stripe', 'POST')) !== 503,
  };
}

test('new joins and uploads are refused first, then who is joining, and who is paying last', async (t) => {
  const uuid = await orderingJoin(server.client());
  const all = { new: true, upload: true, joining: true, paying: true, webhook: true };
  assert.deepEqual(await letIn(await underPressure(t, 0.9), uuid), all);
  assert.deepEqual(await letIn(await underPressure(t, 1.1), uuid), { ...all, new: false, upload: false });
  const third = await underPressure(t, 1.3);
  assert.deepEqual(await letIn(third, uuid), { ...all, new: false, upload: false, joining: false });
  assert.equal(await statusOf(third, '/readyz'), 200);
  const full = await underPressure(t, 1.6);
  assert.ok(!Object.values(await letIn(full, uuid)).includes(true));
  assert.equal(await statusOf(full, '/healthz'), 200);
  const ready = await full.fetch('/readyz');
  assert.equal(ready.status, 503);
  assert.deepEqual(await ready.json(), { ready: false, missing: ['overloaded'] });
});

test('a join that is paying ends as a membership while everybody else is refused', async (t) => {
  let level = 0;
  const busy = await underPressure(t, () => level);
  const uuid = await orderingJoin(busy);
  const intent = await openIntent(busy, uuid);
  level = 1.4;
  assert.equal((await busy.call('getWelcome', { params: { uuid } })).status, 503);
  assert.equal((await beginPayment(busy, uuid, intent.revision)).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(busy, uuid, intent)).data.status, 'succeeded');
  assert.equal((await busy.call('getUpgradeDetails', { params: { uuid } })).status, 200);
});

test('whoever is refused is told when to come again: a call by its header, a page by itself and without a script', async (t) => {
  const busy = await underPressure(t, 1.1);
  const refused = await busy.call('checkEligibility', { body: { invitationCode: 'HONOR101' } });
  assert.equal(refused.status, 503);
  assert.equal(refused.message, BUSY);
  assert.match(refused.headers.get('retry-after')!, /^(1\d|20)$/);
  const page = await busy.fetch('/registration/get-started');
  assert.equal(page.status, 503);
  assert.match(page.headers.get('content-type')!, /^text\/html/);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  const html = await page.text();
  assert.ok(html.includes(`<meta http-equiv="refresh" content="${page.headers.get('retry-after')}">`));
  assert.ok(html.includes(BUSY) && !html.includes('<script'));
  assert.ok(page.headers.get('content-security-policy')!.includes("script-src 'self'"));
});

test('a server whose event loop has no time left refuses who is new, and takes them again when it has', async (t) => {
  const shedding = { eventLoopDelayMs: 200, heapBytes: 0, rssBytes: 0 };
  const app = await buildApp({ ...server.deps, config: { ...server.deps.config, shedding } });
  t.after(() => app.close());
  const client = browser(await app.listen({ host: '127.0.0.1', port: 0 }));
  const isLetIn = async () => (await statusOf(client, calls.checkEligibility.path, 'POST')) !== 503;
  // Building the app has delayed the event loop. That delay soon leaves the measured mean.
  await until(isLetIn);
  let isBusy = true;
  const work = (async () => {
    while (isBusy) {
      for (const end = performance.now() + 600; performance.now() < end; );
      await setImmediate();
    }
  })();
  await until(async () => !(await isLetIn()));
  isBusy = false;
  await work;
  await until(isLetIn);
});

test('the tightest limit counts, and one that is not set never does', () => {
  const measured = { eventLoopDelay: 50, heapUsed: 300, rssBytes: 900 };
  assert.equal(levelOf(measured, { eventLoopDelayMs: 100, heapBytes: 200, rssBytes: 1000 }), 1.5);
  assert.equal(levelOf(measured, { eventLoopDelayMs: 100, heapBytes: 0, rssBytes: 0 }), 0.5);
  assert.equal(levelOf(measured, { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 }), 0);
});
