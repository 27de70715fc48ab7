import { type RawBuilder, sql } from 'kysely';
import { cleanText } from '#core/cleanText.ts';
import { acceptedDocuments, type DocumentType } from '#documents/document.ts';
import { crmId } from '../crm/crmId.ts';
import { tellingHubspot } from '../crm/fence.ts';
import type { HubspotClient } from '../crm/hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from '../crm/hubspot/errors.ts';
import { repeat } from '../platform/background.ts';
import { backoff } from '../platform/database/backoff.ts';
import type { Database } from '../platform/database/client.ts';
import { escapeHtml } from '../platform/escapeHtml.ts';
import { DocumentFault } from '../providers/storage/storage.ts';
import type { Deps } from './deps.ts';
import { reportUnreadable } from './reportUnreadable.ts';

const INTERVAL_MS = 5_000;
/**
 * The number of documents in a batch: fewer than in batches of joins, since each document is a whole file, and joins are more
 * urgent.
 */
const BATCH = 5;
const BACKOFF = { first: 2, longest: 600 };
const FOLDER = '/induct';

/** A document that is to be attached to its contact in HubSpot. */
interface Row {
  id: string;
  kind: 'transcript' | 'resume';
  name: string;
  media_type: DocumentType;
  size_bytes: string;
  storage_key: string;
  sha256: Buffer;
  created_at: Date;
  first_name: string | null;
  last_name: string | null;
  contact_id: string;
  crm_file_id: string | null;
  /** The id of a note at the document's former contact. This note is deleted before a new one is made. */
  crm_note_id: string | null;
  crm_attempts: number;
}

export function startAttachingDocuments(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat(
    'attach documents in HubSpot',
    INTERVAL_MS,
    deps.log,
    async () => (await attachDue(deps, hubspot)) === BATCH,
  );
}

/**
 * Attaches due documents to their contacts in HubSpot, each as a private file with a note. Takes no document while calls to
 * HubSpot are paused or a person is being erased. Returns how many documents it took. The file and the note are recorded as soon
 * as each is made, so a crash repeats at most one of these steps. Before a step is repeated, HubSpot is asked whether it was
 * done.
 */
export async function attachDue(deps: Deps, hubspot: HubspotClient): Promise<number> {
  if (!deps.society.crm.attachDocuments || (await deps.crmBudget.blockedMs('call')) > 0) return 0;
  return (await tellingHubspot(deps.database, () => attachTaken(deps, hubspot))) ?? 0;
}

async function attachTaken(deps: Deps, hubspot: HubspotClient): Promise<number> {
  const rows = await takeRows(deps);
  for (const row of rows) {
    try {
      await attach(deps, hubspot, row);
    } catch (error) {
      if (error instanceof CrmRefused) await refused(deps, row, error.message);
      else if (error instanceof CrmUnavailable) await postpone(deps, row, error.retryAfterMs);
      else if (error instanceof DocumentFault) {
        await reportUnreadable(deps, error);
        await postpone(deps, row, 0);
      }
      // An unexpected error is logged. The other documents are attached nevertheless.
      else {
        deps.log.error({ err: error, document: row.id }, 'a document could not be attached in HubSpot');
        await postpone(deps, row, 0);
      }
    }
  }
  return rows.length;
}

/** SQL: the contact of the person whose resume the query's `document` is; null for a transcript. */
const resumeContact = sql<
  string | null
>`(select person.contact_id from person where person.id = document.person_id)`;

/** SQL: whether the query's `document` is a resume of one of these contacts. */
function isResumeOf(contacts: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`document.person_id in (select id from person where contact_id = any(${contacts}::text[]))`;
}

/**
 * SQL condition on `document left join join_session`: the document is not attached yet, its contact is in HubSpot, and neither
 * staff nor HubSpot has rejected the document. A document whose file retention has removed is attachable only if HubSpot has the
 * file already, so that only the note is missing.
 */
export const isAttachable = sql<boolean>`document.crm_next_try_at is not null and document.crm_refusal is null and review <> 'rejected'
        and (removed_at is null or crm_file_id is not null)
        and coalesce(${resumeContact}, ${crmId}) is not null`;

/**
 * Takes due documents. A document whose contact is not in HubSpot yet is not taken. Taking a document postpones it by the longest
 * time that its transfer may take, so that it is due again if this process dies.
 */
async function takeRows({ database }: Deps): Promise<Row[]> {
  const { rows } = await sql<Row>`
    with due as (
      select document.id, coalesce(${resumeContact}, ${crmId}) as contact_id,
        details ->> 'firstName' as first_name, details ->> 'lastName' as last_name
      from document left join join_session on join_session.uuid = session_uuid
      where document.crm_next_try_at <= now() and ${isAttachable}
      order by document.crm_next_try_at limit ${BATCH} for update of document skip locked
    )
    update document set crm_attempts = crm_attempts + 1,
      crm_next_try_at = now() + make_interval(secs => 120 + size_bytes / 50000)
    from due where document.id = due.id
    returning document.id, kind, name, media_type, size_bytes, storage_key, sha256, created_at, first_name, last_name, due.contact_id,
      crm_file_id, crm_note_id, crm_attempts`.execute(database);
  return rows;
}

async function attach(deps: Deps, hubspot: HubspotClient, row: Row): Promise<void> {
  const { id, contact_id: contactId } = row;
  const wasTried = row.crm_attempts > 1;
  let fileId = row.crm_file_id;
  if (fileId === null) {
    const path = pathOf(row);
    fileId =
      (wasTried ? await hubspot.findFile(path) : null) ??
      (await hubspot.uploadFile({
        path,
        mediaType: row.media_type,
        sizeBytes: Number(row.size_bytes),
        bytes: await deps.storage.read(row.storage_key, row.sha256),
      }));
    await deps.database.updateTable('document').set({ crm_file_id: fileId }).where('id', '=', id).execute();
  }
  if (row.crm_note_id !== null) {
    await hubspot.deleteNote(row.crm_note_id);
    await deps.database.updateTable('document').set({ crm_note_id: null }).where('id', '=', id).execute();
  }
  const noteId =
    (wasTried ? await hubspot.findNote(contactId, fileId) : null) ??
    (await hubspot.createNote({ contactId, fileId, html: textOf(row), at: row.created_at }));
  const { rows } = await sql`
    update document set crm_note_id = ${noteId}, crm_next_try_at = null
    where id = ${id} and crm_attempts = ${row.crm_attempts} returning id`.execute(deps.database);
  // The document was moved to another contact meanwhile. It is due again, so the note at this contact is deleted.
  if (rows.length === 0) await hubspot.deleteNote(noteId);
}

/**
 * Returns the ids of files in HubSpot that belong to documents of these joins and contacts, but are not recorded in the
 * documents' rows. Such a file exists if a process died between uploading it and recording its id.
 */
export async function findUnnotedFiles(
  database: Database,
  hubspot: HubspotClient,
  { joins, contacts }: { joins: readonly string[]; contacts: readonly string[] },
): Promise<string[]> {
  const { rows } = await sql<Named>`
    select document.id, kind, media_type, details ->> 'firstName' as first_name, details ->> 'lastName' as last_name
    from document left join join_session on join_session.uuid = session_uuid
    where crm_file_id is null and document.crm_attempts > 0
      and (session_uuid = any(${joins}::uuid[]) or ${isResumeOf(contacts)})`.execute(database);
  const found: string[] = [];
  for (const row of rows) {
    const id = await hubspot.findFile(pathOf(row));
    if (id !== null) found.push(id);
  }
  return found;
}

/**
 * Returns the ids of the notes in HubSpot about documents of these joins and contacts. If a process died before it recorded a
 * note's id, the note is looked for at its contact.
 */
export async function findNotes(
  database: Database,
  hubspot: HubspotClient,
  { joins, contacts }: { joins: readonly string[]; contacts: readonly string[] },
): Promise<string[]> {
  const { rows } = await sql<{ note_id: string | null; file_id: string | null; contact_id: string | null }>`
    select crm_note_id as note_id, crm_file_id as file_id, coalesce(${resumeContact}, ${crmId}) as contact_id
    from document left join join_session on join_session.uuid = session_uuid
    where coalesce(crm_note_id, crm_file_id) is not null
      and (session_uuid = any(${joins}::uuid[]) or ${isResumeOf(contacts)})`.execute(database);
  const found: string[] = [];
  for (const { note_id, file_id, contact_id } of rows) {
    const id = note_id ?? (file_id && contact_id && (await hubspot.findNote(contact_id, file_id)));
    if (id) found.push(id);
  }
  return found;
}

type Named = Pick<Row, 'id' | 'kind' | 'media_type' | 'first_name' | 'last_name'>;

/**
 * Returns the path of a document's file in HubSpot. The path contains the applicant's name and is unique, so that HubSpot can be
 * searched for this file.
 */
function pathOf({ id, kind, media_type, first_name, last_name }: Named): string {
  const who = [first_name, last_name].filter(Boolean).join(' ').normalize('NFKD').toLowerCase();
  const plain = who
    .replace(/[^a-z]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const ending = acceptedDocuments[media_type][0];
  return `${FOLDER}/${[plain, kind, id].filter(Boolean).join('-')}${ending}`;
}

/** Returns the HTML of the note about a document. Names are user input and are escaped. */
function textOf({ kind, name, first_name, last_name }: Row): string {
  const who = [first_name, last_name].filter(Boolean).join(' ');
  const text = cleanText(
    `${kind === 'transcript' ? 'Transcript' : 'Resume'}${who && ` from ${who}`}: ${name}`,
  );
  return escapeHtml(text);
}

async function refused({ database }: Deps, { id }: Row, reason: string): Promise<void> {
  await database.updateTable('document').set({ crm_refusal: reason }).where('id', '=', id).execute();
}

async function postpone({ database }: Deps, { id, crm_attempts }: Row, retryAfterMs: number): Promise<void> {
  await sql`
    update document set crm_next_try_at = now() + make_interval(secs => greatest(${retryAfterMs / 1000}::float, ${backoff(crm_attempts, BACKOFF)}))
    where id = ${id}`.execute(database);
}
