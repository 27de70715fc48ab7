import { resolve } from 'node:path';
import { pino } from 'pino';
import { askPerson, type LoneCommand, misused, readArgs } from '../platform/command.ts';
import type { Config } from '../platform/config/config.ts';
import { addressesOf, placeOf } from '../platform/config/databaseUrl.ts';
import { migrate } from '../platform/database/migrate.ts';
import { postpone } from '../platform/database/schedule.ts';
import { createLog } from '../platform/http/logging.ts';
import { journalPath } from '../privacy/journal.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { EVENTS_TASK } from '../settlement/catchUp.ts';
import { tellReconciliation } from '../settlement/commands.ts';
import { keepReconciliation, reconcile } from '../settlement/reconcile.ts';
import { wire } from '../wire.ts';
import { secondsSince, sentenceOf } from './backupCommand.ts';
import { keyOf, type Manifest } from './manifest.ts';
import { examineBackup, restore, restoreDump } from './restore.ts';

const restoreOptions = { yes: { type: 'boolean', default: false } } as const;

export const restoreCommand: LoneCommand = {
  options: restoreOptions,
  usage: 'restore DIR [--yes]',
  summary:
    'Put a backup into an empty database and the storage, when you agree (--yes: without asking), then compare money with members. Stop the servers before.',
  async runAlone(args, config) {
    const read = readArgs(args, restoreOptions);
    const [given, ...more] = read?.positionals ?? [];
    if (!read || !given || more.length > 0) return misused(restoreCommand);
    const folder = resolve(given);
    const { databaseUrl } = config;
    const { pathname } = new URL(addressesOf(databaseUrl)[0]!);
    const isRestored = await putBack(folder, config, {
      isAgreed: read.values.yes,
      place: `the database ${placeOf(databaseUrl)}${pathname}`,
      examine: () => examineBackup(databaseUrl, folder),
      putDatabase: (manifest) => restoreDump(databaseUrl, folder, manifest),
    });
    return isRestored ? afterwards(config) : 1;
  },
};

/**
 * Restores a backup after a question, unless staff agree beforehand (`isAgreed`), and prints what was done. `place` names the
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
    console.log(told(manifest));
    if (!isAgreed && !(await askPerson(`Restore it to ${place}?`))) {
      console.log('Nothing was changed: say yes, or give --yes.');
      return false;
    }
    const began = performance.now();
    const journal = journalPath({ config });
    const storage = await openStorage(config);
    const { written, erasures } = await restore(storage, folder, manifest, journal, () =>
      putDatabase(manifest),
    );
    console.log(
      `Database and documents are restored in ${secondsSince(began)} s; ${written} documents were written, and the others were there.`,
    );
    if (erasures > 0)
      console.log(
        `Of the backup's journal of erasures ${erasures === 1 ? '1 entry was' : `${erasures} entries were`} added to ${journal}.`,
      );
    return true;
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    console.error(
      `${sentence}\nThe database was left as it was: when that is mended, the same command may be given again.`,
    );
    return false;
  }
}

function told({ takenAt, version, counts, files, copy, absent, damaged }: Manifest): string {
  const documents = Object.keys(files).filter((file) => keyOf(file) !== null).length;
  return [
    `A backup of ${takenAt}, version ${version}: ${counts.joins} joins, ${counts.payments} payments, ${counts.memberships} memberships, ${documents} documents.${copy ? ' It is a copy of the folder of a stopped database.' : ''}`,
    ...absent.map((key) => `Document ${key} was not in the storage when it was made.`),
    ...damaged.map((key) => `Document ${key} was damaged when it was made, and is not restored.`),
  ].join('\n');
}

/** Migrates the restored database and reconciles it with Stripe. If a step fails, staff can repeat it with its own command. */
export async function afterwards(config: Config): Promise<number> {
  try {
    const names = await migrate(config.databaseUrl, { tell: console.error });
    for (const name of names) console.log(`Migration ${name} was run.`);
  } catch (error) {
    console.error(
      `${(error as Error).message}\nThe backup is restored, and not at this version yet: npm run operator -- migrate, then npm run operator -- reconcile. To restore it again, empty the database first.`,
    );
    return 1;
  }
  const wired = await wire(config, createLog('warn', pino.destination(2)), { actor: config.operatorName });
  try {
    // In the restored database, a server that no longer runs may have claimed the task that takes in Stripe's events. The task is
    // made due, so that the first server to start takes in the events since the backup.
    await postpone(wired.database, EVENTS_TASK, 0);
    const startedAt = wired.deps.now();
    // All servers are stopped, so no payment is in progress, and even a payment of a minute ago counts as a difference.
    const result = await reconcile(wired.deps, { graceMinutes: 0 });
    tellReconciliation(await keepReconciliation(wired.deps, result, startedAt));
    console.log(
      result.differences.length === 0
        ? 'Stripe knows of nothing that was paid since.'
        : 'That happened since the backup. Before the servers start, to take it in and make again what was paid and is lost: npm run operator -- settle --missing',
    );
    console.log(
      'Then, before the servers start as well, to erase again who was erased since: npm run operator -- person erase --again',
    );
    return 0;
  } catch (error) {
    console.error(
      `The backup is restored, and was not compared with Stripe (${(error as Error).message}): npm run operator -- reconcile`,
    );
    return 1;
  } finally {
    await wired.database.destroy();
  }
}
