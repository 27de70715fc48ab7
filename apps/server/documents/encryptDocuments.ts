import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { isKey } from '../providers/storage/arrive.ts';
import { DocumentFault, type How, NotStored } from '../providers/storage/storage.ts';
import type { Deps } from './deps.ts';
import { reportUnreadable } from './reportUnreadable.ts';

/** The first key of the advisory lock on a document. The second key is a hash of the document's storage key. */
const LOCK = 23_061;

/**
 * Encrypts all stored documents with the current document key, even documents without a row. With `isTrial`, changes nothing.
 * Returns:
 * - how many documents were unencrypted (`plain`), encrypted with another key (`other`) or with the current key (`current`);
 * - `faults`, a sentence for each document that could not be read.
 */
export async function encryptDocuments(
  deps: Pick<Deps, 'storage' | 'database' | 'log'>,
  { isTrial = false } = {},
): Promise<Record<How, number> & { faults: string[] }> {
  const result = { plain: 0, other: 0, current: 0, faults: [] as string[] };
  for await (const key of deps.storage.olderThan(new Date(8.64e15))) {
    if (!isKey(key)) continue;
    try {
      const how = await deps.storage.how(key);
      if (how !== 'current' && !isTrial) await encryptDocument(deps, key);
      result[how]++;
    } catch (error) {
      // A document that was removed after the storage had listed it is skipped.
      if (error instanceof NotStored) continue;
      if (!(error instanceof DocumentFault)) throw error;
      if (!isTrial) await reportUnreadable(deps, error);
      result.faults.push(error.message);
    }
  }
  return result;
}

/**
 * Encrypts one document while holding the document's lock ({@link holdDocument}). An erasure holds the lock on the document's row
 * until the file is removed, so an erased document is never written again. Throws {@link NotStored} if the document was removed.
 */
export function encryptDocument(
  { storage, database }: Pick<Deps, 'storage' | 'database'>,
  key: string,
): Promise<void> {
  return database.transaction().execute((trx) => storage.encrypt(key, () => holdDocument(trx, key)));
}

/** Locks a document until the end of the transaction, so that no other transaction removes or encrypts it. */
export async function holdDocument(trx: Kysely<Tables>, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK}, hashtext(${key}))`.execute(trx);
  await sql`select from document where storage_key = ${key} for update`.execute(trx);
}
