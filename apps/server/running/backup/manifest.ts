import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { envelopeOf, isKey, isName } from '../../providers/storage/arrive.ts';

/** Thrown if a backup cannot be made or restored. The message is a sentence for staff. */
export class BackupFault extends Error {}

export const DUMP = 'database.dump';
/** The file name of the copied journal of erasures. A backup lacks the file if there was no journal. */
export const JOURNAL = 'erasures.jsonl';
const MANIFEST = 'manifest.json';
/** The version of the backup's format. Induct 1.0 began with this one. */
export const FORMAT = 5;

/** The folder in a backup that contains a stopped database's files, instead of a dump. */
export const CLUSTER = 'postgres';
/** The kind of machine on which PostgreSQL can use the copied files. */
export const PLATFORM = `${process.platform}-${process.arch}`;
const isInCluster = (path: string) =>
  new RegExp(`^${CLUSTER}(/[^/\\0]+)+$`).test(path) && !path.split('/').some((name) => /^\.+$/.test(name));

const documentFile = /^documents\/([^/]+)$/;
/** These functions return the path of a file within a backup: of a document, and of the envelope of an encrypted document. */
export const fileOf = (key: string) => `documents/${key}`;
export const envelopeFileOf = (key: string) => fileOf(envelopeOf(key));
/**
 * Returns the storage key of the document at a path within a backup; null if another file is there (an envelope, the dump or the
 * journal).
 */
export function keyOf(file: string): string | null {
  const name = documentFile.exec(file)?.[1] ?? '';
  return isKey(name) ? name : null;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** The version of Induct that made the backup. */
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  /** The major version of the PostgreSQL server that was saved. */
  postgres: z.int(),
  /** The time of the database snapshot, which contains everything that was committed before. */
  takenAt: z.iso.datetime(),
  /** The PostgreSQL schema of Induct's tables. The dump has only this schema. */
  schema: z.string(),
  /** The migrations applied to the database, in order. */
  migrations: z.array(z.string()),
  /** The numbers of rows in the snapshot. */
  counts: z.object({ joins: z.int(), payments: z.int(), memberships: z.int(), documents: z.int() }),
  /**
   * The size and hash of each file, by its path in the backup. Only paths that a backup can have are accepted, since a restore
   * opens these files.
   */
  files: z.record(
    z
      .string()
      .refine(
        (file) =>
          file === DUMP ||
          file === JOURNAL ||
          isInCluster(file) ||
          isName(documentFile.exec(file)?.[1] ?? ''),
      ),
    z.object({ sizeBytes: z.int(), sha256 }),
  ),
  /**
   * Only in a backup with a copy of the database's folder: the platform on which the copy was made, and the copy's subfolders,
   * outer folders first.
   */
  copy: z.object({ platform: z.string(), folders: z.array(z.string().refine(isInCluster)) }).optional(),
  /** The storage keys of documents that have a row but were not in the storage. */
  absent: z.array(z.string()),
  /**
   * The storage keys of documents that could not be decrypted or whose hash is wrong. They are not restored, even if the backup's
   * folder has a copy.
   */
  damaged: z.array(z.string()),
  /** The storage keys of documents that were copied without a check, because their document key was not set. */
  unchecked: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Writes the manifest, which completes a backup. The file is written under a temporary name, synced and renamed. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const half = join(folder, `${MANIFEST}.part`);
  const handle = await open(half, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 1)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(half, join(folder, MANIFEST));
  const entry = await open(folder, 'r');
  await entry.sync().finally(() => entry.close());
}

/** Reads the manifest of a backup. Throws {@link BackupFault} if it is missing or cannot be read. */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new BackupFault(
      `${path} cannot be read (${error.message}). A folder without it is no backup, or one that stopped half-way.`,
    );
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new BackupFault(`${path} is not whole: it was cut off or changed.`);
  }
  const { format } = z
    .object({ format: z.int().catch(0) })
    .catch({ format: 0 })
    .parse(json);
  if (format !== 0 && format !== FORMAT)
    throw new BackupFault(
      `${path} is of ${format > FORMAT ? 'a newer version of Induct' : 'a version before 1.0'}: restore it with that one.`,
    );
  const read = manifestSchema.safeParse(json);
  const database = read.data?.copy ? `${CLUSTER}/global/pg_control` : DUMP;
  if (!read.success || !(database in read.data.files))
    throw new BackupFault(`${path} is not the manifest of a backup, or it was changed.`);
  return read.data;
}

/** Throws {@link BackupFault} for the first file that is missing or does not have the hash of the manifest. */
export async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const [file, { sha256 }] of Object.entries(files)) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, file)), hash).catch((error: Error) => {
      throw new BackupFault(`${file} of the backup cannot be read (${error.message}).`);
    });
    if (hash.digest('hex') !== sha256)
      throw new BackupFault(`${file} of the backup was changed: its SHA-256 is not that of the manifest.`);
  }
}
