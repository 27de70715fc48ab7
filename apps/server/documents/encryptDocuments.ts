import { type Kysely, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import type { Tables } from '../platform/database/types.ts';
import { isKey } from '../providers/storage/arrive.ts';
import { DocumentFault, type How, NotStored } from '../providers/storage/storage.ts';
import { tellUnreadable } from './tellUnreadable.ts';

/** A number of ours among PostgreSQL's advisory locks: with the hash of its key it stands for a document. */
const LOCK = 23_061;

/** Goes through all documents of the storage, those without a row, too. Counts how they were stored before. */
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
      // Removed since it was listed.
      if (error instanceof NotStored) continue;
      if (!(error instanceof DocumentFault)) throw error;
      if (!isTrial) await tellUnreadable(deps, error);
      result.faults.push(error.message);
    }
  }
  return result;
}

/**
 * Whoever erases a document holds its row until the file is gone, and so does this: what is erased meanwhile does not come back.
 * Throws {@link NotStored} then.
 */
export function encryptDocument(
  { storage, database }: Pick<Deps, 'storage' | 'database'>,
  key: string,
): Promise<void> {
  return database.transaction().execute((trx) => storage.encrypt(key, () => holdDocument(trx, key)));
}

/** Until the transaction ends nobody else removes or encrypts this document. */
export async function holdDocument(trx: Kysely<Tables>, key: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK}, hashtext(${key}))`.execute(trx);
  await sql`select from document where storage_key = ${key} for update`.execute(trx);
}
