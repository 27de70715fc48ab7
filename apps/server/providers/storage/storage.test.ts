import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { S3_BUCKET, type S3Emulator, startS3Emulator } from '../../../../emulators/s3/server.ts';
import { arrive } from './arrive.ts';
import { folderStorage } from './folderStorage.ts';
import { roomOf } from './room.ts';
import { askVersions, s3Storage } from './s3Storage.ts';
import { type ByteStore, StorageDown, StorageFull } from './storage.ts';

interface Arranged {
  storage: ByteStore;
  reserving(bytes: number): ByteStore;
  /** The folder in which files are written before they are complete. */
  folder: string;
  /** Returns the names of all files, complete or not. */
  names(): string[];
  /** Leaves an incomplete file, as if the process was killed during an upload. Returns the file's name. */
  leavePart(): Promise<string>;
}

function scratch(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'induct-storage-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}
const inFolder = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

/** Leaves a temporary file of {@link arrive}, as after a power failure. Returns its name. */
async function leavePart(folder: string): Promise<string> {
  let left = '';
  let name = '';
  await arrive({ folder, room: roomOf(folder, 0) }, Readable.from([letters]), null, async ({ path }) => {
    left = path;
    name = basename(path);
  });
  writeFileSync(left, letters);
  return name;
}

async function inAFolder(t: TestContext): Promise<Arranged> {
  const folder = scratch(t);
  return {
    storage: folderStorage(folder, 0),
    reserving: (bytes) => folderStorage(folder, bytes),
    folder,
    names: () => inFolder(folder),
    leavePart: () => leavePart(folder),
  };
}

const PREFIX = 'induct/documents/';
async function inABucket(t: TestContext): Promise<Arranged & { s3: S3Emulator }> {
  const folder = join(scratch(t), 'incoming');
  const s3 = await startS3Emulator({ dataDir: scratch(t) });
  t.after(() => s3.close());
  const reserving = (bytes: number) =>
    s3Storage(
      {
        kind: 's3',
        bucket: S3_BUCKET,
        prefix: PREFIX,
        region: 'us-east-1',
        endpoint: s3.url,
        checksums: 'supported',
        credentials: s3.keys,
      },
      folder,
      bytes,
    );
  return {
    storage: reserving(0),
    reserving,
    folder,
    s3,
    names: () => [
      ...inFolder(folder),
      ...[...s3.bucket.objects.keys()].map((key) => key.slice(PREFIX.length)),
      ...[...s3.bucket.uploads.values()].map(({ key }) => `${key.slice(PREFIX.length)}.part`),
    ],
    leavePart: () => leavePart(folder),
  };
}

const letters = Buffer.from('abcdefghij'.repeat(20_000));
const anything = async () => {};
const later = () => new Date(Date.now() + 60_000);
async function olderThan(storage: ByteStore, time: Date): Promise<string[]> {
  const found: string[] = [];
  for await (const name of storage.olderThan(time)) found.push(name);
  return found.sort();
}

for (const [where, arrange] of [
  ['in a folder', inAFolder],
  ['in a bucket', inABucket],
] as const) {
  test(`${where}, what was put is read again, and has its size and checksum`, async (t) => {
    const { storage, names } = await arrange(t);
    const { key, sizeBytes, sha256 } = await storage.put(Readable.from([letters, letters]), anything);
    const twice = Buffer.concat([letters, letters]);
    assert.equal(sizeBytes, twice.length);
    assert.deepEqual(sha256, createHash('sha256').update(twice).digest());
    assert.deepEqual(await buffer(await storage.read(key)), twice);
    assert.deepEqual(names(), [key]);
  });

  test(`${where}, a large file is read again byte for byte`, async (t) => {
    const { storage, names } = await arrange(t);
    const pieces = Array.from({ length: 170 }, () => randomBytes(100_000));
    const { key } = await storage.put(Readable.from(pieces), anything);
    assert.ok((await buffer(await storage.read(key))).equals(Buffer.concat(pieces)));
    assert.deepEqual(names(), [key]);
  });

  test(`${where}, what the check throws about a file leaves nothing of it, and it was never there`, async (t) => {
    const { storage, names } = await arrange(t);
    const refusal = new Error('no');
    const put = storage.put(Readable.from([letters]), async ({ sizeBytes, path }) => {
      assert.equal(sizeBytes, letters.length);
      assert.deepEqual(readFileSync(path), letters);
      assert.deepEqual(names(), [basename(path)]);
      throw refusal;
    });
    await assert.rejects(put, refusal);
    assert.deepEqual(names(), []);
  });

  test(`${where}, a sender that is gone in the middle leaves nothing`, async (t) => {
    const { storage, names } = await arrange(t);
    const gone = new Error('gone');
    const bytes = Readable.from(
      (async function* () {
        yield letters;
        throw gone;
      })(),
    );
    await assert.rejects(storage.put(bytes, anything), gone);
    assert.deepEqual(names(), []);
  });

  test(`${where}, the reserve of the disk is left alone, and nothing is left behind`, async (t) => {
    const { reserving, folder, names, storage } = await arrange(t);
    assert.ok((await storage.room()) > 0);
    const { bavail, bsize } = await statfs(folder);
    const full = reserving(2 * bavail * bsize);
    assert.equal(await full.room(), 0);
    await assert.rejects(full.put(Readable.from([letters]), anything), StorageFull);
    assert.deepEqual(names(), []);
  });

  test(`${where}, what is removed is gone, and can be removed again`, async (t) => {
    const { storage, names } = await arrange(t);
    const { key } = await storage.put(Readable.from([letters]), anything);
    await storage.remove(key);
    await storage.remove(key);
    assert.deepEqual(names(), []);
    await assert.rejects(async () => buffer(await storage.read(key)));
  });

  test(`${where}, old files of ours are found, finished or not, and young ones and those of others are not`, async (t) => {
    const { storage, leavePart, folder } = await arrange(t);
    const keys: string[] = [];
    for (let count = 0; count < 12; count++)
      keys.push((await storage.put(Readable.from([letters]), anything)).key);
    const part = await leavePart();
    writeFileSync(join(folder, 'readme.txt'), 'x');
    assert.deepEqual(await olderThan(storage, later()), [...keys, part].sort());
    assert.deepEqual(await olderThan(storage, new Date(Date.now() - 60_000)), []);
    await storage.remove(part);
    assert.deepEqual(await olderThan(storage, later()), keys.sort());
  });
}

test('an object is private by its bucket, and an attachment without a type to who has it opened', async (t) => {
  const { storage, s3 } = await inABucket(t);
  const { key } = await storage.put(Readable.from([letters]), anything);
  assert.deepEqual(s3.bucket.object(PREFIX + key).headers, {
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
  });
});

/**
 * The bucket has twelve unfinished multipart uploads of documents, one of another prefix, and one whose name is not a document's
 * name.
 */
test('uploads that nobody finishes are found in the bucket and taken back, of those of others none', async (t) => {
  const { storage, s3, names } = await inABucket(t);
  const { key } = await storage.put(Readable.from([letters]), anything);
  const unfinished = Array.from({ length: 12 }, (_, index) => `${key.slice(0, -2)}${index + 10}`);
  for (const one of unfinished) s3.bucket.begin(PREFIX + one, false, {});
  s3.bucket.begin(`others/${key}`, false, {});
  s3.bucket.begin(`${PREFIX}not-ours`, false, {});
  const parts = unfinished.map((one) => `${one}.part`).sort();
  assert.deepEqual(await olderThan(storage, later()), [key, ...parts].sort());
  const aMinuteAgo = new Date(Date.now() - 60_000);
  assert.deepEqual(await olderThan(storage, aMinuteAgo), [], 'they may still be running');
  for (const part of parts) await storage.remove(part);
  assert.deepEqual(await olderThan(storage, later()), [key]);
  assert.equal(s3.bucket.uploads.size, 2);
  assert.ok(names().includes(key), 'the file beside them stays');
});

test('what a killed process left of a file is not in the way of whoever puts it again', async (t) => {
  for (const arrange of [inAFolder, inABucket]) {
    const { storage, folder } = await arrange(t);
    const name = '00000000-0000-4000-8000-000000000001';
    await storage.reach();
    writeFileSync(join(folder, `${name}.part`), 'half of it');
    await storage.put(Readable.from([letters]), anything, null, name);
    assert.deepEqual(await buffer(await storage.read(name)), letters);
  }
});

for (const code of ['ENOSPC', 'EDQUOT'])
  test(`a folder that takes no more (${code}) is full, and keeps nothing of the file`, async (t) => {
    const { storage, names } = await inAFolder(t);
    const fails = async () => {
      throw Object.assign(new Error('no space left'), { code, syscall: 'write' });
    };
    await assert.rejects(storage.put(Readable.from([letters]), fails), StorageFull);
    assert.deepEqual(names(), []);
  });

for (const [what, fault] of [
  ['refuses a part', { kind: 'status', status: 403, method: 'PUT', times: 99 }],
  ['fails for good', { kind: 'status', status: 500, method: 'PUT', times: 99 }],
  ['cuts every connection', { kind: 'cut', times: 99 }],
] as const)
  test(`a bucket that ${what} is down, and nothing is left of the file`, async (t) => {
    const { storage, s3, names } = await inABucket(t);
    s3.meet(fault);
    const pieces = Array.from({ length: 60 }, () => letters);
    await assert.rejects(storage.put(Readable.from(pieces), anything), StorageDown);
    assert.deepEqual(names(), []);
  });

test('a bucket that fails twice and is back is waited for', async (t) => {
  const { storage, s3 } = await inABucket(t);
  s3.meet({ kind: 'status', status: 503, times: 1 });
  s3.meet({ kind: 'cut', times: 1, skip: 1 });
  const pieces = Array.from({ length: 60 }, () => letters);
  const { key } = await storage.put(Readable.from(pieces), anything);
  assert.ok((await buffer(await storage.read(key))).equals(Buffer.concat(pieces)));
});

test('removed documents are said to expire only by a rule that is on and that covers all of them', async (t) => {
  const rule = (status: string, which: string, days = '<NoncurrentDays>30</NoncurrentDays>') =>
    `<Rule><ID>x</ID>${which}<Status>${status}</Status>${days && `<NoncurrentVersionExpiration>${days}</NoncurrentVersionExpiration>`}</Rule>`;
  const under = (prefix: string) => `<Filter><Prefix>${prefix}</Prefix></Filter>`;
  const tagged = '<Filter><Tag><Key>kind</Key><Value>old</Value></Tag></Filter>';
  let rules = '';
  const service = createServer(({ url }, response) => {
    const isOfVersions = new URL(url!, 'http://x').searchParams.has('versioning');
    response.setHeader('content-type', 'application/xml');
    response.end(
      isOfVersions
        ? '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
        : `<LifecycleConfiguration>${rules}</LifecycleConfiguration>`,
    );
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  for (const [given, expected] of [
    [rule('Enabled', under('')), 'expire'],
    [rule('Enabled', under('induct/')), 'expire'],
    [rule('Enabled', '<Prefix></Prefix>'), 'expire'],
    [rule('Disabled', under('')), 'stay'],
    [rule('Enabled', under('reports/')), 'stay'],
    [rule('Enabled', '<Prefix>reports/</Prefix>'), 'stay'],
    [rule('Enabled', tagged), 'stay'],
    [rule('Enabled', under(''), ''), 'stay'],
    [rule('Disabled', under('')) + rule('Enabled', under(PREFIX)), 'expire'],
  ] as const) {
    rules = given;
    const settings = {
      kind: 's3',
      bucket: S3_BUCKET,
      prefix: PREFIX,
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      checksums: 'supported',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    } as const;
    assert.equal(await askVersions(settings), expected, given);
  }
});

test('keys that the service does not know open nothing', async (t) => {
  const { s3, folder } = await inABucket(t);
  const settings = {
    kind: 's3',
    bucket: S3_BUCKET,
    prefix: '',
    region: 'us-east-1',
    endpoint: s3.url,
  } as const;
  const credentials = { ...s3.keys, secretAccessKey: 'another' };
  const storage = s3Storage({ ...settings, checksums: 'supported', credentials }, folder, 0);
  await assert.rejects(storage.put(Readable.from([letters]), anything), StorageDown);
  assert.equal(s3.bucket.objects.size, 0);
});
