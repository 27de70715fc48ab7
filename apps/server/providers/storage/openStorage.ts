import { resolve } from 'node:path';
import type { Config } from '../../platform/config/config.ts';
import { encryptedStorage } from './encryptedStorage.ts';
import { documentKeys as keysOf } from './envelope.ts';
import { folderStorage } from './folderStorage.ts';
import type { ByteStore, Storage } from './storage.ts';

type Settings = Pick<Config, 'storage' | 'storageReserveBytes' | 'dataDir' | 'documentKeys'>;

/** Opens the storage that STORAGE_URL names. If there are document keys, new documents are encrypted. */
export async function openStorage(settings: Settings): Promise<Storage> {
  const { documentKeys } = settings;
  return encryptedStorage(await openByteStore(settings), documentKeys === null ? null : keysOf(documentKeys));
}

/** Imports the S3 client only if documents are in a bucket. */
async function openByteStore({ storage, storageReserveBytes, dataDir }: Settings): Promise<ByteStore> {
  if (storage.kind === 'folder') return folderStorage(storage.folder, storageReserveBytes);
  const { s3Storage } = await import('./s3Storage.ts');
  return s3Storage(storage, resolve(dataDir, 'incoming'), storageReserveBytes);
}
