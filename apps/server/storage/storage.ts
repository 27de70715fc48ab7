import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';

export interface StoredFile {
  /** How the storage finds it again. */
  key: string;
  sizeBytes: number;
  sha256: Buffer;
}

/** Where documents are kept. `put` answers only when the bytes are safe; a failure in the middle leaves nothing behind. */
export interface Storage {
  put(bytes: Readable): Promise<StoredFile>;
  remove(key: string): Promise<void>;
}

/** A folder on this machine: written under a temporary name, synced, then renamed into place and the folder synced. */
export function folderStorage(folder: string): Storage {
  return {
    async put(bytes) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const key = randomUUID();
      const temporary = resolve(folder, `${key}.part`);
      const file = await open(temporary, 'wx', 0o600);
      const hash = createHash('sha256');
      let sizeBytes = 0;
      try {
        for await (const chunk of bytes as AsyncIterable<Buffer>) {
          hash.update(chunk);
          sizeBytes += chunk.length;
          await writeAll(file, chunk);
        }
        await file.sync();
        await file.close();
        await rename(temporary, resolve(folder, key));
        await syncFolder(folder);
      } catch (error) {
        await file.close().catch(() => {});
        await rm(temporary, { force: true });
        throw error;
      }
      return { key, sizeBytes, sha256: hash.digest() };
    },
    async remove(key) {
      await rm(resolve(folder, key), { force: true });
    },
  };
}

async function writeAll(file: Awaited<ReturnType<typeof open>>, chunk: Buffer): Promise<void> {
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
