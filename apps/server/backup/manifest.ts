import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { envelopeOf, isKey, isName } from '../providers/storage/arrive.ts';

/** Why a backup was not made or not restored, as a sentence for staff. */
export class BackupFault extends Error {}

export const DUMP = 'database.dump';
/** The file name of the journal of erasures, if the backup has one. */
export const JOURNAL = 'erasures.jsonl';
const MANIFEST = 'manifest.json';
/** The version of the format. 2 added envelopes, 3 the journal of erasures. */
export const FORMAT = 3;

const documentFile = /^documents\/([^/]+)$/;
/** The path within a backup of a document, as it is stored, and of its envelope if it is encrypted. */
export const fileOf = (key: string) => `documents/${key}`;
export const envelopeFileOf = (key: string) => fileOf(envelopeOf(key));
/** The key of a document by its path within a backup. Null for an envelope, the dump and the journal. */
export function keyOf(file: string): string | null {
  const name = documentFile.exec(file)?.[1] ?? '';
  return isKey(name) ? name : null;
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const manifestSchema = z.object({
  format: z.int().min(1).max(FORMAT),
  /** The version of Induct that made the backup. */
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  /** The major version of the PostgreSQL server that was saved. */
  postgres: z.int(),
  /** The time of the database's snapshot. Everything committed before is in it. */
  takenAt: z.iso.datetime(),
  /** The migrations that had been run on the database, in order. */
  migrations: z.array(z.string()),
  /** How many rows the snapshot has. */
  counts: z.object({ joins: z.int(), payments: z.int(), memberships: z.int(), documents: z.int() }),
  /** Each file by its path. Only paths that a backup can have are accepted, since a restore opens them. */
  files: z.record(
    z
      .string()
      .refine((file) => file === DUMP || file === JOURNAL || isName(documentFile.exec(file)?.[1] ?? '')),
    z.object({ sizeBytes: z.int(), sha256 }),
  ),
  /** The keys of documents that the database names but the storage did not have. */
  absent: z.array(z.string()),
  /** The keys of documents whose bytes in the storage do not match their hash. Their copies are in the backup, but not restored. */
  damaged: z.array(z.string()),
  /** The keys of documents encrypted by a document key that was not set during the backup: they were copied without a check. */
  unchecked: z.array(z.string()).default([]),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Completes a backup: writes the manifest under a temporary name, syncs it, and renames it. */
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

/** Throws {@link BackupFault} if there is no readable manifest. */
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
  if (format > FORMAT)
    throw new BackupFault(`${path} is of a newer version of Induct: restore it with that one.`);
  const read = manifestSchema.safeParse(json);
  if (!read.success || !(DUMP in read.data.files))
    throw new BackupFault(`${path} is not the manifest of a backup, or it was changed.`);
  return read.data;
}

/** Throws {@link BackupFault} for the first file that is missing, or whose hash differs from the manifest's. */
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
