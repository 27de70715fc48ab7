import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DocumentFault, NotStored } from '../providers/storage/storage.ts';
import type { Deps } from './deps.ts';
import { reportUnreadable } from './reportUnreadable.ts';

/**
 * Writes a document to a new file that only its owner can read. Returns null if that succeeded; otherwise a sentence, for example
 * if the path exists or the document cannot be read. `sha256` is the hash in the document's row; absent if there is no row.
 */
export async function saveDocument(
  deps: Pick<Deps, 'storage' | 'database' | 'log'>,
  { key, sha256 }: { key: string; sha256?: Buffer },
  path: string,
): Promise<string | null> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file === null) return `${path} is there already.`;
  try {
    await pipeline(await deps.storage.read(key, sha256), file.createWriteStream());
    return null;
  } catch (error) {
    await file.close();
    await rm(path);
    return whyUnread(deps, key, error);
  }
}

/**
 * Returns a sentence about why a document could not be read. If its file is at fault, also writes a notice for staff. Throws all
 * other errors.
 */
export async function whyUnread(
  deps: Pick<Deps, 'database' | 'log'>,
  key: string,
  error: unknown,
): Promise<string> {
  if (error instanceof NotStored) return `Document ${key} is not in the storage.`;
  if (!(error instanceof DocumentFault)) throw error;
  await reportUnreadable(deps, error);
  return error.message;
}
