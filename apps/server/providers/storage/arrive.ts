import { createHash, randomUUID } from 'node:crypto';
import { access, constants, type FileHandle, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Claim, Room } from './room.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';

/** The most bytes of one upload that are buffered before they are written. */
const WAITING_BYTES = 524_288;
const PIECE_BYTES = 65_536;
const PART = '.part';
const ENVELOPE = '.envelope';
const KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isKey = (name: string) => KEY.test(name);
/** Returns the name of a document's envelope, which is stored beside the document. */
export const envelopeOf = (key: string) => key + ENVELOPE;
/** Returns the storage key of the document to which the envelope of this name belongs; null for other names. */
export const keyOfEnvelope = (name: string) => keyBefore(ENVELOPE, name);
/** Whether this is the name of a complete document or envelope. */
export const isName = (name: string) => isKey(name) || keyOfEnvelope(name) !== null;
/** Returns the file name of an incomplete file. */
export const partOf = (name: string) => name + PART;
/** Returns the name that an incomplete file will have once it is complete; null for other files. */
export function nameOfPart(file: string): string | null {
  const name = file.endsWith(PART) ? file.slice(0, -PART.length) : '';
  return isName(name) ? name : null;
}

function keyBefore(ending: string, name: string): string | null {
  const key = name.endsWith(ending) ? name.slice(0, -ending.length) : '';
  return isKey(key) ? key : null;
}

/**
 * Writes bytes into a folder under a temporary name, then calls `keep` to make the file permanent. Deletes the temporary file after
 * any failure, and if `keep` has not moved it. Needs constant memory. Throws {@link StorageFull} before the disk's reserve is used.
 */
export async function arrive(
  { folder, room }: { folder: string; room: Room },
  bytes: AsyncIterable<Buffer>,
  expectedBytes: number | null,
  keep: (file: Arrived) => Promise<void>,
  name: string = randomUUID(),
): Promise<StoredFile> {
  const claim = await room.claim(expectedBytes);
  try {
    return await arriveIn(folder, bytes, claim, keep, name);
  } catch (error) {
    const { code } = error as { code?: string };
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new StorageFull(undefined, { cause: error }) : error;
  } finally {
    claim.release();
  }
}

async function arriveIn(
  folder: string,
  bytes: AsyncIterable<Buffer>,
  claim: Claim,
  keep: (file: Arrived) => Promise<void>,
  name: string,
): Promise<StoredFile> {
  // A random name instead of `name`, so that a file left by a killed process does not block the next upload.
  const path = resolve(folder, partOf(randomUUID()));
  try {
    const stored = { key: name, ...(await write(path, bytes, claim)) };
    // Releases the space early, since nothing more is written while the file is inspected and forwarded.
    claim.release();
    await using handle = await open(path, 'r+');
    await keep({ ...stored, handle, path, dataKey: null, pieces: () => piecesOf(handle) });
    return stored;
  } finally {
    await rm(path, { force: true });
  }
}

/** Yields a file's bytes from its beginning. A read stream would close the handle at its end. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Creates a folder if needed. Rejects if it is not writable. */
export async function reachFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK);
}

/** Lists the names of our files in a folder, complete or not, that were last written before `time`. */
export async function* filesOlderThan(folder: string, time: Date): AsyncGenerator<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder)) {
    if (!entry.isFile() || !(isName(entry.name) || nameOfPart(entry.name))) continue;
    const { mtime } = await stat(resolve(folder, entry.name)).catch(() => ({ mtime: time }));
    if (mtime < time) yield entry.name;
  }
}

/** Writes the stream to a new file and computes its hash. */
async function write(
  path: string,
  bytes: AsyncIterable<Buffer>,
  claim: Claim,
): Promise<Omit<StoredFile, 'key'>> {
  const file = (await open(path, 'wx', 0o600)).createWriteStream({ highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  /** Bytes reported to the claim as written. */
  let toldBytes = 0;
  async function* hashed() {
    for await (const chunk of bytes) {
      await claim.take(chunk.length);
      hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
      claim.written(file.bytesWritten - toldBytes);
      toldBytes = file.bytesWritten;
    }
  }
  // Begins with a generator: a pipeline that began with `bytes` would destroy `bytes` with an error of the file, which would then
  // look like an error of the sender.
  await pipeline(hashed, file);
  return { sizeBytes, sha256: hash.digest() };
}
