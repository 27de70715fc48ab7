import { sql } from 'kysely';
import { endNotices, notifyStaff } from '../letters/notifyStaff.ts';
import { repeat } from '../platform/background.ts';
import { isKey } from '../providers/storage/arrive.ts';
import type { Deps } from './deps.ts';

const INTERVAL_MS = 3_600_000;
/**
 * How old (ms) a file must be before the clean-up treats it as abandoned. By then no upload is still writing to it, and a
 * complete document has its row.
 */
const REST_MS = 86_400_000;
const BATCH = 500;

/**
 * Starts the clean-up. Its first run is a day after the start, which gives staff time to check a restored database or a changed
 * storage.
 */
export function startSweepingDocuments(deps: Deps): () => Promise<void> {
  return repeat('sweep documents', INTERVAL_MS, deps.log, () => sweepDocuments(deps), {
    firstAfterMs: REST_MS,
  });
}

/**
 * Removes the remains of interrupted uploads: incomplete files, and envelopes without a document. Complete documents without a
 * row are kept, and staff get a notice. A document has no row after a crash between storing it and inserting the row, or after
 * the database was restored from an older backup (docs/decisions/0015). Returns how many files were removed.
 */
export async function sweepDocuments(deps: Deps): Promise<number> {
  let removed = 0;
  for await (const name of restingFiles(deps)) {
    if (isKey(name)) continue;
    await deps.storage.remove(name);
    removed++;
  }
  if (removed > 0) deps.log.warn({ removed }, 'unfinished uploads were removed');
  let unknown = 0;
  for await (const _ of unknownDocuments(deps)) unknown++;
  const params = { count: unknown };
  await endNotices(deps.database, ['unknown_documents'], { unlike: params });
  if (unknown > 0)
    await notifyStaff(deps.database, {
      kind: 'unknown_documents',
      subject: null,
      params,
      remedy: { do: 'look at unknown documents' },
    });
  return removed;
}

/**
 * Yields the keys of complete documents that have no row and were last written more than a day ago. `all`: also the younger ones,
 * whose upload may be under way.
 */
export async function* unknownDocuments(
  deps: Pick<Deps, 'storage' | 'database' | 'now'>,
  { all = false } = {},
): AsyncGenerator<string> {
  let keys: string[] = [];
  const unknown = async () => {
    const { rows } = await sql<{ key: string }>`
      select key from unnest(${keys}::text[]) as key
      where not exists (select from document where storage_key = key)`.execute(deps.database);
    keys = [];
    return rows.map(({ key }) => key);
  };
  for await (const name of all ? deps.storage.olderThan(new Date(8.64e15)) : restingFiles(deps)) {
    if (!isKey(name)) continue;
    keys.push(name);
    if (keys.length === BATCH) yield* await unknown();
  }
  yield* await unknown();
}

function restingFiles({ storage, now }: Pick<Deps, 'storage' | 'now'>): AsyncIterable<string> {
  return storage.olderThan(new Date(now().getTime() - REST_MS));
}
