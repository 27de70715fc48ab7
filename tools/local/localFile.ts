import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The addresses and keys of the programs that `npm start` runs. Stored in `DATA_DIR/local.json` for tools and tests. The file
 * holds passwords, so its mode is 600.
 */
export interface LocalFile {
  server: { url: string };
  /** The staff's desk, and a link that works once and signs a browser in as an owner. */
  desk?: { url: string; link: string };
  stripe?: { url: string; secretKey: string };
  hubspot?: { url: string; accessToken: string };
  /** The page that shows letters, and the SMTP address that receives them. */
  mail?: { url: string; smtpUrl: string };
  database: { url: string };
}

export function writeLocalFile(dataDir: string, content: LocalFile): void {
  const file = join(dataDir, 'local.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Returns the file's content, written by the running `npm start` or else by the last one; undefined if there is no file. */
export function readLocalFile(dataDir: string): LocalFile | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'local.json'), 'utf8')) as LocalFile;
  } catch {
    return undefined;
  }
}
