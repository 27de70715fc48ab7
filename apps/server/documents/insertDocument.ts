import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import type { ReceivedUpload } from './receiveUpload.ts';

type Owner =
  | { kind: 'transcript'; session_uuid: string; contact_id: null }
  | { kind: 'resume'; session_uuid: null; contact_id: string };

/**
 * Writes the row of a document whose bytes are stored, in a transaction that has locked its owner. The bytes stay if the
 * transaction fails, since it may have been committed all the same.
 */
export async function insertDocument(
  trx: Kysely<Tables>,
  file: ReceivedUpload['file'],
  owner: Owner,
): Promise<void> {
  await trx
    .insertInto('document')
    .values({
      ...owner,
      id: randomUUID(),
      name: file.name,
      media_type: file.mediaType,
      size_bytes: file.sizeBytes,
      sha256: file.sha256,
      storage_key: file.key,
    })
    .execute();
}
