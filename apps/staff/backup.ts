import { resolve } from 'node:path';
import { reconcileRestored } from '../server/books/reconcile.ts';
import { journalPath } from '../server/people/privacy/journal.ts';
import type { Config } from '../server/platform/config/config.ts';
import { addressesOf, placeOf } from '../server/platform/config/databaseUrl.ts';
import { migrate } from '../server/platform/database/migrate.ts';
import { fileFaultOf } from '../server/platform/fileFault.ts';
import { openStorage } from '../server/providers/storage/openStorage.ts';
import { StorageDown } from '../server/providers/storage/storage.ts';
import { backUp } from '../server/running/backup/backUp.ts';
import { BackupFault, keyOf, type Manifest } from '../server/running/backup/manifest.ts';
import { examineBackup, restore, restoreDump } from '../server/running/backup/restore.ts';
import type { StoppableDatabase } from '../server/running/backup/stoppedDatabase.ts';
import { loneCommand } from './command.ts';
import { agree, print, printAll, warn } from './print.ts';
import { printReconciliation } from './settlement.ts';
import { wireForStaff } from './wireForStaff.ts';

/**
 * Saves the database and all documents into `folder`, and prints what was saved. With `stoppable`, the database is stopped and its
 * files are copied. Returns false if it failed, or if a document is damaged or could not be checked.
 */
export async function saveTo(
  folder: string,
  config: Config,
  stoppable: StoppableDatabase | null = null,
): Promise<boolean> {
  const began = performance.now();
  try {
    const saved = await backUp(
      config.databaseUrl,
      await openStorage(config),
      folder,
      journalPath({ config }),
      stoppable,
    );
    const { counts, files, absent, damaged, unchecked } = saved;
    for (const key of absent)
      print(`Document ${key} is not in the storage: it is lost, or was removed at this moment.`);
    for (const key of damaged)
      warn(
        `Document ${key} is damaged in the storage: its bytes are not those that were uploaded. An earlier backup may have them.`,
      );
    for (const key of unchecked)
      warn(
        `Document ${key} is saved, and was not compared: its key is neither DOCUMENT_KEY nor DOCUMENT_KEY_ALSO.`,
      );
    const bytes = Object.values(files).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    print(
      `${folder}: ${bought(saved)}, ${documentsIn(saved)} of ${counts.documents} documents; ${(bytes / 1e6).toFixed(1)} MB in ${secondsSince(began)} s.`,
    );
    return damaged.length + unchecked.length === 0;
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    warn(sentence);
    return false;
  }
}

const bought = ({ counts }: Pick<Manifest, 'counts'>) =>
  `${counts.joins} joins, ${counts.payments} payments, ${counts.memberships} memberships`;

const documentsIn = ({ files }: Pick<Manifest, 'files'>) =>
  Object.keys(files).filter((file) => keyOf(file) !== null).length;

export const backupCommands = [
  loneCommand({
    usage: 'backup DIR',
    args: ['DIR'],
    summary:
      "Save the database and all documents into a new folder, while servers run. Needs pg_dump of the server's version; without it the database of `npm start` is saved while it is stopped. Exit status 1 when a document is damaged or could not be checked, or nothing could be saved.",
    run: async ({ config }, [folder]) => saveTo(resolve(folder), config),
  }),
  loneCommand({
    usage: 'restore DIR [--yes]',
    args: ['DIR'],
    flags: ['yes'],
    summary:
      'Put a backup into an empty database and the storage, when you agree (--yes: without asking), then compare money with members. Stop the servers before.',
    async run({ config }, [given], { yes }) {
      const folder = resolve(given);
      const { databaseUrl } = config;
      const { pathname } = new URL(addressesOf(databaseUrl)[0]!);
      const isRestored = await putBack(folder, config, {
        isAgreed: yes,
        place: `the database ${placeOf(databaseUrl)}${pathname}`,
        examine: () => examineBackup(databaseUrl, folder),
        putDatabase: (manifest) => restoreDump(databaseUrl, folder, manifest),
      });
      return isRestored && afterwards(config);
    },
  }),
];

/** Returns a sentence about a failed backup or restore; null if the error comes neither from the backup nor from the storage. */
function sentenceOf(error: unknown): string | null {
  if (error instanceof BackupFault) return error.message;
  if (error instanceof StorageDown)
    return 'The storage of the documents does not answer: is STORAGE_URL right?';
  return fileFaultOf(error);
}

const secondsSince = (began: number) => ((performance.now() - began) / 1_000).toFixed(1);

/**
 * Restores a backup after asking for confirmation, unless `isAgreed`, and prints what was done. `place` is the name of the
 * database in the question. Returns whether the backup was restored.
 */
export async function putBack<Examined extends Manifest>(
  folder: string,
  config: Config,
  {
    isAgreed,
    place,
    examine,
    putDatabase,
  }: {
    isAgreed: boolean;
    place: string;
    examine: () => Promise<Examined>;
    putDatabase: (manifest: Examined) => Promise<void>;
  },
): Promise<boolean> {
  try {
    const manifest = await examine();
    printAll(told(manifest));
    await agree(`Restore it to ${place}?`, 'changed', { yes: isAgreed });
    const began = performance.now();
    const journal = journalPath({ config });
    const storage = await openStorage(config);
    const { written, erasures } = await restore(storage, folder, manifest, journal, () =>
      putDatabase(manifest),
    );
    print(
      `Database and documents are restored in ${secondsSince(began)} s; ${written} documents were written, and the others were there.`,
    );
    if (erasures > 0)
      print(
        `Of the backup's journal of erasures ${erasures === 1 ? '1 entry was' : `${erasures} entries were`} added to ${journal}.`,
      );
    return true;
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    warn(sentence);
    warn('The database was left as it was: when that is mended, the same command may be given again.');
    return false;
  }
}

function told(manifest: Manifest): string[] {
  const { takenAt, version, copy, absent, damaged } = manifest;
  return [
    `A backup of ${takenAt}, version ${version}: ${bought(manifest)}, ${documentsIn(manifest)} documents.${copy ? ' It is a copy of the folder of a stopped database.' : ''}`,
    ...absent.map((key) => `Document ${key} was not in the storage when it was made.`),
    ...damaged.map((key) => `Document ${key} was damaged when it was made, and is not restored.`),
  ];
}

/**
 * Migrates the restored database and reconciles it with Stripe. Returns false if one of these steps fails; staff can then repeat
 * it with its own command.
 */
export async function afterwards(config: Config): Promise<boolean> {
  try {
    const names = await migrate(config.databaseUrl, { warn });
    printAll(names.map((name) => `Migration ${name} was run.`));
  } catch (error) {
    warn((error as Error).message);
    warn(
      'The backup is restored, and not at this version yet: npm run operator -- migrate, then npm run operator -- reconcile. To restore it again, empty the database first.',
    );
    return false;
  }
  const wired = await wireForStaff(config);
  try {
    const result = await reconcileRestored(wired.deps);
    printReconciliation(result);
    print(
      result.differences.length === 0
        ? 'Stripe knows of nothing that was paid since.'
        : 'That happened since the backup. Before the servers start, to take it in and make again what was paid and is lost: npm run operator -- settle --missing',
    );
    print(
      'Then, before the servers start as well, to erase again who was erased since: npm run operator -- person erase --again',
    );
    return true;
  } catch (error) {
    warn(
      `The backup is restored, and was not compared with Stripe (${(error as Error).message}): npm run operator -- reconcile`,
    );
    return false;
  } finally {
    await wired.database.destroy();
  }
}
