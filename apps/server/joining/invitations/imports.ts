import { sql } from 'kysely';
import { MOST_FILE_BYTES } from '#contract/deskLimits.ts';
import type { Database } from '../../platform/database/client.ts';
import type { ByStaff } from '../../platform/deps.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import type { Deps } from '../deps.ts';
import { deleteParts, PartWriter } from './importParts.ts';

/*
 * Files that staff upload. A file of invitations is first checked, which writes nothing, and imported once staff confirm. For a
 * file of contacts, codes are made. workOnImports.ts does the work.
 */

export type ImportKind = 'upload' | 'mint';
export type ImportState =
  | 'arriving'
  | 'making'
  | 'made'
  | 'checking'
  | 'checked'
  | 'importing'
  | 'done'
  | 'failed';

/**
 * An order for new codes: `count` of them or, if that is null, one for each contact of a file. A contact's own school, programme
 * and last day take precedence over those given here.
 */
export interface MintOrder {
  count: number | null;
  school: string | null;
  programme: string | null;
  /** The last day on which the codes are valid (YYYY-MM-DD). */
  expiresAt: string | null;
  /** Whether the codes are imported once they are made. */
  imports: boolean;
}

export interface ImportCounts {
  made?: number;
  added?: number;
  changed?: number;
  unchanged?: number;
  refused: number;
}

export interface Import {
  id: number;
  kind: ImportKind;
  state: ImportState;
  staff: string;
  fileName: string;
  campaign: string | null;
  mint: MintOrder | null;
  sizeBytes: number;
  readBytes: number;
  counts: ImportCounts | null;
  /** The first lines that were refused. */
  refusals: { line: number; text: string }[] | null;
  /** Sentences about what staff may not have intended. */
  doubts: string[] | null;
  failure: string | null;
  /** Whether the file and the refused lines are deleted. */
  isEmptied: boolean;
  createdAt: Date;
  /**
   * The time until which a server has reserved the file for its work, or at which the last work on it ended or was ordered. Null: a
   * server may begin.
   */
  workedAt: Date | null;
}

export const importColumns = sql`id::int as id, kind, state, staff, file_name as "fileName", campaign, mint, size_bytes as "sizeBytes",
  read_bytes as "readBytes", counts, refusals, doubts, failure, is_emptied as "isEmptied", created_at as "createdAt",
  claimed_until as "workedAt"`;

export const TOO_LARGE = `This file is larger than ${MOST_FILE_BYTES / 1_000_000} MB. Split it into smaller ones.`;
const IMPORTED_ALREADY = 'This file was imported already, or is being imported, or was deleted.';

interface Given {
  fileName: string;
  campaign: string | null;
  mint: MintOrder | null;
}

/**
 * Stores an uploaded file: of invitations, which is then checked, or of contacts, for whom codes are then made. Returns its id.
 * Throws a {@link Refusal} (413), and keeps nothing, if the file is too large.
 */
export async function receiveFile(
  deps: ByStaff<Pick<Deps, 'database' | 'actor'>>,
  given: Given,
  pieces: AsyncIterable<Buffer>,
): Promise<number> {
  const { database } = deps;
  const id = await addImport(deps, given);
  const writer = new PartWriter(database, id, 'file');
  try {
    for await (const piece of pieces) {
      writer.add(piece);
      if (writer.size > MOST_FILE_BYTES) throw new Refusal(413, TOO_LARGE);
      await writer.flush({ isEnd: false });
    }
    await writer.flush({ isEnd: true });
  } catch (error) {
    await deleteParts(database, id);
    await sql`delete from invitation_import where id = ${id}`.execute(database);
    throw error;
  }
  await sql`
    update invitation_import set size_bytes = ${writer.size}, state = ${given.mint ? 'making' : 'checking'}
    where id = ${id}`.execute(database);
  return id;
}

/**
 * Orders codes that are made without a file. Returns the order's id. A repeated order, with the same uuid as `once`, returns the
 * id of the first one.
 */
export async function orderCodes(
  deps: ByStaff<Pick<Deps, 'database' | 'actor'>>,
  given: Omit<Given, 'fileName'> & { mint: MintOrder; once: string },
): Promise<number> {
  return addImport(deps, { ...given, fileName: 'codes.csv', state: 'making' });
}

async function addImport(
  { database, actor }: ByStaff<Pick<Deps, 'database' | 'actor'>>,
  {
    fileName,
    campaign,
    mint,
    state = 'arriving',
    once = null,
  }: Given & { state?: ImportState; once?: string | null },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into invitation_import (kind, state, staff, file_name, campaign, mint, once)
    values (${mint ? 'mint' : 'upload'}, ${state}, ${actor}, ${fileName}, ${campaign}, ${mint && JSON.stringify(mint)}, ${once})
    on conflict (once) do nothing returning id::int as id`.execute(database);
  if (rows[0]) return rows[0].id;
  const first = await sql<{ id: number }>`
    select id::int as id from invitation_import where once = ${once}`.execute(database);
  return first.rows[0]!.id;
}

export async function readImport(database: Database, id: number): Promise<Import | null> {
  const { rows } = await sql<Import>`
    select ${importColumns} from invitation_import where id = ${id}`.execute(database);
  return rows[0] ?? null;
}

/** Returns the latest imports. */
export async function latestImports(database: Database, most: number): Promise<Import[]> {
  const { rows } = await sql<Import>`
    select ${importColumns} from invitation_import order by id desc limit ${most}`.execute(database);
  return rows;
}

/** Starts the import of a checked file. Returns a sentence for staff if it cannot be imported; otherwise null. */
export async function beginImport(database: Database, id: number): Promise<string | null> {
  const { rows } = await sql`
    update invitation_import set state = 'importing', read_bytes = 0, claimed_until = now()
    where id = ${id} and state = 'checked' and not is_emptied returning id`.execute(database);
  return rows.length > 0 ? null : IMPORTED_ALREADY;
}
