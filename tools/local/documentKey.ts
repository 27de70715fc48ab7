import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the document key from `DATA_DIR/document.key`, for a database that `npm start` runs itself. Makes the file once, readable
 * only by its owner. The key lies beside the documents, so it protects nothing, but a trial runs the same code as a real
 * installation. The folder must exist, and the caller must hold its lock when the key is made.
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
