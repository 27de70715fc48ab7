import { buffer } from 'node:stream/consumers';
import { type Selectable, sql } from 'kysely';
import type { DocumentTable } from '../platform/database/types.ts';
import { personOf } from '../session/members.ts';
import type { Deps } from './deps.ts';
import { holdDocument } from './encryptDocuments.ts';
import { proofJoin } from './proofJoin.ts';
import { applicantOf } from './review.ts';
import { saveDocument, whyUnread } from './saveDocument.ts';
import { unknownDocuments } from './sweepDocuments.ts';

export type ListedDocument = Selectable<DocumentTable>;

/**
 * Returns the documents of the join `uuid` and of `join`, the join that owes the proof for it (often the same), oldest first.
 * `applicant` has the data with which the transcript should agree.
 */
export async function documentsOfJoin(
  deps: Deps,
  uuid: string,
): Promise<{
  join: string;
  applicant: Awaited<ReturnType<typeof applicantOf>>;
  documents: ListedDocument[];
}> {
  const join = await proofJoin(deps.database, uuid);
  const documents = await deps.database
    .selectFrom('document')
    .selectAll()
    .where('session_uuid', 'in', [uuid, join])
    .orderBy('created_at')
    .execute();
  return { join, applicant: await applicantOf(deps, join), documents };
}

/** Returns the resumes of a contact, the oldest first. */
export async function resumesOf({ database }: Deps, contactId: string): Promise<ListedDocument[]> {
  return database
    .selectFrom('document')
    .selectAll()
    .where(sql<boolean>`person_id = ${personOf(sql`${contactId}`)}`)
    .orderBy('created_at')
    .execute();
}

/** Returns the documents of persons and of their joins, the oldest first. */
export async function documentsOfPersons(
  { database }: Pick<Deps, 'database'>,
  persons: readonly number[],
): Promise<ListedDocument[]> {
  const { rows } = await sql<ListedDocument>`
    select * from document where person_id = any(${persons}::bigint[])
    union select * from document
      where session_uuid in (select uuid from join_session where join_session.person_id = any(${persons}::bigint[]))
    order by created_at, id`.execute(database);
  return rows;
}

/**
 * Writes the document with this id to a new file. Returns its media type, or the reason why it could not be written; null if
 * there is no such document.
 */
export async function fetchDocument(
  deps: Deps,
  id: string,
  path: string,
): Promise<{ mediaType: string } | { refused: string } | null> {
  const row = await deps.database
    .selectFrom('document')
    .select(['storage_key', 'media_type', 'sha256'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return null;
  const refused = await saveDocument(deps, { key: row.storage_key, sha256: row.sha256 }, path);
  return refused === null ? { mediaType: row.media_type } : { refused };
}

/**
 * The result of reading a document: its bytes, or the reason why there are none. `removed`: retention or an erasure has removed
 * its file.
 */
export type ReadDocument =
  | { is: 'read'; name: string; bytes: Buffer }
  | { is: 'removed' }
  | { is: 'unreadable'; why: string };

/**
 * Reads the document with this id, and checks that its bytes are the ones that were stored. Null if there is no such document.
 */
export async function readDocument(deps: Deps, id: string): Promise<ReadDocument | null> {
  const row = await deps.database
    .selectFrom('document')
    .select(['name', 'storage_key', 'sha256', 'removed_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return null;
  if (row.removed_at !== null) return { is: 'removed' };
  try {
    const bytes = await buffer(await deps.storage.read(row.storage_key, row.sha256));
    return { is: 'read', name: row.name, bytes };
  } catch (error) {
    return { is: 'unreadable', why: await whyUnread(deps, row.storage_key, error) };
  }
}

/** Returns the id of the person whose document this is; null if there is none. */
export async function personOfDocument(
  { database }: Pick<Deps, 'database'>,
  id: string,
): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`
    select coalesce(document.person_id, session.person_id)::int as id
    from document left join join_session session on session.uuid = session_uuid where document.id = ${id}`.execute(
    database,
  );
  return rows[0]?.id ?? null;
}

/**
 * Returns the keys of stored documents that have no row in the database. A document that `isYoung` may belong to an upload that
 * is still running.
 */
export async function listUnknown(deps: Deps): Promise<{ key: string; isYoung: boolean }[]> {
  const old = new Set<string>();
  for await (const key of unknownDocuments(deps)) old.add(key);
  const all: { key: string; isYoung: boolean }[] = [];
  for await (const key of unknownDocuments(deps, { all: true })) all.push({ key, isYoung: !old.has(key) });
  return all;
}

/** Whether a stored document has no row in the database. `young`: it has none, but an upload of it may still be running. */
export async function whetherUnknown(deps: Deps, key: string): Promise<'unknown' | 'young' | 'known'> {
  const found = (await listUnknown(deps)).find((each) => each.key === key);
  if (!found) return 'known';
  return found.isYoung ? 'young' : 'unknown';
}

/** Removes a stored document that has no row in the database. If it has a row by now, removes nothing and returns false. */
export async function removeUnknown({ database, storage }: Deps, key: string): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    await holdDocument(trx, key);
    const { rows } = await sql`select from document where storage_key = ${key}`.execute(trx);
    if (rows.length > 0) return false;
    await storage.remove(key);
    return true;
  });
}
