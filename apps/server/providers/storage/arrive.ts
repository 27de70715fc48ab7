import { createHash, randomUUID } from 'node:crypto';
import { access, constants, type FileHandle, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Claim, Room } from './room.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';

/** The maximum number of bytes of one upload that are buffered before they are written to the disk. */
const WAITING_BYTES = 524_288;
const PIECE_BYTES = 65_536;
const PART = '.part';
const ENVELOPE = '.envelope';
const KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isKey = (name: string) => KEY.test(name);
/** Returns the name of a document's envelope, which is stored next to the document. */
export const envelopeOf = (key: string) => key + ENVELOPE;
/** Returns the storage key of the document whose envelope has this name; null if the name is not that of an envelope. */
export const keyOfEnvelope = (name: string) => keyBefore(ENVELOPE, name);
/** Whether this is the name of a document or of an envelope, and not of an incomplete file. */
export const isName = (name: string) => isKey(name) || keyOfEnvelope(name) !== null;
/** Returns the file name under which a document or envelope is written until it is complete. */
export const partOf = (name: string) => name + PART;
/** Returns the final name of an incomplete file; null for any other file. */
export function nameOfPart(file: string): string | null {
  const name = file.endsWith(PART) ? file.slice(0, -PART.length) : '';
  return isName(name) ? name : null;
}

function keyBefore(ending: string, name: string): string | null {
  const key = name.endsWith(ending) ? name.slice(0, -ending.length) : '';
  return isKey(key) ? key : null;
}

/**
 * Writes bytes to a temporary file in a folder and then calls `keep`, which makes the file permanent. In the end the temporary
 * file is deleted, unless `keep` has moved it. Needs constant memory. Throws {@link StorageFull} if the disk's reserve would be
 * used.
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
  // Uses a random name instead of `name`, so that the file that a killed process left does not block the next upload under
  // `name`.
  const path = resolve(folder, partOf(randomUUID()));
  try {
    const stored = { key: name, ...(await write(path, bytes, claim)) };
    // Ends the reservation: nothing more is written while the file is checked and stored.
    claim.release();
    await using handle = await open(path, 'r+');
    await keep({ ...stored, handle, path, dataKey: null, pieces: () => piecesOf(handle) });
    return stored;
  } finally {
    await rm(path, { force: true });
  }
}

/** Yields a file's bytes from its beginning and leaves the handle open; a read stream would close it. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Creates a folder if it does not exist. Rejects if the folder is not writable. */
export async function reachFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK);
}

/** Yields the names of documents, envelopes and their incomplete files in a folder that were last written before `time`. */
export async function* filesOlderThan(folder: string, time: Date): AsyncGenerator<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder)) {
    if (!entry.isFile() || !(isName(entry.name) || nameOfPart(entry.name))) continue;
    const { mtime } = await stat(resolve(folder, entry.name)).catch(() => ({ mtime: time }));
    if (mtime < time) yield entry.name;
  }
}

/** Writes bytes to a new file. Returns their number and hash. */
async function write(
  path: string,
  bytes: AsyncIterable<Buffer>,
  claim: Claim,
): Promise<Omit<StoredFile, 'key'>> {
  const file = (await open(path, 'wx', 0o600)).createWriteStream({ highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  /** How many written bytes have been reported to the claim. */
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
  // The pipeline starts with a generator function instead of `bytes`. Otherwise a write error would also destroy `bytes` and look
  // like the sender's error.
  await pipeline(hashed, file);
  return { sizeBytes, sha256: hash.digest() };
}
