import { sql } from 'kysely';
import { csvLine } from '#core/csv.ts';
import { repeat } from '../../platform/background.ts';
import type { Database } from '../../platform/database/client.ts';
import { NotCsv, readCsv } from '../../platform/readCsv.ts';
import type { Deps } from '../deps.ts';
import { checkImport } from './checkImport.ts';
import { contactFile, contactsToMint, type InvitationToMint, mintColumns } from './contactsToMint.ts';
import { importInvitations } from './importInvitations.ts';
import { deleteParts, PartWriter, wholeOf } from './importParts.ts';
import { type Import, type ImportCounts, type ImportState, importColumns } from './imports.ts';
import { countMembers } from './membersAmong.ts';
import { mintCodes } from './mintInvitations.ts';

const INTERVAL_MS = 1_000;
/** After this time without a progress report, a server is taken to be dead, and another server starts over. */
const CLAIM_SECONDS = 60;
/** How often a server writes its progress to the database. */
const TELL_MS = 500;
/** The most refused lines that are shown. All can be downloaded, except lines that are too long to be read. */
const MOST_REFUSALS = 100;

type Work = Pick<Deps, 'database' | 'society' | 'now' | 'log'>;

/** Works on uploaded files until the returned function is called. Unfinished work is then left to another server. */
export function startWorkingOnImports(deps: Work): () => Promise<void> {
  const ended = new AbortController();
  const stop = repeat('invitation files', INTERVAL_MS, deps.log, () => workOnImports(deps, ended.signal));
  return () => {
    ended.abort();
    return stop();
  };
}

/** Works on one file that waits, and empties old files. Returns whether a file was waiting. */
export async function workOnImports(deps: Work, signal?: AbortSignal): Promise<boolean> {
  const { database } = deps;
  await emptyOld(database);
  const found = await claim(database);
  if (!found) return false;
  try {
    const work = { making: make, checking: check, importing: take }[found.state as 'making'];
    await work(deps, found, signal);
  } catch (error) {
    if (signal?.aborted) {
      await sql`update invitation_import set claimed_until = null where id = ${found.id}`.execute(database);
      return false;
    }
    if (!(error instanceof NotCsv)) throw error;
    await finish(database, found, { state: 'failed', failure: error.message });
    await deleteParts(database, found.id);
  }
  return true;
}

async function claim(database: Database): Promise<Import | null> {
  const { rows } = await sql<Import>`
    update invitation_import set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
    where id = (select id from invitation_import
      where state in ('making', 'checking', 'importing') and coalesce(claimed_until < now(), true)
      order by id limit 1 for update skip locked)
    returning ${importColumns}`.execute(database);
  return rows[0] ?? null;
}

/** Checks a file as an import would, but writes no codes, only what was found. */
async function check({ database, society }: Work, file: Import, signal?: AbortSignal): Promise<void> {
  const { refused, refusals, refuse, headed } = await refusalsOf(database, file);
  const progress = progressOf(database, file, signal);
  const found = await checkImport({ database, society }, file, {
    header: headed,
    refused: refuse,
    async progress(_, bytes) {
      await refused.flush({ isEnd: false });
      await progress(bytes);
    },
  });
  await refused.flush({ isEnd: true });
  await finish(database, file, { state: 'checked', refusals, ...found });
}

/** Imports a file that was checked, or codes that were made. */
async function take({ database, society }: Work, file: Import, signal?: AbortSignal): Promise<void> {
  const kind = file.kind === 'mint' ? 'made' : 'file';
  const progress = progressOf(database, file, signal);
  const taken = await importInvitations(
    database,
    { name: file.fileName, pieces: wholeOf(database, file, kind) },
    society,
    { progress: (_, bytes) => progress(bytes) },
    { campaign: file.campaign },
  );
  // Lines that an interrupted run has imported count as unchanged in the next run.
  const counts = file.kind === 'mint' ? { ...file.counts!, ...taken, refused: file.counts!.refused } : taken;
  await finish(database, file, { state: 'done', counts });
  await deleteParts(database, file.id, ['file']);
}

/** Makes codes, for the contacts of a file or as many as were ordered. */
async function make(deps: Work, file: Import, signal?: AbortSignal): Promise<void> {
  const { database, society } = deps;
  const { count, school, programme, expiresAt, imports } = file.mint!;
  const { refused, refusals, refuse, headed, counted } = await refusalsOf(database, file);
  const all: InvitationToMint = {
    ...(school !== null && { school }),
    ...(programme !== null && { programme }),
    ...(expiresAt !== null && { expiresAt }),
  };
  const progress = progressOf(database, file, signal);
  let bytesRead = () => 0;
  async function* wanted(): AsyncGenerator<InvitationToMint> {
    if (count !== null) {
      for (let made = 0; made < count; made++) yield all;
      return;
    }
    const pieces = wholeOf(database, file, 'file');
    const csv = await readCsv({ name: file.fileName, pieces }, contactFile);
    headed(csv.header);
    bytesRead = csv.bytesRead;
    yield* contactsToMint(csv.rows, { all, society, now: deps.now() }, refuse);
  }
  await deleteParts(database, file.id, ['made']);
  const writer = new PartWriter(database, file.id, 'made');
  writer.add(csvLine(['code', ...mintColumns]));
  const members = countMembers(database);
  let made = 0;
  for await (const { code, invitation } of mintCodes(database, wanted())) {
    await members.add(invitation.contactId);
    writer.add(csvLine([code, ...mintColumns.map((column) => invitation[column] ?? '')]));
    if (++made % 1_000 !== 0) continue;
    await writer.flush({ isEnd: false });
    await refused.flush({ isEnd: false });
    await progress(bytesRead());
  }
  await writer.flush({ isEnd: true });
  await refused.flush({ isEnd: true });
  const counts = { made, refused: counted() };
  const state = imports ? 'importing' : 'made';
  const warning = await members.warning();
  const doubts = warning === null ? [] : [warning];
  await finish(database, file, { state, counts, refusals, doubts, sizeBytes: writer.size });
  await deleteParts(database, file.id, ['file']);
}

/** Collects the refused lines of a file: the first ones with the reasons, and all of them as a file with the same columns. */
async function refusalsOf(database: Database, { id }: Import) {
  await deleteParts(database, id, ['refused']);
  const refused = new PartWriter(database, id, 'refused');
  const refusals: { line: number; text: string }[] = [];
  let header = '';
  let count = 0;
  return {
    refused,
    refusals,
    headed(text: string) {
      header = text.replace(/^\ufeff/, '');
    },
    refuse(line: number, text: string, raw: string | null) {
      count++;
      if (refusals.length < MOST_REFUSALS) refusals.push({ line, text });
      if (raw === null) return;
      if (refused.size === 0) refused.add(`${header}\r\n`);
      refused.add(`${raw}\r\n`);
    },
    counted: () => count,
  };
}

/**
 * Returns a function that writes how far a file is read, and renews the claim on it. The function throws when the server stops.
 */
function progressOf(database: Database, { id }: Import, signal?: AbortSignal) {
  let told = performance.now();
  return async (bytes: number) => {
    signal?.throwIfAborted();
    if (performance.now() - told < TELL_MS) return;
    told = performance.now();
    await sql`
      update invitation_import set read_bytes = ${bytes}, claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
      where id = ${id}`.execute(database);
  };
}

interface Result {
  state: ImportState;
  counts?: ImportCounts;
  refusals?: { line: number; text: string }[];
  doubts?: string[];
  failure?: string;
  /** The size of the file with the new codes. */
  sizeBytes?: number;
}

async function finish(
  database: Database,
  { id }: Import,
  { state, counts, refusals, doubts, failure, sizeBytes }: Result,
): Promise<void> {
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  await sql`
    update invitation_import set state = ${state}, claimed_until = now(),
      size_bytes = coalesce(${sizeBytes ?? null}, size_bytes),
      read_bytes = case when ${state} = 'importing' then 0 else coalesce(${sizeBytes ?? null}, size_bytes) end,
      counts = coalesce(${json(counts)}::jsonb, counts), refusals = coalesce(${json(refusals)}::jsonb, refusals),
      doubts = coalesce(${json(doubts)}::jsonb, doubts), failure = ${failure ?? null}
    where id = ${id}`.execute(database);
}

/**
 * Deletes the lines of files that no server works on or is to work on, a day after the last work. Only the lines contain personal
 * data.
 */
async function emptyOld(database: Database): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    update invitation_import set is_emptied = true, refusals = null
    where coalesce(claimed_until, created_at) < now() - interval '1 day' and not is_emptied
      and state not in ('making', 'checking', 'importing')
    returning id::int as id`.execute(database);
  for (const { id } of rows) await deleteParts(database, id);
}
