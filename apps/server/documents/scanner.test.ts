import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { clamd } from './scanner.ts';

test('every byte reaches the scanner, also after an empty chunk, whose length would end the stream', async (t) => {
  let received = Buffer.alloc(0);
  const server = createServer((socket) =>
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.subarray(-4).equals(Buffer.alloc(4))) socket.end('stream: OK\0');
    }),
  ).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  async function* chunks() {
    yield Buffer.from('first');
    yield Buffer.alloc(0);
    yield Buffer.from('last');
  }
  const { port } = server.address() as AddressInfo;
  assert.equal(await clamd(`tcp://127.0.0.1:${port}`).scan(chunks()), null);
  assert.equal(received.toString(), 'zINSTREAM\0\0\0\0\x05first\0\0\0\x04last\0\0\0\0');
});
