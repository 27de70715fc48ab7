import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';

export interface StoredFile {
  /** How the storage finds it again. */
  key: string;
  sizeBytes: number;
  sha256: Buffer;
}

/** Bytes that have arrived and are not kept yet. The file is only there while it is looked at. */
export interface Arrived extends StoredFile {
  handle: FileHandle;
  path: string;
}

/** The disk is as full as it may become. */
export class StorageFull extends Error {}

/** Where documents are kept. */
export interface Storage {
  /**
   * Answers only when the bytes are safe. What `check` throws about them, or a failure in the middle, leaves nothing
   * behind. Throws {@link StorageFull} before the reserve is touched.
   */
  put(bytes: Readable, check: (file: Arrived) => Promise<void>): Promise<StoredFile>;
  /** How many more bytes may come. */
  room(): Promise<number>;
  read(key: string): Promise<Readable>;
  remove(key: string): Promise<void>;
  /** Everything put here that was last written to before `time`: also what a crash left half written. */
  olderThan(time: Date): AsyncIterable<string>;
}

/** How many bytes are written before the room is looked at again. */
const LOOK_EVERY_BYTES = 16 * 1_048_576;
const PART = '.part';
const OURS = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.part)?$/;

/**
 * A folder on this machine: written under a temporary name, synced, then renamed into place and the folder synced.
 * `reserveBytes` of its disk stay free: a database beside it stops when there is nothing left.
 */
export function folderStorage(folder: string, reserveBytes: number): Storage {
  async function room(): Promise<number> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    return Math.max(0, bavail * bsize - reserveBytes);
  }

  return {
    room,
    async put(bytes, check) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const key = randomUUID();
      const temporary = resolve(folder, key + PART);
      const handle = await open(temporary, 'wx+', 0o600);
      const hash = createHash('sha256');
      let sizeBytes = 0;
      let lookAt = 0;
      try {
        for await (const chunk of bytes as AsyncIterable<Buffer>) {
          if (sizeBytes >= lookAt) {
            if ((await room()) === 0) throw new StorageFull();
            lookAt += LOOK_EVERY_BYTES;
          }
          hash.update(chunk);
          sizeBytes += chunk.length;
          await writeAll(handle, chunk);
        }
        const stored = { key, sizeBytes, sha256: hash.digest() };
        await check({ ...stored, handle, path: temporary });
        await handle.sync();
        await handle.close();
        await rename(temporary, resolve(folder, key));
        await syncFolder(folder);
        return stored;
      } catch (error) {
        await handle.close().catch(() => {});
        await rm(temporary, { force: true });
        const { code } = error as { code?: string };
        throw code === 'ENOSPC' || code === 'EDQUOT' ? new StorageFull(undefined, { cause: error }) : error;
      }
    },
    async read(key) {
      const handle = await open(resolve(folder, key));
      return createReadStream('', { fd: handle });
    },
    async remove(key) {
      await rm(resolve(folder, key), { force: true });
    },
    async *olderThan(time) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for await (const entry of await opendir(folder)) {
        if (!entry.isFile() || !OURS.test(entry.name)) continue;
        const { mtime } = await stat(resolve(folder, entry.name)).catch(() => ({ mtime: time }));
        if (mtime < time) yield entry.name;
      }
    },
  };
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  let offset = 0;
  while (offset < chunk.length) offset += (await file.write(chunk, offset)).bytesWritten;
}

/** A rename is only safe once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
