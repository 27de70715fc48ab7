import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { buffer, text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { envelopeOf } from './arrive.ts';
import { encryptedStorage } from './encryptedStorage.ts';
import { MAGIC } from './encryption.ts';
import { documentKeys } from './envelope.ts';
import { folderStorage } from './folderStorage.ts';
import { type ByteStore, DocumentFault, NotStored, type Storage } from './storage.ts';

const OLD = '0f'.repeat(32);
const NEW = 'a5'.repeat(32);
const anything = async () => {};
const later = () => new Date(Date.now() + 60_000);
const document = randomBytes(200_000);
const sha256 = createHash('sha256').update(document).digest();

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 30_000) yield bytes.subarray(at, at + 30_000);
}
const putRaw = (store: ByteStore, name: string, bytes: Buffer) =>
  store.put(piecesOf(bytes), anything, null, name);
const rawOf = async (store: ByteStore, name: string) => buffer(await store.read(name));
const documentOf = async (storage: Storage, key: string) => buffer(await storage.read(key));
async function namesOf(storage: Pick<ByteStore, 'olderThan'>): Promise<string[]> {
  const names: string[] = [];
  for await (const name of storage.olderThan(later())) names.push(name);
  return names.sort();
}
const isChanged = (error: unknown) => error instanceof DocumentFault && !error.isKeyMissing;
const lacksKey = (error: unknown) => error instanceof DocumentFault && error.isKeyMissing;

/** Encryption is independent of the store, so these tests use a folder. storage.test.ts tests both the folder and the bucket. */
async function arranged(t: TestContext) {
  const store = folderStorage(temporaryFolder(t), 0);
  const withKeys = (...keys: [string, ...string[]]) => encryptedStorage(store, documentKeys(keys));
  return { store, withKeys, storage: withKeys(OLD), plain: encryptedStorage(store, null) };
}

test('a document is nowhere as it is, has its own size and hash, and is read again', async (t) => {
  const { store, storage } = await arranged(t);
  const isPlain = (bytes: Buffer) => bytes.includes(document.subarray(1_000, 1_016));
  let looked = 0;
  const put = await storage.put(piecesOf(document), async ({ pieces, handle, sizeBytes, ...file }) => {
    assert.deepEqual([sizeBytes, file.sha256], [document.length, sha256]);
    assert.ok((await buffer(pieces())).equals(document));
    const { buffer: bytes } = await handle.read(Buffer.alloc(300_000), 0, 300_000, 0);
    assert.equal(isPlain(bytes), false, 'what arrives');
    looked++;
  });
  assert.deepEqual([put.sizeBytes, put.sha256, looked], [document.length, sha256, 1]);
  const stored = await rawOf(store, put.key);
  assert.deepEqual([isPlain(stored), stored.length > document.length], [false, true]);
  assert.ok((await documentOf(storage, put.key)).equals(document));
  assert.deepEqual(await namesOf(storage), [put.key], 'its envelope is no document');
  assert.equal(await storage.how(put.key), 'current');
  await storage.remove(put.key);
  assert.deepEqual(await namesOf(store), []);
});

test('what the check throws about an encrypted document leaves nothing of it', async (t) => {
  const { store, storage } = await arranged(t);
  const refusal = new Error('no');
  const put = storage.put(piecesOf(document), async () => {
    throw refusal;
  });
  await assert.rejects(put, refusal);
  assert.deepEqual(await namesOf(store), []);
});

test('a document of before, or without a key, is plain, and read with keys and without', async (t) => {
  const { store, storage, plain } = await arranged(t);
  const { key } = await plain.put(piecesOf(document), anything);
  assert.ok((await rawOf(store, key)).equals(document));
  for (const reader of [storage, plain]) {
    assert.ok((await documentOf(reader, key)).equals(document));
    assert.equal(await reader.how(key), 'plain');
  }
});

test("without its key a document is refused with the key's id, and stays", async (t) => {
  const { storage, plain, withKeys } = await arranged(t);
  const { key } = await storage.put(piecesOf(document), anything);
  for (const reader of [withKeys(NEW), plain]) {
    await assert.rejects(reader.read(key), lacksKey);
    await assert.rejects(reader.how(key), /is encrypted with the key [0-9a-f]{8}, which is neither/);
  }
  assert.ok((await documentOf(withKeys(NEW, OLD), key)).equals(document));
});

test('a document that was changed, replaced or exchanged for another one is refused', async (t) => {
  const { store, storage } = await arranged(t);
  const [{ key: a }, { key: b }] = [
    await storage.put(piecesOf(document), anything),
    await storage.put(piecesOf(randomBytes(document.length)), anything),
  ];
  const [bytes, envelope] = [await rawOf(store, a), await rawOf(store, envelopeOf(a))];
  const read = () => storage.read(a, sha256).then((stream) => buffer(stream));
  assert.ok((await read()).equals(document));
  const changed = Buffer.from(bytes);
  changed[150_000]! ^= 1;
  for (const [what, written] of [
    ['a bit', changed],
    ['its end', bytes.subarray(0, 100_000)],
    ['another document', await rawOf(store, b)],
    ['a document as it is', randomBytes(document.length)],
    ['nothing', Buffer.alloc(0)],
  ] as const) {
    await putRaw(store, a, written);
    await assert.rejects(read(), isChanged, what);
  }
  await putRaw(store, a, await rawOf(store, b));
  await putRaw(store, envelopeOf(a), await rawOf(store, envelopeOf(b)));
  await assert.rejects(documentOf(storage, a), isChanged, 'both files of another document');
  await putRaw(store, a, bytes);
  await putRaw(store, envelopeOf(a), Buffer.alloc(5_000_000));
  await assert.rejects(read(), isChanged, 'an envelope that is none');
  await store.remove(envelopeOf(a));
  await assert.rejects(read(), isChanged, 'no envelope');
  await putRaw(store, envelopeOf(a), envelope);
  assert.ok((await read()).equals(document));
  await assert.rejects(storage.read('00000000-0000-4000-8000-000000000000'), NotStored);
});

test('what ends with a fault has given no more than whole chunks, and not the last', async (t) => {
  const { store, storage, plain } = await arranged(t);
  const { key } = await plain.put(piecesOf(document), anything);
  const changed = Buffer.from(document);
  changed[0]! ^= 1;
  await putRaw(store, key, changed);
  let given = 0;
  await assert.rejects(async () => {
    for await (const piece of await storage.read(key, sha256)) given += piece.length;
  }, isChanged);
  assert.ok(given < document.length, `${given} bytes`);
});

test('plain documents are encrypted, and envelopes put under a new key, without their content', async (t) => {
  const { store, storage, plain, withKeys } = await arranged(t);
  const { key: before } = await plain.put(piecesOf(document), anything);
  const { key } = await storage.put(piecesOf(document), anything);
  const content = await rawOf(store, key);
  const both = withKeys(NEW, OLD);
  assert.deepEqual([await both.how(before), await both.how(key)], ['plain', 'other']);
  for (let turn = 0; turn < 2; turn++) {
    await both.encrypt(before, anything);
    await both.encrypt(key, anything);
    assert.deepEqual([await both.how(before), await both.how(key)], ['current', 'current']);
  }
  assert.ok((await rawOf(store, key)).equals(content), 'the content is what it was');
  assert.equal((await rawOf(store, before)).includes(document.subarray(0, 16)), false);
  for (const one of [before, key]) assert.ok((await documentOf(withKeys(NEW), one)).equals(document));
  await assert.rejects(storage.how(key), lacksKey);
  assert.deepEqual(await namesOf(both), [before, key].sort());
});

test('a document that is removed or encrypted by others meanwhile is left to them', async (t) => {
  const { store, storage, plain, withKeys } = await arranged(t);
  const put = async (to: Storage) => (await to.put(piecesOf(document), anything)).key;
  const both = withKeys(NEW, OLD);
  for (const to of [plain, storage]) {
    const gone = await put(to);
    await assert.rejects(
      both.encrypt(gone, () => both.remove(gone)),
      NotStored,
    );
    assert.deepEqual(await namesOf(store), []);
  }
  const twice = await put(plain);
  await storage.encrypt(twice, () => storage.encrypt(twice, anything));
  assert.ok((await documentOf(storage, twice)).equals(document));
});

test('a document that is removed while it is read is gone, and not tampered with', async (t) => {
  const { store, storage } = await arranged(t);
  const { key } = await storage.put(piecesOf(document), anything);
  // In this store, the document is removed, together with its envelope, just after its reading has begun.
  const removing: ByteStore = {
    ...store,
    async read(name) {
      const bytes = await store.read(name);
      if (name === key) await storage.remove(key);
      return bytes;
    },
  };
  await assert.rejects(encryptedStorage(removing, documentKeys([OLD])).read(key), NotStored);
});

test('whoever is killed between an envelope and its document has lost nothing', async (t) => {
  const { store, storage, plain } = await arranged(t);
  const { key } = await plain.put(piecesOf(document), anything);
  const { envelope } = documentKeys([OLD]).make(key);
  await putRaw(store, envelopeOf(key), Buffer.from(envelope));
  assert.equal(await storage.how(key), 'plain');
  assert.ok((await documentOf(storage, key)).equals(document));
  await storage.encrypt(key, anything);
  assert.ok((await documentOf(storage, key)).equals(document));
});

test('an envelope without a document is found to be swept, and one with a document is not', async (t) => {
  const { store, storage } = await arranged(t);
  const { key } = await storage.put(piecesOf(document), anything);
  const lost = envelopeOf('00000000-0000-4000-8000-000000000000');
  await putRaw(store, lost, Buffer.from('induct envelope'));
  assert.deepEqual(await namesOf(storage), [key, lost].sort());
  await storage.remove(lost);
  assert.deepEqual(await namesOf(store), [key, envelopeOf(key)].sort());
});

test('what is stored can be taken away and put back, and needs no key for that', async (t) => {
  const { store, storage, plain } = await arranged(t);
  const { key } = await storage.put(piecesOf(document), anything);
  const { bytes, envelope } = await plain.readStored(key);
  const copy = await buffer(bytes);
  assert.deepEqual(copy.subarray(0, MAGIC.length), MAGIC);
  await storage.remove(key);
  const hash = createHash('sha256').update(copy).digest();
  await plain.putStored(
    key,
    piecesOf(copy),
    envelope,
    async (file) => assert.deepEqual(file.sha256, hash),
    copy.length,
  );
  assert.equal(await text(await store.read(envelopeOf(key))), envelope);
  assert.ok((await documentOf(storage, key)).equals(document));
  // A restore from an older backup brings the document back unencrypted.
  await storage.remove(key);
  const check = async (file: { sha256: Buffer }) => assert.deepEqual(file.sha256, sha256);
  await storage.putStored(key, piecesOf(document), null, check, document.length);
  assert.equal(await storage.how(key), 'current');
});
