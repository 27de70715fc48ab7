import { resolve } from 'node:path';
import { type LoneCommand, misused, readArgs } from '../platform/command.ts';
import type { Config } from '../platform/config/config.ts';
import { fileFaultOf } from '../platform/fileFault.ts';
import { journalPath } from '../privacy/journal.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { StorageDown } from '../providers/storage/storage.ts';
import { backUp } from './backUp.ts';
import { BackupFault, keyOf } from './manifest.ts';
import type { StoppableDatabase } from './stoppedDatabase.ts';

/**
 * Saves the database and all documents into `folder`, and prints what was saved. With `stoppable`, the database is stopped and its
 * files are copied. Returns the exit status.
 */
export async function saveTo(
  folder: string,
  config: Config,
  stoppable: StoppableDatabase | null = null,
): Promise<number> {
  const began = performance.now();
  try {
    const { counts, files, absent, damaged, unchecked } = await backUp(
      config.databaseUrl,
      await openStorage(config),
      folder,
      journalPath({ config }),
      stoppable,
    );
    for (const key of absent)
      console.log(`Document ${key} is not in the storage: it is lost, or was removed at this moment.`);
    for (const key of damaged)
      console.error(
        `Document ${key} is damaged in the storage: its bytes are not those that were uploaded. An earlier backup may have them.`,
      );
    for (const key of unchecked)
      console.error(
        `Document ${key} is saved, and was not compared: its key is neither DOCUMENT_KEY nor DOCUMENT_KEY_ALSO.`,
      );
    const bytes = Object.values(files).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    console.log(
      `${folder}: ${counts.joins} joins, ${counts.payments} payments, ${counts.memberships} memberships, ${Object.keys(files).filter((file) => keyOf(file) !== null).length} of ${counts.documents} documents; ${(bytes / 1e6).toFixed(1)} MB in ${secondsSince(began)} s.`,
    );
    return damaged.length + unchecked.length > 0 ? 1 : 0;
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    console.error(sentence);
    return 1;
  }
}

export const backupCommand: LoneCommand = {
  usage: 'backup DIR',
  summary:
    "Save the database and all documents into a new folder, while servers run. Needs pg_dump of the server's version; without it the database of `npm start` is saved while it is stopped. Exit status 1 when a document is damaged or could not be checked, or nothing could be saved.",
  async runAlone(args, config) {
    const read = readArgs(args, {});
    const [given, ...more] = read?.positionals ?? [];
    if (!read || !given || more.length > 0) return misused(backupCommand);
    return saveTo(resolve(given), config);
  },
};

/** Returns a sentence about a failed backup or restore; null if the error comes neither from the backup nor from the storage. */
export function sentenceOf(error: unknown): string | null {
  if (error instanceof BackupFault) return error.message;
  if (error instanceof StorageDown)
    return 'The storage of the documents does not answer: is STORAGE_URL right?';
  return fileFaultOf(error);
}

export const secondsSince = (began: number) => ((performance.now() - began) / 1_000).toFixed(1);
