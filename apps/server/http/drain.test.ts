import assert from 'node:assert/strict';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { drainOnClose } from './drain.ts';

/** Listens, with a call that is answered when `answer` is called. */
async function listening(patienceMs: number) {
  const app = Fastify();
  drainOnClose(app, patienceMs);
  let answer = () => {};
  const arrived = new Promise<void>((done) => {
    app.get('/slow', async () => {
      done();
      await new Promise<void>((go) => (answer = go));
      return 'answered';
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, arrived, answer: () => answer(), open: () => openSocket(port) };
}

async function openSocket(port: number): Promise<{ socket: Socket; text: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk));
  socket.on('error', () => {});
  const ended = new Promise<string>((done) => socket.once('close', () => done(text)));
  await new Promise((done) => socket.once('connect', done));
  return { socket, text: ended };
}

const ask = 'GET /slow HTTP/1.1\r\nHost: induct\r\n\r\n';

test('a server that closes does not wait for a connection that never asked', async () => {
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
