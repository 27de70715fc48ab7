import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { arrive, filesOlderThan, reachFolder } from './arrive.ts';
import { roomOf } from './room.ts';
import { NotStored, type Storage } from './storage.ts';

/**
 * A folder on this machine. A file is written under a temporary name, synced, renamed, and its folder synced. `reserveBytes` of the disk
 * stay free, since a database on a full disk stops.
 */
export function folderStorage(folder: string, reserveBytes: number): Storage {
  const room = roomOf(folder, reserveBytes);
  return {
    reach: () => reachFolder(folder),
    room: () => room.left(),
    put: (bytes, check, expectedBytes = null, key) =>
      arrive(
        { folder, room },
        bytes,
        expectedBytes,
        async (file) => {
          await check(file);
          await file.handle.sync();
          await rename(file.path, resolve(folder, file.key));
          await syncFolder(folder);
        },
        key,
      ),
    async read(key) {
      const handle = await open(resolve(folder, key)).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new NotStored(key, { cause: error }) : error;
      });
      return createReadStream('', { fd: handle });
    },
    remove: (key) => rm(resolve(folder, key), { force: true }),
    olderThan: (time) => filesOlderThan(folder, time),
  };
}

/** A rename is durable only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
