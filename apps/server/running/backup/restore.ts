import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { mergeJournal } from '../../people/privacy/journal.ts';
import { readMigrations } from '../../platform/database/migrate.ts';
import { connectToPrimary } from '../../platform/database/primary.ts';
import { version } from '../../platform/version.ts';
import { DocumentFault, NotStored, type Storage, StorageFull } from '../../providers/storage/storage.ts';
import { majorOf, requireTool, startTool } from './clientTools.ts';
import {
  BackupFault,
  checkFiles,
  DUMP,
  envelopeFileOf,
  JOURNAL,
  keyOf,
  type Manifest,
  PLATFORM,
  readManifest,
} from './manifest.ts';
import { severalAtOnce } from './severalAtOnce.ts';

/**
 * Checks a backup and the database into which it is to be restored. Finds every obstacle before anything is changed: missing or
 * changed files, an unknown migration, a schema that is not empty, a server that is too old. Throws {@link BackupFault}.
 */
export async function examineBackup(databaseUrl: string, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (manifest.copy)
    throw new BackupFault(
      'The backup is a copy of the database folder of `npm start`: restore it without DATABASE_URL, on a machine such as that.',
    );
  await examineMigrations(manifest);
  const major = await ask(databaseUrl, async (client) => {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    return majorOf(rows[0]!.server_version_num);
  });
  if (major < manifest.postgres)
    throw new BackupFault(
      `The backup is of PostgreSQL ${manifest.postgres}, and the server is ${major}, which is older.`,
    );
  await requireTool('pg_restore', major);
  await ask(databaseUrl, (client) => examineSchema(client, manifest.schema));
  await checkFiles(folder, manifest);
  return manifest;
}

async function examineMigrations(manifest: Manifest): Promise<void> {
  const known = (await readMigrations()).map(({ name }) => name);
  const unknown = manifest.migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupFault(
      `The backup is of version ${manifest.version}, whose tables this version (${version}) does not know (${unknown.join(', ')}): restore it with version ${manifest.version}.`,
    );
}

/**
 * Checks a copy of a database's folder, before anything is changed. `cluster` is the folder of the database into which it is to be
 * restored, and `postgres` the major version of the PostgreSQL that will use it. Throws {@link BackupFault}.
 */
export async function examineCopy(
  folder: string,
  { cluster, postgres }: { cluster: string; postgres: number },
): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await examineMigrations(manifest);
  if (manifest.postgres !== postgres || manifest.copy?.platform !== PLATFORM)
    throw new BackupFault(
      `The backup is a copy of the files of PostgreSQL ${manifest.postgres} on ${manifest.copy?.platform}, which PostgreSQL ${postgres} on ${PLATFORM} cannot use: restore it where it was made.`,
    );
  if (existsSync(cluster))
    throw new BackupFault(
      `There is a database in ${cluster}, and nothing in it is overwritten: move that folder away, or set another DATA_DIR.`,
    );
  await checkFiles(folder, manifest);
  return manifest;
}

/**
 * Restores a backup that {@link examineBackup} or {@link examineCopy} has accepted, in this order:
 * - Adds the backup's erasures to the journal at `journal`. The journal is not replaced, because it may be newer than the backup.
 * - Stores the documents that the storage does not have, and checks the hash of each.
 * - Restores the database by `putDatabase`: last, so that each row has its document, and as a whole or not at all, so that the
 *   restore can be repeated.
 * Returns how many documents were written and how many erasures added. Throws {@link BackupFault}.
 */
export async function restore(
  storage: Storage,
  folder: string,
  { files }: Manifest,
  journal: string,
  putDatabase: () => Promise<void>,
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
  await putDatabase();
  return { written, erasures };
}

/**
 * Restores one schema of a dump in one transaction. Before that, creates the schema if it is missing, because `pg_restore
 * --schema` restores only the contents of a schema. If the restore fails, a schema that was created here is dropped.
 */
export async function restoreDump(databaseUrl: string, folder: string, { schema }: Manifest): Promise<void> {
  const { client, address } = await connectToPrimary(databaseUrl);
  const isCreated = await createIfMissing(client, schema).finally(() => client.end());
  const args = ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error'];
  const { process, ended } = startTool(
    'pg_restore',
    [...args, `--schema=${schema}`, join(folder, DUMP)],
    address,
  );
  process.stdout!.resume();
  try {
    await ended;
  } catch (error) {
    if (isCreated)
      await ask(databaseUrl, (again) => again.query(`drop schema ${pg.escapeIdentifier(schema)}`)).catch(
        () => {},
      );
    throw error;
  }
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

/**
 * Throws {@link BackupFault} unless a backup can be restored into `schema`. The schema must be the first in the search path of
 * our connections, and may have no tables except those of extensions. Other schemas may have any tables. Changes nothing.
 */
async function examineSchema(client: pg.Client, schema: string): Promise<void> {
  await client.query('begin');
  await createIfMissing(client, schema);
  const { rows } = await client.query<{ first: string | null; is_empty: boolean }>(
    `select current_schema() as first, not exists (
        select from pg_class where relnamespace = (select oid from pg_namespace where nspname = $1)
          -- An index is no member of the extension that has its table.
          and relkind not in ('i', 'I')
          and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
      ) as is_empty`,
    [schema],
  );
  await client.query('rollback');
  const { first, is_empty } = rows[0]!;
  if (!is_empty)
    throw new BackupFault(
      `The database is not empty (schema ${schema}), and nothing in it is overwritten: stop the servers, and name a new database or empty this one (docs/run.md, "Restore").`,
    );
  if (first !== schema)
    throw new BackupFault(
      `The tables of the backup are in the schema ${schema}, and a connection to this database looks in ${first ?? 'no schema'} first: change its search_path.`,
    );
}

/**
 * Creates a schema if it is missing. Returns whether it was created. Throws {@link BackupFault} if our role may not create it.
 */
async function createIfMissing(client: pg.Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rowCount !== 0) return false;
  await client.query(`create schema ${pg.escapeIdentifier(schema)}`).catch((error: Error) => {
    throw new BackupFault(
      `The schema ${schema}, which has the tables of the backup, is missing and cannot be created (${error.message}).`,
    );
  });
  return true;
}

/** Runs `work` on a new connection, and closes it afterwards. */
async function ask<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { client } = await connectToPrimary(databaseUrl);
  return work(client).finally(() => client.end());
}
