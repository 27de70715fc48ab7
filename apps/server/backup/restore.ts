import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readMigrations } from '../platform/database/migrate.ts';
import { connectToPrimary } from '../platform/database/primary.ts';
import { version } from '../platform/version.ts';
import { mergeJournal } from '../privacy/journal.ts';
import { DocumentFault, NotStored, type Storage, StorageFull } from '../providers/storage/storage.ts';
import { majorOf, requireTool, startTool } from './clientTools.ts';
import {
  BackupFault,
  checkFiles,
  DUMP,
  envelopeFileOf,
  JOURNAL,
  keyOf,
  type Manifest,
  readManifest,
} from './manifest.ts';
import { severalAtOnce } from './severalAtOnce.ts';

/**
 * Checks a backup and the database into which it is to be restored. Finds every obstacle before anything is changed: missing or
 * changed files, an unknown migration, a database that is not empty or too old. Throws {@link BackupFault}.
 */
export async function examineBackup(databaseUrl: string, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const known = (await readMigrations()).map(({ name }) => name);
  const unknown = manifest.migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupFault(
      `The backup is of version ${manifest.version}, whose tables this version (${version}) does not know (${unknown.join(', ')}): restore it with version ${manifest.version}.`,
    );
  const server = await readServer(databaseUrl);
  if (!server.isEmpty)
    throw new BackupFault(
      'The database is not empty, and nothing in it is overwritten: stop the servers and name a new database, or drop this one and create it again.',
    );
  if (server.major < manifest.postgres)
    throw new BackupFault(
      `The backup is of PostgreSQL ${manifest.postgres}, and the server is ${server.major}, which is older.`,
    );
  await requireTool('pg_restore', server.major);
  await checkFiles(folder, manifest);
  return manifest;
}

/**
 * Restores a backup that {@link examineBackup} has accepted. First adds the backup's erasures to the journal at `journal`, which is
 * not replaced because it may be newer. Then stores the documents that the storage does not have, and checks the hash of each.
 * Restores the database last, so that each row has its document, and in one transaction: if that fails, the database stays empty,
 * and the restore can be repeated. Returns how many documents were written and how many erasures added. Throws {@link BackupFault}.
 */
export async function restore(
  databaseUrl: string,
  storage: Storage,
  folder: string,
  { files }: Manifest,
  journal: string,
): Promise<{ written: number; erasures: number }> {
  await storage.reach();
  const erasures = JOURNAL in files ? await mergeJournal(join(folder, JOURNAL), journal) : 0;
  let written = 0;
  await severalAtOnce(Object.entries(files), async ([file, { sizeBytes, sha256 }]) => {
    const key = keyOf(file);
    if (key === null) return;
    const envelope = envelopeFileOf(key);
    if (await isStored(storage, key, { sha256, isEncrypted: envelope in files })) return;
    await storage
      .putStored(
        key,
        createReadStream(join(folder, file)),
        envelope in files ? await readFile(join(folder, envelope), 'utf8') : null,
        async (arrived) => {
          if (arrived.sha256.toString('hex') !== sha256)
            throw new BackupFault(`${file} of the backup was changed while it was restored.`);
        },
        sizeBytes,
      )
      .catch((error: unknown) => {
        if (!(error instanceof StorageFull)) throw error;
        throw new BackupFault('The disk of the documents is full (STORAGE_RESERVE_BYTES of it stay free).');
      });
    written++;
  });
  const args = ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error'];
  const { client, address } = await connectToPrimary(databaseUrl);
  await client.end();
  const { process, ended } = startTool('pg_restore', [...args, join(folder, DUMP)], address);
  process.stdout!.resume();
  await ended;
  return { written, erasures };
}

/**
 * Whether the storage already has the document of a backup. If the backup's copy is unencrypted, the decrypted contents must be
 * equal. If the copy is encrypted, the stored bytes must be equal, and one of our document keys must open the envelope.
 */
async function isStored(
  storage: Storage,
  key: string,
  { sha256, isEncrypted }: { sha256: string; isEncrypted: boolean },
): Promise<boolean> {
  const hash = createHash('sha256');
  try {
    if (isEncrypted) await storage.how(key);
    const bytes = isEncrypted ? (await storage.readStored(key)).bytes : await storage.read(key);
    await pipeline(bytes, hash);
  } catch (error) {
    if (error instanceof NotStored || error instanceof DocumentFault) return false;
    throw error;
  }
  return hash.digest('hex') === sha256;
}

/** Returns the server's major version, and whether the database is empty, apart from objects of extensions. */
async function readServer(databaseUrl: string): Promise<{ major: number; isEmpty: boolean }> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    const version = await client.query<{ server_version_num: string }>('show server_version_num');
    const { rows } = await client.query<{ is_empty: boolean }>(
      `select not exists (
        select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname <> 'information_schema' and nspname !~ '^pg_'
          and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
      ) as is_empty`,
    );
    return { major: majorOf(version.rows[0]!.server_version_num), isEmpty: rows[0]!.is_empty };
  } finally {
    await client.end();
  }
}
