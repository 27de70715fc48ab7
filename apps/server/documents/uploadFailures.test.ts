import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pdf as pdfOf } from '../../../tests/harness/documents.ts';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { blob, pdf, uploadsTo } from '../../../tests/harness/uploads.ts';
import { StorageDown } from '../providers/storage/storage.ts';
import { openInspector } from './inspector.ts';
import { clamd } from './scanner.ts';
import { sweepDocuments } from './sweepDocuments.ts';

/** These tests are about failures during an upload: of the storage, the connection, the inspector and the virus scanner. */
const server = await sharedServer({ UPLOAD_MAX_BYTES: '5000000' });
const { client, leavesNothing, path, stored, upload } = await uploadsTo(server);

test('a disk that fails is our fault, and said so', async (t) => {
  t.mock.method(server.deps.storage, 'put', async () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' });
  });
  const { status } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.equal(status, 500);
});

test('a storage that does not answer delays, and is said so', async (t) => {
  t.mock.method(server.deps.storage, 'put', async () => {
    throw new StorageDown('down');
  });
  const { status, message } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.equal(status, 503);
  assert.match(message ?? '', /try again in an hour, or email it to us/);
});

test('a disk with no room beside its reserve refuses with a sentence before anything is written', async (t) => {
  t.mock.method(server.deps.storage, 'room', async () => 1_000_000);
  const put = t.mock.method(server.deps.storage, 'put');
  const { status, message } = await leavesNothing(() => upload([['file', pdf(4_000_000), 't.pdf']]));
  assert.deepEqual(
    [status, message, put.mock.callCount()],
    [503, 'We cannot take files just now. Please try again in an hour, or email it to us.', 0],
  );
});

test('a connection cut in the middle leaves nothing behind', async () => {
  await leavesNothing(async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: ${hostname}`,
      `cookie: ${client.cookie()}`,
      'content-type: multipart/form-data; boundary=x',
      'content-length: 1000000',
      '',
      '',
    ].join('\r\n');
    socket.write(
      `${head}--x\r\ncontent-disposition: form-data; name="file"; filename="t.pdf"\r\ncontent-type: application/pdf\r\n\r\n${'x'.repeat(200_000)}`,
    );
    await until(() => stored().some((name) => name.endsWith('.part')));
    socket.destroy();
    await until(() => !stored().some((name) => name.endsWith('.part')));
  });
});

test('a half-written upload is swept when it has rested for a day; a whole document that no row knows waits for staff', async (t) => {
  const storageDir = server.documents;
  await upload([['file', pdf(), 'kept.pdf']]);
  const kept = stored();
  const [orphan, young] = [randomUUID(), randomUUID()];
  for (const name of [orphan, `${orphan}.part`, young, 'not-ours.txt'])
    writeFileSync(join(storageDir, name), 'x');
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  for (const name of [...kept, orphan, `${orphan}.part`, 'not-ours.txt'])
    utimesSync(join(storageDir, name), twoDaysAgo, twoDaysAgo);
  t.after(() => [young, 'not-ours.txt'].forEach((name) => void rmSync(join(storageDir, name))));
  assert.equal(await sweepDocuments(server.deps), 1);
  assert.deepEqual(stored(), [...kept, orphan, young, 'not-ours.txt'].sort());
  const [told] = await toldStaff(server, { kind: 'unknown_documents' });
  assert.match(told!, /^The storage has 1 document that this database does not know/);

  const run = (...args: string[]) => runCommand(t, server, 'documents unknown', args);
  const listed = [
    orphan,
    `${young}  younger than a day`,
    '1 younger than a day: an upload may be under way, so none of them can be removed yet.',
    '2 unknown.',
  ];
  const all = await run();
  assert.deepEqual([all.code, all.out.trim().split('\n').sort()], [1, listed.sort()]);
  const copy = join(storageDir, '../copy.pdf');
  assert.equal((await run('fetch', orphan, copy)).code, 0);
  assert.equal(readFileSync(copy, 'utf8'), 'x');
  assert.match((await run('fetch', orphan, copy)).out, /is there already/);
  assert.match((await run('remove', young)).out, /is younger than a day: .* cannot be removed yet/);
  assert.match((await run('remove', kept[0]!)).out, /is not among the documents/);
  const youngCopy = join(storageDir, '../young.pdf');
  assert.equal((await run('fetch', young, youngCopy)).code, 0);
  assert.equal((await run('remove')).code, 2);
  assert.equal((await run('remove', orphan)).code, 0);
  assert.deepEqual(stored(), [...kept, young, 'not-ours.txt'].sort());
  assert.equal((await run()).code, 0);
});

test('a file that nobody can finish looking at is refused with a sentence, and leaves nothing behind', async (t) => {
  const { inspector } = server.deps;
  const started: ChildProcess[] = [];
  server.deps.inspector = openInspector({
    patience: () => 50,
    start: () => {
      started.push(
        spawn(process.execPath, ['-e', 'for (;;);'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
      );
      return started.at(-1)!;
    },
  });
  t.after(() => (server.deps.inspector = inspector));
  const { status, message } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.deepEqual(
    [status, message],
    [
      415,
      'Checking this file takes too long. Please save or print it as a new PDF, or upload a clear photo of it.',
    ],
  );
  assert.deepEqual(
    started.map(({ signalCode }) => signalCode),
    ['SIGKILL'],
    'what looked at it has ended',
  );
});

/** Starts a stand-in for clamd. It reads a file sent with INSTREAM and replies with `answer`. Returns its URL. */
async function standInForClamd(t: TestContext, answer: (bytes: Buffer) => string | null): Promise<string> {
  const clamd = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const command = 'zINSTREAM\0';
      const parts: Buffer[] = [];
      let at = command.length;
      for (;;) {
        if (received.length < at + 4) return;
        const length = received.readUInt32BE(at);
        if (length === 0) break;
        parts.push(received.subarray(at + 4, at + 4 + length));
        at += 4 + length;
      }
      const said =
        received.toString('latin1', 0, command.length) === command
          ? answer(Buffer.concat(parts))
          : 'UNKNOWN COMMAND';
      if (said === null) socket.destroy();
      else socket.end(`${said}\0`);
    });
  });
  await new Promise<void>((resolve) => clamd.listen(0, '127.0.0.1', resolve));
  t.after(() => clamd.close());
  return `tcp://127.0.0.1:${(clamd.address() as AddressInfo).port}`;
}

test('a scanner sees every byte, and what it finds nothing in is kept', async (t) => {
  let seen = Buffer.alloc(0);
  const url = await standInForClamd(t, (bytes) => {
    seen = Buffer.from(bytes);
    return 'stream: OK';
  });
  server.deps.scanner = clamd(url);
  t.after(() => (server.deps.scanner = null));
  const bytes = pdfOf({ size: 300_000 });
  assert.equal((await upload([['file', blob(bytes), 't.pdf']])).status, 200);
  assert.ok(seen.equals(bytes));
});

for (const [what, said, expected, sentence] of [
  ['finds something', 'stream: Win.Test.EICAR_HDB-1 FOUND', 415, /virus scanner found something/],
  [
    'takes no file of that size',
    'INSTREAM size limit exceeded. ERROR',
    503,
    /cannot check files for viruses/,
  ],
  ['hangs up', null, 503, /cannot check files for viruses/],
] as const)
  test(`while the scanner ${what}, a file is refused with ${expected} and a sentence, and leaves nothing behind`, async (t) => {
    server.deps.scanner = clamd(await standInForClamd(t, () => said));
    t.after(() => (server.deps.scanner = null));
    const { status, message } = await leavesNothing(() => upload([['file', pdf(200_000), 't.pdf']]));
    assert.equal(status, expected);
    assert.match(message ?? '', sentence);
  });

test('while the scanner is down nothing is taken', async (t) => {
  server.deps.scanner = clamd('tcp://127.0.0.1:1');
  t.after(() => (server.deps.scanner = null));
  const { status } = await leavesNothing(() => upload([['file', pdf(200_000), 't.pdf']]));
  assert.equal(status, 503);
});
