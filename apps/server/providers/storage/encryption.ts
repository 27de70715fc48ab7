import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DocumentFault } from './storage.ts';

/**
 * How a document is encrypted (docs/decisions/0044): {@link MAGIC}, then the document's bytes in chunks. Each chunk is encrypted
 * with AES-256-GCM (NIST SP 800-38D) and followed by its tag. The nonce holds the chunk's number and whether it is the last one, as
 * in the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
 * Misuse-Resistance", 2015). A data key encrypts one document once, so that no nonce is used twice.
 * Each chunk also authenticates the document's name in the storage. So a chunk that was changed, removed, moved or taken from
 * another document is detected before any of its bytes are returned.
 */

/** Marks encrypted files: no document that we accept begins with these bytes. */
export const MAGIC = Buffer.from('induct sealed 1\n');
export const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** Returns how many bytes an encrypted document of this size takes in the storage. */
export function encryptedSize(sizeBytes: number): number {
  return MAGIC.length + sizeBytes + TAG_BYTES * Math.max(1, Math.ceil(sizeBytes / CHUNK_BYTES));
}

/** The key and name that encrypt one document. The key encrypts that document once and nothing else. */
export interface DataKey {
  /** 32 bytes. */
  key: Buffer;
  /** The document's name in the storage. */
  name: string;
}

/** Encrypts a document's bytes for the storage. */
export async function* encrypted(bytes: AsyncIterable<Buffer>, dataKey: DataKey): AsyncGenerator<Buffer> {
  yield MAGIC;
  for await (const { chunk, number, isLast } of chunksOf(bytes, CHUNK_BYTES)) {
    const cipher = createCipheriv(CIPHER, dataKey.key, nonceOf(number, isLast));
    cipher.setAAD(boundTo(dataKey));
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts a document's bytes from the storage. Throws {@link DocumentFault}. */
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

/** Whether a file that begins with `head` is encrypted. */
export function isEncrypted(head: Buffer): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC);
}

/**
 * Returns a function that reads pieces of an encrypted file, from any offset. `sizeBytes` is the unencrypted size; `readStored`
 * reads the encrypted bytes. Keeps the last chunk decrypted, so that many small reads cost no more than one large one.
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

/** Returns 96 bits: zeros, the chunk's number, and 1 for the last chunk. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function boundTo({ name }: DataKey): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(name)]);
}

/** Splits bytes into chunks of `size` bytes. The last chunk holds the rest and may be empty; there is always at least one chunk. */
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
    // A full chunk may be the last one: that is known only when the next byte comes.
    if (length <= size) continue;
    let all = Buffer.concat(waiting);
    for (; all.length > size; all = all.subarray(size))
      yield { chunk: all.subarray(0, size), number: number++, isLast: false };
    waiting = [all];
    length = all.length;
  }
  yield { chunk: Buffer.concat(waiting), number, isLast: true };
}
