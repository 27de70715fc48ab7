import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DocumentFault } from './storage.ts';

/**
 * The format of an encrypted document (docs/decisions/0015): {@link MAGIC}, then the document in chunks. Each chunk is encrypted
 * with AES-256-GCM (NIST SP 800-38D) and followed by its tag. The nonce contains the chunk's number and whether the chunk is the
 * last one, as in the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its
 * Nonce-Reuse Misuse-Resistance", 2015). A data key encrypts only one document, so no nonce is used twice.
 * The document's name in the storage is authenticated with each chunk. A chunk that was changed, removed, moved or taken from
 * another document is therefore detected before any of its bytes are returned.
 */

/** The first bytes of an encrypted file. No accepted type of document begins with these bytes. */
export const MAGIC = Buffer.from('induct sealed 1\n');
export const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** Returns the stored size of an encrypted document (bytes). `sizeBytes` is its unencrypted size. */
export function encryptedSize(sizeBytes: number): number {
  return MAGIC.length + sizeBytes + TAG_BYTES * Math.max(1, Math.ceil(sizeBytes / CHUNK_BYTES));
}

/** A data key with the name of the document that it encrypts. The key encrypts nothing else. */
export interface DataKey {
  /** 32 bytes. */
  key: Buffer;
  /** The document's name in the storage. */
  name: string;
}

/** Encrypts a document. Yields {@link MAGIC} and the encrypted chunks. */
export async function* encrypted(bytes: AsyncIterable<Buffer>, dataKey: DataKey): AsyncGenerator<Buffer> {
  yield MAGIC;
  for await (const { chunk, number, isLast } of chunksOf(bytes, CHUNK_BYTES)) {
    const cipher = createCipheriv(CIPHER, dataKey.key, nonceOf(number, isLast));
    cipher.setAAD(boundTo(dataKey));
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts what {@link encrypted} yields. Throws {@link DocumentFault}. */
export async function* decrypted(bytes: AsyncIterable<Buffer>, dataKey: DataKey): AsyncGenerator<Buffer> {
  for await (const { chunk, number, isLast } of chunksOf(
    behindMagic(bytes, dataKey),
    CHUNK_BYTES + TAG_BYTES,
  ))
    yield decryptChunk(chunk, number, isLast, dataKey);
}

async function* behindMagic(bytes: AsyncIterable<Buffer>, dataKey: DataKey): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const piece of bytes) {
    if (head === null) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    if (head.length < MAGIC.length) continue;
    if (!isEncrypted(head)) break;
    yield head.subarray(MAGIC.length);
    head = null;
  }
  if (head !== null) throw changed(dataKey);
}

/** Whether a file is encrypted, by its first bytes. */
export function isEncrypted(head: Buffer): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC);
}

/**
 * Returns a function that reads any part of an encrypted document. `sizeBytes` is the unencrypted size; `readStored` reads
 * encrypted bytes. The last decrypted chunk is cached, so many small reads cost no more than one large read.
 */
export function pieceReader(
  readStored: (start: number, length: number) => Buffer,
  sizeBytes: number,
  dataKey: DataKey,
): (start: number, length: number) => Buffer {
  const last = Math.max(0, Math.ceil(sizeBytes / CHUNK_BYTES) - 1);
  let kept: { number: number; chunk: Buffer } = { number: -1, chunk: Buffer.alloc(0) };
  const chunkAt = (number: number) => {
    if (kept.number !== number) {
      const stored = readStored(
        MAGIC.length + number * (CHUNK_BYTES + TAG_BYTES),
        Math.min(CHUNK_BYTES, sizeBytes - number * CHUNK_BYTES) + TAG_BYTES,
      );
      kept = { number, chunk: decryptChunk(stored, number, number === last, dataKey) };
    }
    return kept.chunk;
  };
  return (start, length) => {
    const end = Math.min(start + length, sizeBytes);
    const pieces: Buffer[] = [];
    for (let at = start; at < end; ) {
      const number = Math.floor(at / CHUNK_BYTES);
      const from = number * CHUNK_BYTES;
      const piece = chunkAt(number).subarray(at - from, end - from);
      pieces.push(piece);
      at += piece.length;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  };
}

function decryptChunk(stored: Buffer, number: number, isLast: boolean, dataKey: DataKey): Buffer {
  const end = stored.length - TAG_BYTES;
  if (end < 0) throw changed(dataKey);
  const decipher = createDecipheriv(CIPHER, dataKey.key, nonceOf(number, isLast), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(boundTo(dataKey));
  decipher.setAuthTag(stored.subarray(end));
  try {
    return Buffer.concat([decipher.update(stored.subarray(0, end)), decipher.final()]);
  } catch (cause) {
    throw changed(dataKey, cause);
  }
}

function changed({ name }: DataKey, cause?: unknown): DocumentFault {
  return new DocumentFault(`Document ${name} was changed in the storage, or is not whole.`, { cause });
}

/** Returns the nonce of a chunk (12 bytes): zeros, the number as four bytes, and 1 for the last chunk, otherwise 0. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function boundTo({ name }: DataKey): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(name)]);
}

/** Splits bytes into chunks of `size` bytes. The last chunk may be shorter. If there are no bytes, yields one empty chunk. */
async function* chunksOf(
  bytes: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<{ chunk: Buffer; number: number; isLast: boolean }> {
  let number = 0;
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const piece of bytes) {
    waiting.push(piece);
    length += piece.length;
    // A full chunk is yielded only when another byte arrives, because until then the chunk may be the last one.
    if (length <= size) continue;
    let all = Buffer.concat(waiting);
    for (; all.length > size; all = all.subarray(size))
      yield { chunk: all.subarray(0, size), number: number++, isLast: false };
    waiting = [all];
    length = all.length;
  }
  yield { chunk: Buffer.concat(waiting), number, isLast: true };
}
