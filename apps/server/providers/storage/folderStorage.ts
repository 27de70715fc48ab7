import { createReadStream } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { arrive, filesOlderThan, reachFolder } from './arrive.ts';
import { roomOf } from './room.ts';
import { type ByteStore, NotStored } from './storage.ts';

/**
 * Returns a store that keeps files in a folder on this machine. A file is written under a temporary name, synced and renamed;
 * then its folder is synced. Keeps `reserveBytes` of the disk free, because a database on a full disk stops.
 */
export function folderStorage(folder: string, reserveBytes: number): ByteStore {
  const room = roomOf(folder, reserveBytes);
  return {
    reach: () => reachFolder(folder),
    room: () => room.left(),
    put: (bytes, check, expectedBytes = null, name) =>
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
        name,
      ),
    async read(name) {
      const handle = await open(resolve(folder, name)).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new NotStored(name, { cause: error }) : error;
      });
      return createReadStream('', { fd: handle });
    },
    has: (name) =>
      access(resolve(folder, name)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          throw error;
        },
      ),
    remove: (name) => rm(resolve(folder, name), { force: true }),
    olderThan: (time) => filesOlderThan(folder, time),
  };
}

/** Makes a rename in this folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
