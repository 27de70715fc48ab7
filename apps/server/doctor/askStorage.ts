import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Config } from '../platform/config/config.ts';
import type { Answer } from '../providers/answer.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { StorageFull } from '../providers/storage/storage.ts';

const PROBE = 'written by the doctor, and removed again';

/** Keeps a small file as a document is kept, reads it and removes it. Never throws for what the storage does. */
export async function askStorage(config: Config): Promise<{ place: string; answer: Answer<null> }> {
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
      answer: read === PROBE ? { said: null } : { down: 'what is read is not what was written' },
    };
  } catch (error) {
    return { place, answer: { down: reasonOf(error) } };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StorageFull) return 'the disk is full but for its reserve';
  const { cause, message } = error as Error;
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : message;
}
