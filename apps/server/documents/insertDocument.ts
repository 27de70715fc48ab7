import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import type { StoredDocument } from './storeFile.ts';

type Owner =
  | { kind: 'transcript'; session_uuid: string; person_id: null }
  | { kind: 'resume'; session_uuid: null; person_id: number };

/**
 * Inserts the row of a document whose bytes are stored. The transaction must have locked the document's join or person. The bytes
 * are kept even if the commit reports an error, because the commit may have succeeded.
 */
export async function insertDocument(trx: Kysely<Tables>, file: StoredDocument, owner: Owner): Promise<void> {
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
