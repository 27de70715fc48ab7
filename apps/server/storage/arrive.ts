import { randomUUID } from 'node:crypto';
import { access, constants, type FileHandle, mkdir, open, opendir, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Claim, Room } from './room.ts';
import { type Arrived, StorageFull, type StoredFile } from './storage.ts';
import { openWriter } from './writer.ts';

/** Held of each upload before it is written; as much again is being written. */
const PIECE_BYTES = 524_288;
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
  const handle = await open(path, 'wx+', 0o600);
  try {
    const stored = { key, ...(await write(handle, bytes, claim)) };
    // While it is looked at and sent on, nothing more is written.
    claim.release();
    await keep({ ...stored, handle, path });
    return stored;
  } finally {
    await handle.close();
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

/** Gathers what comes into larger pieces, and takes more while one is written and summed up: that costs as much as taking it. */
async function write(file: FileHandle, bytes: Readable, claim: Claim): Promise<Omit<StoredFile, 'key'>> {
  await using writer = openWriter(file.fd);
  let sizeBytes = 0;
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  let other = Promise.resolve(new Uint8Array(PIECE_BYTES));
  const hand = async () => {
    const length = filled;
    await claim.take(length);
    const written = writer.append(piece.subarray(0, length)).then((memory) => {
      claim.written(length);
      return memory;
    });
    // Its failure is thrown where it is waited for.
    written.catch(() => {});
    piece = await other;
    other = written;
    filled = 0;
  };
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === PIECE_BYTES) await hand();
    }
  }
  if (filled > 0) await hand();
  await other;
  return { sizeBytes, sha256: await writer.sha256() };
}
