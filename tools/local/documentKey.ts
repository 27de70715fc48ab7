import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the document key in `DATA_DIR/document.key`. `npm start` uses this key with the database that it starts itself, so that
 * a trial runs the same code as production. The key protects nothing, since it is in the same folder as the documents. A missing
 * file is created, readable by its owner alone. The folder must exist, and the caller must hold the folder's lock.
 */
export function documentKeyIn(dataDir: string): string {
  const file = join(dataDir, 'document.key');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
  }
  const key = randomBytes(32).toString('hex');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return key;
}
