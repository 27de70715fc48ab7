import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { openWriter } from './writer.ts';

/** A file to write, closed by whoever wrote it. */
function scratch(t: TestContext): { path: string; fd: number } {
  const folder = mkdtempSync(join(tmpdir(), 'induct-writer-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'document');
  return { path, fd: openSync(path, 'w') };
}

/** The one that writes: node tells of each that starts. */
let thread: Worker | undefined;
process.on('worker', (started) => (thread = started));

const HAS_ENDED = { message: 'The thread that writes documents has ended.' };

test('pieces of two documents at once are appended to each in turn, summed up, and their memory comes back', async (t) => {
  const pieces = Array.from({ length: 20 }, () => randomBytes(100_000));
  const write = async () => {
    const { path, fd } = scratch(t);
    await using writer = openWriter(fd);
    const append = async (bytes: Buffer) => {
      const memory = new Uint8Array(200_000);
      memory.set(bytes);
      const written = writer.append(memory.subarray(0, bytes.length));
      assert.equal(memory.length, 0, 'it is given over');
      assert.equal((await written).length, 200_000);
    };
    await Promise.all(pieces.map(append));
    assert.deepEqual(await writer.sha256(), createHash('sha256').update(Buffer.concat(pieces)).digest());
    assert.ok(readFileSync(path).equals(Buffer.concat(pieces)));
  };
  await Promise.all([write(), write()]);
});

test('what the file system refuses is told with its code', async () => {
  await using writer = openWriter(openSync('/dev/full', 'w'));
  await assert.rejects(writer.append(new Uint8Array(10)), { code: 'ENOSPC', message: /no space left/ });
});

test('when the thread ends, documents that it had fail, and the next has another', async (t) => {
  await using cut = openWriter(scratch(t).fd);
  await cut.append(new Uint8Array(10));
  const first = thread!;
  const ended = first.terminate();
  await using late = openWriter(scratch(t).fd);
  await assert.rejects(cut.append(new Uint8Array(10)), HAS_ENDED);
  await assert.rejects(cut.append(new Uint8Array(10)), HAS_ENDED);
  await assert.rejects(late.append(new Uint8Array(10)), HAS_ENDED);

  await ended;
  await using next = openWriter(scratch(t).fd);
  await next.append(new Uint8Array(10));
  assert.notEqual(thread, first);
});
