import { createHash, randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Claim, Room } from './room.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';

/** What of each upload may wait in memory to be written. */
const WAITING_BYTES = 524_288;
const PART = '.part';
const KEY = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The name of what is half written under a key. */
export const partOf = (key: string) => key + PART;
/** The key of something half written, or null for a name that is not of that kind. */
export function keyOfPart(name: string): string | null {
  const key = name.endsWith(PART) ? name.slice(0, -PART.length) : '';
  return isKey(key) ? key : null;
}
export const isKey = (name: string) => KEY.test(name);

/**
 * Writes bytes into a folder under a temporary name, and hands the file to `keep`, which makes it last. It is gone when
 * anything fails, and when `keep` leaves it where it is. Constant memory. Throws {@link StorageFull} before the reserve is touched.
 */
export async function arrive(
  { folder, room }: { folder: string; room: Room },
  bytes: Readable,
  expectedBytes: number | null,
  keep: (file: Arrived) => Promise<void>,
): Promise<StoredFile> {
  const claim = await room.claim(expectedBytes);
  try {
    return await arriveIn(folder, bytes, claim, keep);
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
): Promise<StoredFile> {
  const key = randomUUID();
  const path = resolve(folder, partOf(key));
  try {
    const stored = { key, ...(await write(path, bytes, claim)) };
    // While it is looked at and sent on, nothing more is written.
    claim.release();
    await using handle = await open(path, 'r+');
    await keep({ ...stored, handle, path });
    return stored;
  } finally {
    await rm(path, { force: true });
  }
}

/** Rejects when nothing can be written into a folder. */
export async function reachFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK);
}

/** The names of our files in a folder, whole or half written, that were last written to before `time`. */
export async function* filesOlderThan(folder: string, time: Date): AsyncGenerator<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for await (const entry of await opendir(folder)) {
    if (!entry.isFile() || !(isKey(entry.name) || keyOfPart(entry.name))) continue;
    const { mtime } = await stat(resolve(folder, entry.name)).catch(() => ({ mtime: time }));
    if (mtime < time) yield entry.name;
  }
}

/** Writes everything to a new file, and hashes it on the way. */
async function write(path: string, bytes: Readable, claim: Claim): Promise<Omit<StoredFile, 'key'>> {
  const file = (await open(path, 'wx', 0o600)).createWriteStream({ highWaterMark: WAITING_BYTES });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  /** Of these the claim has been told that they are written. */
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
  // A generator, since a pipeline would destroy `bytes` with the file's error, and that would pass for one of the sender's.
  await pipeline(hashed, file);
  return { sizeBytes, sha256: hash.digest() };
}
