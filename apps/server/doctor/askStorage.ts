import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Config } from '../platform/config/config.ts';
import type { Answer } from '../providers/answer.ts';
import { isKey } from '../providers/storage/arrive.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import type { Versions } from '../providers/storage/s3Storage.ts';
import { DocumentFault, NotStored, type Storage, StorageFull } from '../providers/storage/storage.ts';

const PROBE = 'written by the doctor, and removed again';

/** How many documents the doctor checks for a missing or unknown document key. */
const SAMPLE = 10;

export interface StorageState {
  /** Why a document of the sample cannot be read; null if all can. */
  unreadable: string | null;
  /** What becomes of removed documents in a bucket; null if the documents are in a folder. */
  versions: Answer<Versions> | null;
}

/**
 * Stores, reads and removes a small file, and checks whether a sample of documents can be decrypted. A failure of the storage is
 * returned, not thrown.
 */
export async function askStorage(config: Config): Promise<{ place: string; answer: Answer<StorageState> }> {
  const { storage: settings } = config;
  const place =
    settings.kind === 'folder' ? settings.folder : `the bucket ${settings.bucket}/${settings.prefix}`;
  try {
    const storage = await openStorage(config);
    const { key } = await storage.put(Readable.from([Buffer.from(PROBE)]), async () => {});
    const read = await text(await storage.read(key));
    await storage.remove(key);
    return {
      place,
      answer:
        read === PROBE
          ? { said: { unreadable: await unreadableOf(storage), versions: await versionsOf(settings) } }
          : { down: 'what is read is not what was written' },
    };
  } catch (error) {
    return { place, answer: { down: reasonOf(error) } };
  }
}

async function versionsOf(settings: Config['storage']): Promise<StorageState['versions']> {
  if (settings.kind === 'folder') return null;
  const { askVersions } = await import('../providers/storage/s3Storage.ts');
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
      // A document that was removed after the storage had listed it is no fault, and is skipped.
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
