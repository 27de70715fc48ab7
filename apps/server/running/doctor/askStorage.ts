import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../../platform/config/config.ts';
import type { Answer } from '../../providers/answer.ts';
import { isKey } from '../../providers/storage/arrive.ts';
import { openStorage } from '../../providers/storage/openStorage.ts';
import type { Versions } from '../../providers/storage/s3Storage.ts';
import { DocumentFault, NotStored, type Storage, StorageFull } from '../../providers/storage/storage.ts';

const PROBE = Buffer.from('written by the doctor, and removed again');
/** The size of a test file that is uploaded to a bucket in parts: s3Storage.ts uploads files over 5 MiB in parts. */
const LARGE_BYTES = 6 * 1_048_576;

/** How many documents the doctor checks for a missing or unknown document key. */
const SAMPLE = 10;

export interface StorageState {
  /** Why a document of the sample cannot be read; null if all can. */
  unreadable: string | null;
  /** What happens to documents that are removed from a bucket; null if the documents are in a folder. */
  versions: Answer<Versions> | null;
}

export interface StorageAnswer {
  place: string;
  answer: Answer<StorageState>;
  /** Whether the documents are in a bucket of an S3-compatible service to which checksums are sent. Some refuse them. */
  mayRefuseChecksums: boolean;
  /** Whether the small test file could be stored, read and removed, but not the large one, which is uploaded in parts. */
  isOnlyLarge: boolean;
}

/**
 * Stores, reads and removes a small file, in a bucket a large one as well, and checks whether a sample of documents can be
 * decrypted. A failure of the storage is returned, not thrown.
 */
export async function askStorage(config: Config): Promise<StorageAnswer> {
  const { storage: settings } = config;
  const place =
    settings.kind === 'folder' ? settings.folder : `the bucket ${settings.bucket}/${settings.prefix}`;
  const mayRefuseChecksums =
    settings.kind === 's3' && settings.endpoint !== null && settings.checksums === 'supported';
  let isOnlyLarge = false;
  try {
    const storage = await openStorage(config);
    await probe(storage, PROBE);
    isOnlyLarge = true;
    if (settings.kind === 's3') await probe(storage, Buffer.alloc(LARGE_BYTES, PROBE));
    isOnlyLarge = false;
    const said = { unreadable: await unreadableOf(storage), versions: await versionsOf(settings) };
    return { place, mayRefuseChecksums, isOnlyLarge, answer: { said } };
  } catch (error) {
    return { place, mayRefuseChecksums, isOnlyLarge, answer: { down: reasonOf(error) } };
  }
}

async function probe(storage: Storage, bytes: Buffer): Promise<void> {
  const { key } = await storage.put(Readable.from([bytes]), async () => {});
  try {
    if (!(await buffer(await storage.read(key))).equals(bytes))
      throw new Error('what is read is not what was written');
  } finally {
    await storage.remove(key);
  }
}

async function versionsOf(settings: Config['storage']): Promise<StorageState['versions']> {
  if (settings.kind === 'folder') return null;
  const { askVersions } = await import('../../providers/storage/s3Storage.ts');
  return askVersions(settings).then(
    (said) => ({ said }),
    (error) => ({ down: reasonOf(error) }),
  );
}

async function unreadableOf(storage: Storage): Promise<string | null> {
  let left = SAMPLE;
  for await (const key of storage.olderThan(new Date())) {
    if (!isKey(key)) continue;
    try {
      await storage.how(key);
    } catch (error) {
      if (error instanceof DocumentFault) return error.notice;
      // A document that was removed after the storage had listed it is not a fault, and is skipped.
      if (!(error instanceof NotStored)) throw error;
    }
    if (--left === 0) break;
  }
  return null;
}

function reasonOf(error: unknown): string {
  if (error instanceof StorageFull) return 'the disk is full but for its reserve';
  const { cause, message } = error as Error;
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : message;
}
