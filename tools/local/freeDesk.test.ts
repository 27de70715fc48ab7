import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { freeDesk } from './freeDesk.ts';
import { freePort } from './ports.ts';

const at = (port: number) => ({ url: `http://localhost:${port}`, port: String(port) });

async function taken(t: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
}

test('the desk stays where it was, or is at DESK_PORT if that is set, or at the next free port', async (t) => {
  const [before, given] = [(await freePort())!, (await freePort())!];
  assert.deepEqual(await freeDesk(given, at(before).url), at(given));
  await taken(t, given);
  assert.notDeepEqual(await freeDesk(given, undefined), at(given));
});

test('an address that was set by hand once is not kept', async () => {
  for (const before of ['http://localhost', 'https://desk.society.example', 'http://127.0.0.1:4100']) {
    const { url, port } = await freeDesk(null, before);
    assert.ok(Number(port) >= 3100 && url === `http://localhost:${port}`, url);
  }
});

test('of two starts at once each has a desk of its own', async () => {
  // The desk of the first call has not begun to listen yet.
  const first = await freeDesk(null, undefined);
  assert.notDeepEqual(await freeDesk(null, undefined), first);
});

test('no port above the last one is tried', async (t) => {
  await taken(t, 65_535);
  await assert.rejects(freeDesk(65_535, undefined), /no free port from 65535 on/);
});
