import { resolve } from 'node:path';
import type { Config } from '../../platform/config/config.ts';
import { folderStorage } from './folderStorage.ts';
import type { Storage } from './storage.ts';

/** The storage that STORAGE_URL names. The S3 client is loaded only if needed. */
export async function openStorage({
  storage,
  storageReserveBytes,
  dataDir,
}: Pick<Config, 'storage' | 'storageReserveBytes' | 'dataDir'>): Promise<Storage> {
  if (storage.kind === 'folder') return folderStorage(storage.folder, storageReserveBytes);
  const { s3Storage } = await import('./s3Storage.ts');
  return s3Storage(storage, resolve(dataDir, 'incoming'), storageReserveBytes);
}
