import { resolve } from 'node:path';
import type { Config } from '../../platform/config.ts';
import { folderStorage } from './folderStorage.ts';
import type { Storage } from './storage.ts';

/** The storage that STORAGE_URL names. What speaks to S3 is only loaded by who needs it. */
export async function openStorage({
  storage,
  storageReserveBytes,
  dataDir,
}: Pick<Config, 'storage' | 'storageReserveBytes' | 'dataDir'>): Promise<Storage> {
  if (storage.kind === 'folder') return folderStorage(storage.folder, storageReserveBytes);
  const { s3Storage } = await import('./s3Storage.ts');
  return s3Storage(storage, resolve(dataDir, 'incoming'), storageReserveBytes);
}
