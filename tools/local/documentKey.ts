import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The key of the documents beside a database that we bring, in `DATA_DIR/document.key`: made once, for its owner alone. It protects nothing
 * there, but whoever tries Induct out uses what a real installation uses. The folder must be there, and its lock be held to make one.
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
