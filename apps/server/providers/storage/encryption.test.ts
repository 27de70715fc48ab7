import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import {
  CHUNK_BYTES,
  type DataKey,
  decrypted,
  encrypted,
  encryptedSize,
  MAGIC,
  pieceReader,
} from './encryption.ts';
import { DocumentFault } from './storage.ts';

const STORED_CHUNK = CHUNK_BYTES + 16;
const dataKey = (name = 'a'): DataKey => ({ key: randomBytes(32), name });

/** Yields bytes in pieces of `size`, as they come from a network. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const store = (bytes: Buffer, key: DataKey, size = 50_000) => buffer(encrypted(inPieces(bytes, size), key));
const restore = (stored: Buffer, key: DataKey, size = 50_000) =>
  buffer(decrypted(inPieces(stored, size), key));
const isRefused = (stored: Buffer, key: DataKey, message?: string) =>
  assert.rejects(restore(stored, key), DocumentFault, message);
/** Returns the encrypted chunks of a stored document, without its header. */
const chunksOf = (stored: Buffer) =>
  Array.from({ length: Math.ceil((stored.length - MAGIC.length) / STORED_CHUNK) }, (_, number) =>
    stored.subarray(MAGIC.length + number * STORED_CHUNK, MAGIC.length + (number + 1) * STORED_CHUNK),
  );
const joined = (...chunks: Buffer[]) => Buffer.concat([MAGIC, ...chunks]);

const sizes = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 7];

for (const size of sizes)
  test(`a document of ${size} bytes is stored without a trace of it, and read again, in whatever pieces`, async () => {
    const bytes = randomBytes(size);
    const key = dataKey();
    const stored = await store(bytes, key);
    assert.equal(stored.length, encryptedSize(size));
    for (let at = 0; at + 16 <= size; at += CHUNK_BYTES / 2)
      assert.equal(stored.includes(bytes.subarray(at, at + 16)), false);
    for (const piece of [1_000, STORED_CHUNK, 1_000_000]) {
      assert.ok((await store(bytes, key, piece)).equals(stored));
      assert.ok((await restore(stored, key, piece)).equals(bytes));
    }
    assert.ok((await restore(stored, key, 7)).equals(bytes));
  });

test('a document that ends early is refused, wherever it was cut', async () => {
  for (const size of sizes) {
    const key = dataKey();
    const stored = await store(randomBytes(size), key);
    for (let end = MAGIC.length; end < stored.length; end += STORED_CHUNK)
      for (const cut of [end, end - 1, end + 1, end + 16, end + 17])
        if (cut < stored.length) await isRefused(stored.subarray(0, cut), key, `${cut} of ${stored.length}`);
    await isRefused(stored.subarray(0, -1), key);
    await isRefused(Buffer.concat([stored, Buffer.from([0])]), key, 'a byte more');
    await isRefused(Buffer.concat([stored, stored.subarray(MAGIC.length)]), key, 'twice');
  }
});

test('a bit that is changed is refused, wherever it is', async () => {
  const key = dataKey();
  const stored = await store(randomBytes(CHUNK_BYTES + 100), key);
  const places = [0, 15, 16, 17, 65_600, MAGIC.length + STORED_CHUNK - 1, MAGIC.length + STORED_CHUNK];
  for (const place of [...places, stored.length - 1]) {
    const changed = Buffer.from(stored);
    changed[place]! ^= 1;
    await isRefused(changed, key, `at ${place}`);
  }
});

test('chunks that change places, are missing, come twice or are of another document are refused', async () => {
  const bytes = randomBytes(4 * CHUNK_BYTES);
  const key = dataKey();
  const other = dataKey();
  const [first, second, third, fourth] = chunksOf(await store(bytes, key)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const [, theirs] = chunksOf(await store(bytes, other)) as [Buffer, Buffer];
  assert.ok((await restore(joined(first, second, third, fourth), key)).equals(bytes));
  for (const chunks of [
    [second, first, third, fourth],
    [first, third, fourth],
    [first, second, third],
    [first, second, second, fourth],
    [first, second, third, fourth, fourth],
    [first, theirs, third, fourth],
  ])
    await isRefused(joined(...chunks), key);
});

test('a document is read by its own key and under its own name alone', async () => {
  const key = dataKey();
  const stored = await store(Buffer.from('a transcript'), key);
  await isRefused(stored, dataKey());
  await isRefused(stored, { ...key, name: 'b' });
});

test('no two chunks have a nonce in common, and none is the one that ends another', async () => {
  // GCM is a counter mode: with the same nonce, equal chunks would have equal ciphertexts.
  const key = dataKey();
  const stored = chunksOf(await store(Buffer.alloc(4 * CHUNK_BYTES), key)).map((chunk) =>
    chunk.subarray(0, 64),
  );
  const [alone] = chunksOf(await store(Buffer.alloc(CHUNK_BYTES), key)) as [Buffer];
  const all = [...stored, alone.subarray(0, 64)].map((chunk) => chunk.toString('hex'));
  assert.equal(new Set(all).size, 5);
});

test('what is stored is AES-256-GCM as another program would make it by the description', async () => {
  const key = dataKey('name');
  const cipher = createCipheriv('aes-256-gcm', key.key, Buffer.from('000000000000000000000001', 'hex'));
  cipher.setAAD(Buffer.from('induct sealed 1\nname'));
  const sealed = [cipher.update('hello'), cipher.final(), cipher.getAuthTag()];
  assert.deepEqual(
    await store(Buffer.from('hello'), key),
    Buffer.concat([Buffer.from('induct sealed 1\n'), ...sealed]),
  );
});

test('pieces are read from anywhere in a stored file, and a changed one is refused', async () => {
  for (const size of sizes) {
    const bytes = randomBytes(size);
    const key = dataKey();
    const stored = await store(bytes, key);
    const read = pieceReader((start, length) => stored.subarray(start, start + length), size, key);
    const places = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 3, size - 1, size];
    for (const start of places.filter((place) => place >= 0 && place <= size))
      for (const length of [0, 1, 16, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES])
        assert.ok(read(start, length).equals(bytes.subarray(start, start + length)), `${start} ${length}`);
  }
  const key = dataKey();
  const stored = await store(randomBytes(CHUNK_BYTES + 1), key);
  stored[stored.length - 1]! ^= 1;
  const read = pieceReader((start, length) => stored.subarray(start, start + length), CHUNK_BYTES + 1, key);
  assert.equal(read(0, 10).length, 10);
  assert.throws(() => read(CHUNK_BYTES - 1, 2), DocumentFault);
});
