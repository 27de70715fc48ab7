import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Deps } from '../deps.ts';

/** Writes what the storage has under a key to a new file that only its owner reads; false when there is a file already. */
export async function saveDocument({ storage }: Deps, key: string, path: string): Promise<boolean> {
  try {
    await pipeline(await storage.read(key), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
    return false;
  }
}
