import { createReadStream, type Dirent } from 'node:fs';
import { chmod, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupFault, CLUSTER, type Manifest, PLATFORM } from './manifest.ts';
import { severalAtOnce } from './severalAtOnce.ts';
import { writeFile } from './writeFile.ts';

/** A database that runs on this machine, and that can be stopped to copy its files. */
export interface StoppableDatabase {
  /** The folder of its files, with all symbolic links resolved. */
  cluster: string;
  /**
   * Stops the database. Throws {@link BackupFault} if other programs still use it. Nobody may start it again before the backup is
   * finished.
   */
  stop(): Promise<void>;
}

/**
 * Stops a database and copies its files into a backup's folder. Throws {@link BackupFault} if the database was not shut down
 * cleanly, or if its folder contains anything other than files and folders, such as a symbolic link.
 */
export async function stopAndCopy(
  { cluster, stop }: StoppableDatabase,
  folder: string,
): Promise<Pick<Manifest, 'files'> & { copy: NonNullable<Manifest['copy']> }> {
  await stop();
  if (!(await isShutDown(cluster)))
    throw new BackupFault(`The database in ${cluster} did not shut down cleanly: nothing was copied.`);
  const folders: string[] = [];
  const files: string[] = [];
  await mkdir(join(folder, CLUSTER), { mode: 0o700 });
  for (const entry of await entriesIn(cluster)) {
    const path = join(CLUSTER, entry.parentPath.slice(cluster.length), entry.name);
    if (entry.isDirectory()) folders.push(path);
    else if (entry.isFile()) files.push(path);
    else
      throw new BackupFault(
        `${join(entry.parentPath, entry.name)} is neither a file nor a folder, such as the link of a tablespace: only PostgreSQL's client tools can save this database.`,
      );
  }
  for (const path of folders) await mkdir(join(folder, path), { mode: 0o700 });
  const written: Manifest['files'] = {};
  await severalAtOnce(files, async (path) => {
    const source = createReadStream(join(cluster, path.slice(CLUSTER.length)));
    written[path] = await writeFile(source, join(folder, path));
  });
  return { files: written, copy: { platform: PLATFORM, folders } };
}

/**
 * Returns the entries of a folder and of all folders below it, parents first. Does not follow symbolic links, because `readdir`
 * alone does not.
 */
async function entriesIn(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(folders.map(({ name }) => entriesIn(join(folder, name))));
  return [...entries, ...below.flat()];
}

/**
 * The offset of the database's state in the file `pg_control`, after the system's id (8 bytes) and two versions (4 bytes each),
 * and the value of the state "shut down".
 */
const STATE_OFFSET = 16;
const SHUT_DOWN = 1;

async function isShutDown(cluster: string): Promise<boolean> {
  const file = await open(join(cluster, 'global/pg_control'));
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, STATE_OFFSET);
    return buffer.readUInt32LE() === SHUT_DOWN;
  } finally {
    await file.close();
  }
}

/**
 * Puts the database files of a backup into an empty folder. `give` is called with the path of each file and folder that was made.
 * Throws {@link BackupFault} if a file does not match the manifest.
 */
export async function putCluster(
  backup: string,
  { files, copy }: Pick<Manifest, 'files' | 'copy'>,
  cluster: string,
  give: (path: string) => void,
): Promise<void> {
  const placeOf = (path: string) => join(cluster, path.slice(CLUSTER.length));
  for (const path of copy!.folders) {
    await mkdir(placeOf(path), { mode: 0o700 });
    give(placeOf(path));
  }
  const own = Object.entries(files).filter(([path]) => path.startsWith(`${CLUSTER}/`));
  await severalAtOnce(own, async ([path, { sha256 }]) => {
    const written = await writeFile(createReadStream(join(backup, path)), placeOf(path));
    if (written.sha256 !== sha256)
      throw new BackupFault(`${path} of the backup was changed while it was restored.`);
    give(placeOf(path));
  });
  await chmod(cluster, 0o700);
}
