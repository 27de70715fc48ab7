import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { envelopeOf, isKey, keyOfEnvelope } from './arrive.ts';
import { decrypted, encrypted, isEncrypted, MAGIC } from './encryption.ts';
import { type DocumentKeys, keyIdOf, lacksKey } from './envelope.ts';
import {
  type Arrived,
  type ByteStore,
  DocumentFault,
  NotStored,
  type Storage,
  type StoredFile,
} from './storage.ts';

/** The maximum number of bytes that are read from an envelope. An envelope has about 110 bytes. */
const LONGEST_ENVELOPE_BYTES = 1_000;

/**
 * Returns a storage that keeps its documents in a {@link ByteStore}. With keys, each document is encrypted with its own data key,
 * whose envelope is stored next to the document (docs/decisions/0015). Without keys, documents are stored unencrypted.
 * Unencrypted documents can be read in both cases: a document's first bytes show whether it is encrypted. An envelope is written
 * before its document, and removed after its document, so that an encrypted document always has an envelope.
 */
export function encryptedStorage(store: ByteStore, keys: DocumentKeys | null): Storage {
  async function readEnvelope(key: string): Promise<string> {
    const bytes = await store.read(envelopeOf(key)).catch(async (cause: unknown) => {
      if (!(cause instanceof NotStored)) throw cause;
      // If the document itself does not exist any more, it was removed after its first bytes had been read.
      if (!(await store.has(key))) throw new NotStored(key, { cause });
      throw new DocumentFault(`The envelope of document ${key} is not in the storage.`, { cause });
    });
    let text = '';
    for await (const piece of bytes) {
      text += piece;
      if (text.length > LONGEST_ENVELOPE_BYTES) break;
    }
    return text;
  }
  async function writeEnvelope(key: string, envelope: string): Promise<void> {
    await store.put(one(envelope), async () => {}, envelope.length, envelopeOf(key));
  }
  function dataKeyOf(key: string, envelope: string) {
    if (keys === null) throw lacksKey(key, keyIdOf(envelope, key));
    return keys.open(envelope, key);
  }
  async function isPlain(key: string): Promise<boolean> {
    const bytes = await store.read(key);
    const begun = await begin(bytes).finally(() => bytes.destroy());
    return !begun.isEncrypted;
  }
  /** Returns the stored bytes, with the envelope if the bytes are encrypted (otherwise null). */
  async function readStored(key: string) {
    const stored = await store.read(key);
    try {
      const { isEncrypted, all } = await begin(stored);
      return { bytes: readable(all, stored), envelope: isEncrypted ? await readEnvelope(key) : null };
    } catch (error) {
      stored.destroy();
      throw error;
    }
  }
  function open(key: string, bytes: AsyncIterable<Buffer>, envelope: string | null) {
    return envelope === null ? bytes : decrypted(bytes, dataKeyOf(key, envelope));
  }

  /**
   * Stores a document and, if there are keys, encrypts it while it arrives. `check` gets the unencrypted document, but only
   * encrypted bytes are then written to the disk.
   */
  async function putDocument(
    key: string,
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes: number | null,
  ): Promise<StoredFile> {
    if (keys === null) return store.put(bytes, check, expectedBytes, key);
    const { dataKey, envelope } = keys.make(key);
    const measured = measure(bytes);
    await store.put(
      encrypted(measured.bytes, dataKey),
      async (file) => {
        const document = { key, ...measured.told() };
        const pieces = () => decrypted(file.pieces(), dataKey);
        await check({ ...document, path: file.path, handle: file.handle, dataKey, pieces });
        await writeEnvelope(key, envelope);
      },
      expectedBytes,
      key,
    );
    return { key, ...measured.told() };
  }

  return {
    reach: () => store.reach(),
    room: () => store.room(),
    put: (bytes, check, expectedBytes = null) => putDocument(randomUUID(), bytes, check, expectedBytes),
    async read(key, sha256) {
      const { bytes, envelope } = await readStored(key);
      try {
        const document = open(key, bytes, envelope);
        return readable(sha256 ? checked(document, key, sha256) : document, bytes);
      } catch (error) {
        bytes.destroy();
        throw error;
      }
    },
    async remove(name) {
      await store.remove(name);
      // The envelope is removed after its document: a document without its envelope would look damaged.
      if (isKey(name)) await store.remove(envelopeOf(name));
    },
    async *olderThan(time) {
      let before = '';
      for await (const name of store.olderThan(time)) {
        const key = keyOfEnvelope(name);
        // A bucket lists an envelope right after its document, so that `has` need not be called. A folder's order is arbitrary.
        if (key === null || (key !== before && !(await store.has(key)))) yield name;
        before = name;
      }
    },
    async how(key) {
      const { bytes, envelope } = await readStored(key);
      bytes.destroy();
      if (envelope === null) return 'plain';
      dataKeyOf(key, envelope);
      return keyIdOf(envelope, key) === keys?.currentId ? 'current' : 'other';
    },
    async encrypt(key, hold) {
      if (keys === null) throw new Error('There is no DOCUMENT_KEY.');
      const { bytes, envelope: before } = await readStored(key);
      if (before !== null) {
        bytes.destroy();
        await hold();
        const envelope = keys.rewrap(await readEnvelope(key), key);
        if (envelope !== null) await writeEnvelope(key, envelope);
        return;
      }
      const { dataKey, envelope } = keys.make(key);
      const measured = measure(bytes);
      const done = new Error('encrypted by somebody else');
      const put = store.put(
        encrypted(measured.bytes, dataKey),
        async (file) => {
          await hold();
          if (!(await isPlain(key))) throw done;
          // The unencrypted document is about to be replaced, so the encrypted copy is first decrypted and compared with it.
          const again = measure(decrypted(file.pieces(), dataKey));
          for await (const _ of again.bytes);
          if (!again.told().sha256.equals(measured.told().sha256))
            throw new DocumentFault(`Document ${key} was not encrypted: it could not be read again.`);
          await writeEnvelope(key, envelope);
        },
        null,
        key,
      );
      await put.catch((error: unknown) => {
        if (error !== done) throw error;
      });
    },
    readStored,
    open,
    async putStored(key, bytes, envelope, check, expectedBytes) {
      if (envelope === null) return void (await putDocument(key, bytes, check, expectedBytes));
      await store.put(
        bytes,
        async (file) => {
          await check(file);
          await writeEnvelope(key, envelope);
        },
        expectedBytes,
        key,
      );
    },
  };
}

/** Reads the first bytes, which show whether the file is encrypted. `all` yields the whole file from its first byte. */
async function begin(
  bytes: AsyncIterable<Buffer>,
): Promise<{ isEncrypted: boolean; all: AsyncGenerator<Buffer> }> {
  const pieces = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let isOver = false;
  while (head.length < MAGIC.length && !isOver) {
    const { value, done } = await pieces.next();
    if (done) isOver = true;
    else head = Buffer.concat([head, value]);
  }
  async function* all() {
    try {
      if (head.length > 0) yield head;
      for (let next = isOver ? null : await pieces.next(); next && !next.done; next = await pieces.next())
        yield next.value;
    } finally {
      await pieces.return?.();
    }
  }
  return { isEncrypted: isEncrypted(head), all: all() };
}

/** Returns a stream of `bytes`, a generator that reads `source`. When the stream is closed, `source` is closed. */
function readable(bytes: AsyncIterable<Buffer>, source: Readable): Readable {
  const stream = Readable.from(bytes, { objectMode: false, highWaterMark: MAGIC.length + 65_536 });
  // If the stream was never read, the generator has not started, so its own clean-up does not close the source.
  stream.once('close', () => source.destroy());
  return stream;
}

/** Yields `bytes` unchanged. After the last byte, the function `told` returns the number and hash of the bytes. */
function measure(bytes: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let told: Omit<StoredFile, 'key'> | undefined;
  async function* measured() {
    for await (const piece of bytes) {
      hash.update(piece);
      sizeBytes += piece.length;
      yield piece;
    }
  }
  return {
    bytes: measured(),
    told: () => (told ??= { sizeBytes, sha256: hash.digest() }),
  };
}

/** Yields the bytes unchanged. Yields the last piece only if the hash of all bytes is `sha256`; otherwise throws. */
async function* checked(bytes: AsyncIterable<Buffer>, key: string, sha256: Buffer): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let last: Buffer = Buffer.alloc(0);
  for await (const piece of bytes) {
    hash.update(piece);
    if (last.length > 0) yield last;
    last = piece;
  }
  if (!hash.digest().equals(sha256))
    throw new DocumentFault(`Document ${key} was changed in the storage: it is not what was uploaded.`);
  if (last.length > 0) yield last;
}

async function* one(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
