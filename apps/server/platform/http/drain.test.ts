import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { until } from '../../../../tests/harness/until.ts';
import { drainOnClose, stopAccepting } from './drain.ts';

/** Starts a server with two routes: /quick is answered at once, /slow when `answer` is called. */
async function listening(patienceMs: number) {
  const app = Fastify({ return503OnClosing: false });
  drainOnClose(app, patienceMs);
  let answer = () => {};
  const arrived = new Promise<void>((done) => {
    app.get('/slow', async () => {
      done();
      await new Promise<void>((go) => (answer = go));
      return 'answered';
    });
  });
  app.get('/quick', () => 'quick');
  app.get('/listening', (_, reply) => reply.header('x-listening', app.server.listening).send());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, arrived, answer: () => answer(), open: () => openSocket(port) };
}

async function openSocket(port: number): Promise<{ socket: Socket; text: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  const ended = new Promise<string>((done) => socket.once('close', () => done(text)));
  await once(socket, 'connect');
  socket.on('error', () => {});
  return { socket, text: ended };
}

const ask = 'GET /slow HTTP/1.1\r\nHost: induct\r\n\r\n';

test('a server that closes does not wait long for a connection that never asked', async () => {
  const { app, open } = await listening(60_000);
  const { text } = await open();
  await app.close();
  assert.equal(await text, '');
});

test('a call under way is answered in whole, and its connection is not waited for', async () => {
  const { app, arrived, answer, open } = await listening(60_000);
  const { socket, text } = await open();
  socket.write(ask);
  await arrived;
  const closed = app.close();
  answer();
  await closed;
  assert.match(await text, /^HTTP\/1\.1 200 OK[\s\S]*answered$/);
});

test('what does not end within its patience is cut off', async () => {
  const { app, arrived, open } = await listening(100);
  const [asked, halfway] = [await open(), await open()];
  asked.socket.write(ask);
  halfway.socket.write('GET /slow HTTP/1.1\r\nHo');
  await arrived;
  await app.close();
  assert.deepEqual([await asked.text, await halfway.text], ['', '']);
});

/** Makes a call on an open connection. Returns the head of the answer: its status line and headers. */
async function askOn(socket: Socket, path = '/quick'): Promise<string> {
  const answered = new Promise<string>((done, fail) => {
    socket.once('data', (chunk) => done(String(chunk)));
    // Without this, the test would hang if the connection is closed too early.
    socket.once('close', () => fail(new Error('The connection was closed without an answer.')));
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: induct\r\n\r\n`);
  return (await answered).split('\r\n\r\n')[0]!;
}

test('a call that comes on a kept connection after the server began to close is answered, and the connection let go', async () => {
  const { app, open } = await listening(60_000);
  const { socket, text } = await open();
  assert.match(await askOn(socket), /^HTTP\/1\.1 200 OK[\s\S]*connection: keep-alive/i);
  const closed = app.close();
  await until(() => !app.server.listening);
  await assert.rejects(open, /ECONNREFUSED/);
  const head = await askOn(socket);
  assert.match(head, /^HTTP\/1\.1 200 OK/);
  assert.match(head, /connection: close/i);
  await closed;
  assert.match(await text, /quick$/);
});

test('connections that wait to be taken when a server closes are taken and answered, however many', async () => {
  const { app, open } = await listening(60_000);
  const { socket } = await open();
  await askOn(socket);
  // Each connection sends a call as soon as it is open, before the closing server next looks for idle connections.
  const waiting = Array.from({ length: 100 }, open);
  const closed = app.close();
  const heads = await Promise.all(waiting.map(async (opened) => askOn((await opened).socket)));
  for (const head of heads) assert.match(head, /^HTTP\/1\.1 200 OK/);
  await closed;
});

test('a connection that comes while the process is busy with a call is taken before the port closes', async (t) => {
  const { app, open } = await listening(60_000);
  t.after(() => app.close());
  let late: ReturnType<typeof open> | undefined;
  app.server.prependListener('request', ({ url }: { url: string }) => {
    if (url !== '/quick?busy') return;
    late = open();
    const began = performance.now();
    while (performance.now() - began < 20);
  });
  const { socket } = await open();
  await askOn(socket);
  const stopped = stopAccepting(app.server);
  // The call is read in the last turn in which the server looks for connections.
  await setImmediate();
  await askOn(socket, '/quick?busy');
  await stopped;
  assert.match(await askOn((await late!).socket), /^HTTP\/1\.1 200 OK/);
});

test('nobody is sent away from a connection before the server takes no other one', async () => {
  const { app, open } = await listening(60_000);
  const { socket } = await open();
  await askOn(socket);
  const waiting = Array.from({ length: 100 }, open);
  const stopped = stopAccepting(app.server);
  const head = await askOn(socket, '/listening');
  assert.match(head, /x-listening: true/i);
  assert.match(head, /connection: keep-alive/i);
  await Promise.all([stopped, ...waiting]);
  const closed = app.close();
  assert.match(await askOn(socket), /connection: close/i);
  await closed;
});

test('a call that came while the process could not read is answered, however quiet its connection seemed', async () => {
  const { app, open } = await listening(60_000);
  const { socket, text } = await open();
  await askOn(socket);
  const closed = app.close();
  await until(() => !app.server.listening);
  // Makes the timer of the closing server run before Node reads the call below: after `setImmediate`, expired timers run before
  // sockets are polled.
  await setImmediate();
  socket.write('GET /quick HTTP/1.1\r\nHost: induct\r\n\r\n');
  const began = performance.now();
  while (performance.now() - began < 1_100);
  await closed;
  assert.equal((await text).match(/HTTP\/1\.1 200 OK/g)?.length, 2);
});
