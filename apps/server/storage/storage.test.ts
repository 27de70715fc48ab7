import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { folderStorage, StorageFull } from './storage.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'induct-storage-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}
const letters = Buffer.from('abcdefghij'.repeat(20_000));
const anything = async () => {};

test('what was put is read again, and has its size and checksum', async (t) => {
  const storage = folderStorage(folder(t), 0);
  const { key, sizeBytes, sha256 } = await storage.put(Readable.from([letters, letters]), anything);
  const twice = Buffer.concat([letters, letters]);
  assert.equal(sizeBytes, twice.length);
  assert.deepEqual(sha256, createHash('sha256').update(twice).digest());
  assert.deepEqual(await buffer(await storage.read(key)), twice);
});

test('what the check throws about a file leaves nothing of it', async (t) => {
  const path = folder(t);
  const refusal = new Error('no');
  const put = folderStorage(path, 0).put(Readable.from([letters]), async ({ sizeBytes }) => {
    assert.equal(sizeBytes, letters.length);
    throw refusal;
  });
  await assert.rejects(put, refusal);
  assert.deepEqual(readdirSync(path), []);
});

test('the reserve of a disk is left alone, and nothing is left behind', async (t) => {
  const path = folder(t);
  const { bavail, bsize } = await statfs(path);
  const storage = folderStorage(path, 2 * bavail * bsize);
  assert.equal(await storage.room(), 0);
  await assert.rejects(storage.put(Readable.from([letters]), anything), StorageFull);
  assert.deepEqual(readdirSync(path), []);
});

test('old files of ours are found, finished or not, and young ones and those of others are not', async (t) => {
  const path = folder(t);
  const [old, young] = [randomUUID(), randomUUID()];
  const names = [old, `${old}.part`, 'readme.txt'];
  for (const name of [...names, young]) writeFileSync(join(path, name), 'x');
  for (const name of names) utimesSync(join(path, name), 1000, 1000);
  const found: string[] = [];
  for await (const name of folderStorage(path, 0).olderThan(new Date(2_000_000))) found.push(name);
  assert.deepEqual(found.sort(), [old, `${old}.part`]);
});
