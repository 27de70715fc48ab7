import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, rm, stat, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { noteUsedUp } from '../memory.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';

/** How many bytes are written before the room is looked at again. */
const LOOK_EVERY_BYTES = 16 * 1_048_576;
/** Held of each upload before it is written; as much again is being written. */
const WRITE_BYTES = 524_288;
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
 * anything fails, and when `keep` leaves it where it is. Constant memory.
 */
export async function arrive(
  folder: string,
  reserveBytes: number,
  bytes: Readable,
  keep: (file: Arrived) => Promise<void>,
): Promise<StoredFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const key = randomUUID();
  const path = resolve(folder, partOf(key));
  const handle = await open(path, 'wx+', 0o600);
  try {
    const stored = { key, ...(await write(handle, bytes, () => roomIn(folder, reserveBytes))) };
    await keep({ ...stored, handle, path });
    return stored;
  } catch (error) {
    const { code } = error as { code?: string };
    throw code === 'ENOSPC' || code === 'EDQUOT' ? new StorageFull(undefined, { cause: error }) : error;
  } finally {
    await handle.close();
    await rm(path, { force: true });
  }
}

/** How many bytes fit on a folder's disk beside the reserve. */
export async function roomIn(folder: string, reserveBytes: number): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  return Math.max(0, bavail * bsize - reserveBytes);
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

/** Gathers what comes into larger writes, and takes more while one is under way: the hash costs as much as the disk. */
async function write(
  file: FileHandle,
  bytes: Readable,
  room: () => Promise<number>,
): Promise<Omit<StoredFile, 'key'>> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let lookAt = 0;
  let writing: Promise<void> = Promise.resolve();
  const hand = async () => {
    await writing;
    if (sizeBytes >= lookAt) {
      if ((await room()) === 0) throw new StorageFull();
      lookAt = sizeBytes + LOOK_EVERY_BYTES;
    }
    writing = writeAll(file, gathered);
    // Its failure is thrown where it is waited for.
    writing.catch(() => {});
    gathered = [];
    gatheredBytes = 0;
  };
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      sizeBytes += chunk.length;
      if (gatheredBytes >= WRITE_BYTES) await hand();
      hash.update(chunk);
      noteUsedUp(chunk.length);
    }
    if (gatheredBytes > 0) await hand();
  } finally {
    await writing;
  }
  return { sizeBytes, sha256: hash.digest() };
}

async function writeAll(file: FileHandle, chunks: Buffer[]): Promise<void> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  let { bytesWritten } = await file.writev(chunks);
  if (bytesWritten === length) return;
  // A disk that is nearly full takes less than it was given.
  const all = Buffer.concat(chunks);
  while (bytesWritten < length) bytesWritten += (await file.write(all, bytesWritten)).bytesWritten;
}
