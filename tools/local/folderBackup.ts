import { existsSync, realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { readConfig } from '../../apps/server/platform/config/config.ts';
import { requireTool } from '../../apps/server/running/backup/clientTools.ts';
import { BackupFault, readManifest } from '../../apps/server/running/backup/manifest.ts';
import { examineCopy } from '../../apps/server/running/backup/restore.ts';
import { putCluster } from '../../apps/server/running/backup/stoppedDatabase.ts';
import { afterwards, backupCommands, putBack, saveTo } from '../../apps/staff/backup.ts';
import { commandNamed, Misuse, readArguments } from '../../apps/staff/command.ts';
import type { RunningPostgres } from './postgres.ts';
import { choosePostgresAccount } from './postgresAccount.ts';
import { findBinaries, major, makeCluster } from './postgresCluster.ts';

/**
 * A backup or restore of the database of `npm start` that copies the files of the database's folder. Used to save if no client
 * tools of the right version are installed, and to restore such a copy. PostgreSQL's files can be copied only while it is
 * stopped.
 */
export interface FolderBackup {
  kind: 'backup' | 'restore';
  /** A sentence about why the database must be stopped. */
  because: string;
  folder: string;
  isAgreed: boolean;
}

/** Returns the backup or restore that the arguments ask for, if it must copy the folder's files; null for any other command. */
export async function folderBackupIn([kind, ...rest]: readonly string[]): Promise<FolderBackup | null> {
  if (kind !== 'backup' && kind !== 'restore') return null;
  const typed = readTyped(kind, rest);
  if (typed === null) return null;
  const asked = { kind, ...typed } as const;
  if (kind === 'restore') {
    const manifest = await readManifest(asked.folder).catch(() => null);
    return manifest?.copy ? { ...asked, because: 'The backup is a copy of a database folder.' } : null;
  }
  try {
    await requireTool('pg_dump', Number(major));
    return null;
  } catch (error) {
    if (!(error instanceof BackupFault)) throw error;
    return { ...asked, because: error.message };
  }
}

/** Parses the words that were typed after `backup` or `restore`; null if the command would refuse them. */
function readTyped(kind: string, rest: readonly string[]): { folder: string; isAgreed: boolean } | null {
  try {
    const { command } = commandNamed(backupCommands, [kind])!;
    const { args, options } = readArguments(command, rest);
    return { folder: resolve(args[0]!), isAgreed: options.yes === true };
  } catch (error) {
    if (error instanceof Misuse) return null;
    throw error;
  }
}

/** Stops the database that was started for a backup, and copies its folder. Returns whether everything was saved. */
export async function backUpFolder(
  { folder, because }: FolderBackup,
  env: NodeJS.ProcessEnv,
  dataDir: string,
  postgres: RunningPostgres,
): Promise<boolean> {
  const cluster = realpathSync(join(dataDir, 'postgres'));
  if (`${folder}${sep}`.startsWith(`${cluster}${sep}`)) {
    console.error(`${folder} is in the folder of the database: choose another one.`);
    return false;
  }
  console.log(`${because}\nSo the database is stopped, and its folder is copied.`);
  return saveTo(folder, readConfig(env), {
    cluster,
    async stop() {
      await postgres.stop();
      if (existsSync(join(cluster, 'postmaster.pid')))
        throw new BackupFault(`Another process uses the database in ${cluster}: stop it first.`);
    },
  });
}

/**
 * Restores a copied folder into a data folder without a database. Returns whether that was done. The caller then starts the
 * database.
 */
export async function restoreFolder(
  { folder, isAgreed }: FolderBackup,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): Promise<boolean> {
  const cluster = join(dataDir, 'postgres');
  return putBack(folder, readConfig(env), {
    isAgreed,
    place: cluster,
    examine: () => examineCopy(folder, { cluster, postgres: Number(major) }),
    async putDatabase(manifest) {
      const account = choosePostgresAccount({ dataDir, native: await findBinaries() });
      await makeCluster(cluster, account, (half) =>
        putCluster(folder, manifest, half, (path) => account.give(path)),
      );
      const parent = await open(dirname(realpathSync(cluster)), 'r');
      await parent.sync().finally(() => parent.close());
    },
  });
}

/** Migrates a restored database that is running, and compares it with Stripe. Returns whether that was done. */
export function afterRestore(env: NodeJS.ProcessEnv): Promise<boolean> {
  return afterwards(readConfig(env));
}
