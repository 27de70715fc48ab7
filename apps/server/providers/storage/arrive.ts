import { createHash, randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Claim, Room } from './room.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';

/** Most bytes of one upload that wait in memory to be written. */
const WAITING_BYTES = 524_288;
const PART = '.part';
const KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The file name of an incomplete upload. */
export const partOf = (key: string) => key + PART;
/** The key of an incomplete upload by its file name; null for other names. */
export function keyOfPart(name: string): string | null {
  const key = name.endsWith(PART) ? name.slice(0, -PART.length) : '';
  return isKey(key) ? key : null;
}
export const isKey = (name: string) => KEY.test(name);

/**
 * Writes bytes into a folder under a temporary name, then calls `keep` to make the file permanent. The temporary file is deleted on any
 * failure, and if `keep` does not move it. Constant memory. Throws {@link StorageFull} before the reserve is touched.
 */
export async function arrive(
  { folder, room }: { folder: string; room: Room },
  bytes: Readable,
  expectedBytes: number | null,
  keep: (file: Arrived) => Promise<void>,
  key: string = randomUUID(),
): Promise<StoredFile> {
  const claim = await room.claim(expectedBytes);
  try {
    return await arriveIn(folder, bytes, claim, keep, key);
  } catch (error) {
    const { code } = error as { code?: string };
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new StorageFull(undefined, { cause: error }) : error;
  } finally {
    claim.release();
  }
}

async function arriveIn(
  folder: string,
  bytes: Readable,
  claim: Claim,
  keep: (file: Arrived) => Promise<void>,
  key: string,
): Promise<StoredFile> {
  const path = resolve(folder, partOf(key));
  try {
    const stored = { key, ...(await write(path, bytes, claim)) };
    // Nothing more is written while the file is inspected and forwarded.
    claim.release();
    await using handle = await open(path, 'r+');
    await keep({ ...stored, handle, path });
    return stored;
  } finally {
    await rm(path, { force: true });
  }
}

/** Creates a folder if needed. Rejects when it is not writable. */
export async function reachFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK);
}

/** Names of our files in a folder, complete or not, last written before `time`. */
export async function* filesOlderThan(folder: string, time: Date): AsyncGenerator<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder)) {
    if (!entry.isFile() || !(isKey(entry.name) || keyOfPart(entry.name))) continue;
    const { mtime } = await stat(resolve(folder, entry.name)).catch(() => ({ mtime: time }));
    if (mtime < time) yield entry.name;
  }
}

/** Writes the stream to a new file and computes its hash. */
async function write(path: string, bytes: Readable, claim: Claim): Promise<Omit<StoredFile, 'key'>> {
  const file = (await open(path, 'wx', 0o600)).createWriteStream({ highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  /** Bytes reported to the claim as written. */
  let toldBytes = 0;
  async function* hashed() {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      await claim.take(chunk.length);
      hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
      claim.written(file.bytesWritten - toldBytes);
      toldBytes = file.bytesWritten;
    }
  }
  // A generator: a pipeline from `bytes` itself would destroy it with the file's error, which would look like the sender's.
  await pipeline(hashed, file);
  return { sizeBytes, sha256: hash.digest() };
}
