import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { connectToPrimary } from '../../platform/database/primary.ts';
import { switchOffTimeouts } from '../../platform/database/timeouts.ts';
import { version } from '../../platform/version.ts';
import { DocumentFault, NotStored, type Storage } from '../../providers/storage/storage.ts';
import { majorOf, requireTool, startTool } from './clientTools.ts';
import {
  BackupFault,
  DUMP,
  envelopeFileOf,
  FORMAT,
  fileOf,
  JOURNAL,
  type Manifest,
  writeManifest,
} from './manifest.ts';
import { severalAtOnce } from './severalAtOnce.ts';
import { type StoppableDatabase, stopAndCopy } from './stoppedDatabase.ts';
import { type Written, writeFile } from './writeFile.ts';

interface StoredDocument {
  key: string;
  /** The SHA-256 (hex) of the unencrypted document, even if the document is stored encrypted. */
  sha256: string;
}

/**
 * Saves the database and its documents into a new or empty folder, in this order:
 * - The PostgreSQL schema that has Induct's tables is dumped from a snapshot, with all rows. A row is written only after its
 *   document is stored, so the storage has each document of the snapshot. With `stoppable`, the database is stopped instead, and
 *   its files are copied.
 * - The journal of erasures at `journal` is copied if it exists. The copy lists every person who was erased before the snapshot.
 * - The documents are copied.
 * - The manifest is written. A folder without a manifest is no backup.
 * Throws {@link BackupFault}, and errors of the storage.
 */
export async function backUp(
  databaseUrl: string,
  storage: Storage,
  folder: string,
  journal: string,
  stoppable: StoppableDatabase | null = null,
): Promise<Manifest> {
  // pg_dump must connect to the host to which this client is connected, because only that host has the exported snapshot.
  const { client, address } = await connectToPrimary(databaseUrl);
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    const postgres = majorOf(rows[0]!.server_version_num);
    if (!stoppable) await requireTool('pg_dump', postgres);
    // The transaction is idle while pg_dump runs, which may take long, so the connection's timeouts are switched off.
    await switchOffTimeouts(client);
    await client.query('begin isolation level repeatable read read only');
    const snapshot = await readSnapshot(client);
    await makeFolder(folder);
    const files: Manifest['files'] = {};
    if (!stoppable) files[DUMP] = await dump(address, snapshot, join(folder, DUMP));
    await client.query('commit');
    const copy = stoppable ? await client.end().then(() => stopAndCopy(stoppable, folder)) : null;
    if (existsSync(journal))
      files[JOURNAL] = await writeFile(createReadStream(journal), join(folder, JOURNAL));
    const { documents, id: _, ...told } = snapshot;
    const copies = await copyDocuments(storage, documents, folder);
    const manifest: Manifest = {
      format: FORMAT,
      version,
      postgres,
      ...told,
      files: { ...files, ...copy?.files, ...copies.files },
      ...(copy && { copy: copy.copy }),
      absent: copies.absent,
      damaged: copies.damaged,
      unchecked: copies.unchecked,
    };
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    await client.end();
  }
}

/**
 * Exports the transaction's snapshot for pg_dump. Returns the id and time of the snapshot, and the schema, migrations, row counts
 * and documents in it. Must run in a transaction.
 */
async function readSnapshot(client: pg.Client) {
  const told = await client.query<{ id: string; taken_at: Date; made: boolean }>(
    "select pg_export_snapshot() as id, now() as taken_at, to_regclass('migration') is not null as made",
  );
  const { id, taken_at, made } = told.rows[0]!;
  if (!made) throw new BackupFault('The database is not one of Induct: there is nothing to save.');
  const schema = await readSchema(client);
  const migrations = await client.query<{ name: string }>('select name from migration order by name');
  const counts = await client.query<Manifest['counts']>(
    `select (select count(*)::int from join_session) as joins, (select count(*)::int from payment) as payments,
      (select count(*)::int from membership) as memberships, (select count(*)::int from document) as documents`,
  );
  const documents = await client.query<StoredDocument>(
    "select storage_key as key, encode(sha256, 'hex') as sha256 from document where removed_at is null order by created_at",
  );
  return {
    id,
    takenAt: taken_at.toISOString(),
    schema,
    migrations: migrations.rows.map(({ name }) => name),
    counts: counts.rows[0]!,
    documents: documents.rows,
  };
}

/** The tables by which the schema is looked up. All other tables of Induct were created in the same schema. */
const TABLES = ['migration', 'join_session', 'payment', 'membership', 'document'];

/**
 * Returns the schema in which the connection finds Induct's tables. Throws {@link BackupFault} if they are in several schemas.
 */
async function readSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct nspname as name
      from unnest($1::text[]) as wanted join pg_class on pg_class.oid = to_regclass(wanted)
      join pg_namespace on pg_namespace.oid = relnamespace order by 1`,
    [TABLES],
  );
  const names = rows.map(({ name }) => name);
  if (names.length > 1)
    throw new BackupFault(
      `The tables of Induct are in more than one schema (${names.join(', ')}), and a backup holds one: bring them together with \`alter table … set schema\`.`,
    );
  return names[0]!;
}

/** Creates a folder that only its owner may enter, or uses an existing empty one. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await readdir(folder)).length > 0)
      throw new BackupFault(`${folder} is not empty: give each backup a folder of its own.`);
    await chmod(folder, 0o700);
    await mkdir(join(folder, 'documents'), { mode: 0o700 });
  } catch (error) {
    if (error instanceof BackupFault) throw error;
    throw new BackupFault(`${folder} cannot be made or written: ${(error as Error).message}.`);
  }
}

async function dump(
  address: string,
  { id, schema }: { id: string; schema: string },
  path: string,
): Promise<Written> {
  // Owners and privileges are left out, because a restore may use another database role. The other schemas are left out, because
  // our role may be unable to read a hosting provider's schemas, and another server could not use them. In quotes, `--schema` is
  // an exact name, not a pattern.
  const args = [
    '--format=custom',
    '--no-owner',
    '--no-privileges',
    `--snapshot=${id}`,
    `--schema="${schema.replaceAll('"', '""')}"`,
  ];
  const { process, ended } = startTool('pg_dump', args, address);
  const [written] = await Promise.all([writeFile(process.stdout!, path), ended]);
  return written;
}

type Copies = Pick<Manifest, 'files' | 'absent' | 'damaged' | 'unchecked'>;

/** Copies documents as they are stored. Decrypts each copy and compares its hash with the hash in the database. */
async function copyDocuments(storage: Storage, documents: readonly StoredDocument[], folder: string) {
  const copied: Copies = { files: {}, absent: [], damaged: [], unchecked: [] };
  await severalAtOnce(documents, async ({ key, sha256 }) => {
    const stored = await storage.readStored(key).catch((error: unknown) => {
      if (error instanceof NotStored) copied.absent.push(key);
      else if (error instanceof DocumentFault) copied.damaged.push(key);
      else throw error;
      return null;
    });
    if (stored === null) return;
    const { envelope } = stored;
    const path = join(folder, fileOf(key));
    const written = await writeFile(stored.bytes, path);
    const standing = await compare(storage, key, path, envelope, sha256);
    if (standing === 'damaged') {
      copied.damaged.push(key);
      return;
    }
    if (standing === 'unchecked') copied.unchecked.push(key);
    copied.files[fileOf(key)] = written;
    if (envelope !== null)
      copied.files[envelopeFileOf(key)] = await writeFile(
        Readable.from([Buffer.from(envelope)]),
        join(folder, envelopeFileOf(key)),
      );
  });
  return copied;
}

/**
 * Compares the decrypted copy of a document with the document's hash in the database. `unchecked`: the document key is not set.
 */
async function compare(
  storage: Storage,
  key: string,
  path: string,
  envelope: string | null,
  sha256: string,
): Promise<'good' | 'damaged' | 'unchecked'> {
  const hash = createHash('sha256');
  try {
    for await (const piece of storage.open(key, createReadStream(path), envelope)) hash.update(piece);
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return error.isKeyMissing ? 'unchecked' : 'damaged';
  }
  return hash.digest('hex') === sha256 ? 'good' : 'damaged';
}
