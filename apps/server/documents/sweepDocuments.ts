import { sql } from 'kysely';
import { repeat } from '../background.ts';
import type { Deps } from '../deps.ts';

const INTERVAL_MS = 3_600_000;
/** An upload under way keeps writing; what rests for a day belongs to nobody. */
const REST_MS = 86_400_000;
const BATCH = 500;

export function startSweepingDocuments(deps: Deps): () => Promise<void> {
  return repeat('sweep documents', INTERVAL_MS, deps.log, async () => {
    await sweepDocuments(deps);
    return { more: false };
  });
}

/**
 * Removes bytes that no row knows: a crash between the bytes and their row, or in the middle of an upload. Returns how
 * many files it removed.
 */
export async function sweepDocuments(deps: Deps): Promise<number> {
  let removed = 0;
  let keys: string[] = [];
  const sweep = async () => {
    const { rows } = await sql<{ key: string }>`
      select key from unnest(${keys}::text[]) as key
      where not exists (select from document where storage_key = key)`.execute(deps.database);
    for (const { key } of rows) await deps.storage.remove(key);
    removed += rows.length;
    keys = [];
  };
  for await (const key of deps.storage.olderThan(new Date(deps.now().getTime() - REST_MS))) {
    keys.push(key);
    if (keys.length === BATCH) await sweep();
  }
  await sweep();
  if (removed > 0) deps.log.warn({ removed }, 'files without a document were removed');
  return removed;
}
