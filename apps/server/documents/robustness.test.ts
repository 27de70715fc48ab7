import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { S3_BUCKET, startS3Emulator } from '../../../emulators/s3/server.ts';
import { jpeg } from '../../../tests/harness/documents.ts';
import { type ServerProcess, startServerProcess } from '../../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { isLong, onlyLong } from '../../../tests/harness/testLength.ts';
import { startTestServer, type TestServer } from '../../../tests/harness/testServer.ts';
import type { Storage } from '../providers/storage/storage.ts';
import { sweepDocuments, unknownDocuments } from './sweepDocuments.ts';

const MIB = 1_048_576;
const DAY_MS = 86_400_000;

/**
 * Two servers on one storage: `arranged` runs in the test's process; `process` is a process of its own, which is killed or
 * measured.
 */
interface Subject {
  arranged: TestServer;
  path: string;
  cookie: string;
  process: ServerProcess;
}

async function subjectOn(t: TestContext, where: string): Promise<Subject> {
  const arranged = await startTestServer(where === 'in a bucket' ? await aBucket(t) : {});
  const client = arranged.client();
  const { uuid } = await paidJoin(arranged, client);
  const path = `/api/public/join-session/${uuid}/upload-transcript`;
  const subject = { arranged, path, cookie: client.cookie(), process: await startServerProcess(arranged) };
  t.after(async () => {
    await subject.process.kill();
    await arranged.close();
  });
  return subject;
}

/** Starts an S3 emulator. Returns the settings of a server that stores documents there, encrypted. */
async function aBucket(t: TestContext): Promise<Record<string, string>> {
  const s3 = await startS3Emulator({ dataDir: temporaryFolder(t) });
  t.after(() => s3.close());
  return {
    DOCUMENT_KEY: randomBytes(32).toString('hex'),
    STORAGE_URL: `s3://${S3_BUCKET}/documents?endpoint=${s3.url}`,
    STORAGE_ACCESS_KEY_ID: s3.keys.accessKeyId,
    STORAGE_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
  };
}

/** Yields a JPEG of this size with random bytes. They have no 0xff, because that would begin a JPEG marker. */
function* picture(bytes: number): Generator<Buffer> {
  const shell = jpeg();
  const noise = Buffer.from(randomBytes(65_536).map((byte) => (byte === 0xff ? 0 : byte)));
  yield shell.subarray(0, -2);
  for (let left = bytes - shell.length; left > 0; left -= noise.length)
    yield noise.subarray(0, Math.min(left, noise.length));
  yield shell.subarray(-2);
}

interface Plan {
  name: string;
  size: number;
  /** The sender disconnects after this many bytes. If `resting` is given, the sender first waits for that promise. */
  cutAt?: number;
  resting?: Promise<void>;
}

/** Uploads a JPEG like a browser. Returns the server's answer; null if there was none. */
async function send(
  { process, path, cookie }: Subject,
  { name, size, cutAt, resting }: Plan,
): Promise<{ name: string; sha256: string } | null> {
  const hash = createHash('sha256');
  const boundary = 'b0undary';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: image/jpeg\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const call = request(process.url + path, {
    method: 'POST',
    headers: {
      cookie,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + size + tail.length,
    },
  });
  const answered = new Promise<number | null>((resolve) => {
    call.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    call.on('error', () => resolve(null));
    call.on('close', () => resolve(null));
  });
  async function* form(): AsyncGenerator<Buffer | string> {
    yield head;
    let sent = 0;
    for (const piece of picture(size)) {
      if (cutAt !== undefined && sent + piece.length > cutAt) {
        await resting;
        call.destroy();
        return;
      }
      hash.update(piece);
      sent += piece.length;
      yield piece;
    }
    yield tail;
  }
  Readable.from(form(), { objectMode: false })
    .on('error', () => {})
    .pipe(call);
  return (await answered) === 200 ? { name, sha256: hash.digest('hex') } : null;
}

async function sha256Of(storage: Storage, key: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await storage.read(key)) hash.update(chunk);
  return hash.digest('hex');
}

async function everythingIn(storage: Storage): Promise<string[]> {
  const names: string[] = [];
  for await (const name of storage.olderThan(new Date(Date.now() + DAY_MS))) names.push(name);
  return names.sort();
}

for (const where of ['in a folder', 'in a bucket']) {
  test(`${where}, of many uploads at once, cut anywhere and with the server killed between them, every acknowledged one is kept byte for byte, and nothing else is`, {
    skip: where === 'in a bucket' && onlyLong,
  }, async (t) => {
    const subject = await subjectOn(t, where);
    const { deps } = subject.arranged;
    const atOnce = isLong ? 100 : 12;
    const acknowledged: { name: string; sha256: string }[] = [];
    let unanswered = 0;
    const wave = async (round: string, kill: boolean) => {
      const killed = Promise.withResolvers<void>();
      let whole = 0;
      const plans = Array.from({ length: atOnce }, (_, index): Plan => {
        const name = `${round}-${index}.jpg`;
        // Every tenth file is larger than one part of a multipart upload to S3, so it is sent in several parts.
        const size = index % 10 === 2 ? randomInt(6 * MIB, 12 * MIB) : randomInt(1000, 3 * MIB);
        // A third of the uploads is cut off by the sender. With `kill`, another sixth stops half-way until the server is killed.
        if (index % 3 === 0) return { name, size, cutAt: randomInt(0, size) };
        if (kill && index % 6 === 1) return { name, size, cutAt: size / 2, resting: killed.promise };
        whole += 1;
        return { name, size };
      });
      let left = Math.ceil(whole / 2);
      await Promise.all(
        plans.map(async (plan) => {
          const answer = await send(subject, plan);
          if (answer) acknowledged.push(answer);
          else unanswered += 1;
          if (!kill || plan.cutAt !== undefined || --left !== 0) return;
          await subject.process.kill();
          killed.resolve();
        }),
      );
    };
    await wave('killed', true);
    const afterKill = acknowledged.length;
    assert.ok(afterKill > 0 && unanswered >= atOnce / 3, `${afterKill} acknowledged, ${unanswered} not`);
    subject.process = await startServerProcess(subject.arranged);
    await wave('again', false);
    assert.equal(acknowledged.length - afterKill, atOnce - Math.ceil(atOnce / 3), 'all that were not cut');

    const before = (await everythingIn(deps.storage)).length;
    await sweepDocuments({ ...deps, now: () => new Date(Date.now() + 2 * DAY_MS) });
    const rows = await deps.database.selectFrom('document').selectAll().execute();
    t.diagnostic(
      `${acknowledged.length} acknowledged, ${unanswered} not; ${rows.length} rows, ${before - rows.length} swept`,
    );
    const left = await everythingIn(deps.storage);
    const unknown: string[] = [];
    for await (const key of unknownDocuments({ ...deps, now: () => new Date(Date.now() + 2 * DAY_MS) }))
      unknown.push(key);
    assert.deepEqual(
      left,
      [...rows.map((row) => row.storage_key), ...unknown].sort(),
      'nothing half written',
    );
    assert.ok(unknown.length <= unanswered, 'only who got no answer left a document without its row');
    for (const row of rows)
      assert.equal(await sha256Of(deps.storage, row.storage_key), row.sha256.toString('hex'), row.name);
    for (const { name, sha256 } of acknowledged)
      assert.equal(rows.find((row) => row.name === name)?.sha256.toString('hex'), sha256, name);
  });

  test(`${where}, a large upload takes no more memory than a smaller one`, { skip: onlyLong }, async (t) => {
    const subject = await subjectOn(t, where);
    // V8 may keep over 100 MiB of garbage. Uploads that are held in memory would exceed even 100 MiB.
    const smaller = 96 * MIB;
    const large = 2048 * MIB;
    assert.ok(await send(subject, { name: 'smaller.jpg', size: smaller }));
    const before = subject.process.peakMemory();
    assert.ok(await send(subject, { name: 'large.jpg', size: large }));
    const peak = subject.process.peakMemory();
    if (before === null || peak === null) return t.skip('this system does not tell a peak');
    t.diagnostic(
      `peak after ${smaller / MIB} MiB ${Math.round(before / MIB)} MiB, after ${large / MIB} MiB ${Math.round(peak / MIB)} MiB`,
    );
    assert.ok(peak - before < (large - smaller) / 2, `${peak - before} bytes more`);
  });
}
