import { type RawBuilder, sql } from 'kysely';
import { requireSameAccount } from './account.ts';
import type { Deps } from './deps.ts';
import { isThere, lookAtContacts, wasAtHubspot } from './followContacts.ts';
import { type ContactPage, LARGEST_PAGE } from './hubspot/client.ts';
import { patiently } from './hubspot/patiently.ts';

/** The name of a row of `schedule`. Its `reached_at` is the time up to which all changes were read. */
const TASK = 'contacts sync';
/** The name of a row of `schedule` with the start of an interrupted run, and the cursor of the page at which it resumes. */
const PAGE = 'contacts page';
/** The name of a row of `schedule`. Its cursor is the last of the mirror's contacts that was read in turn. */
const LOOKS = 'contacts look';
/** About how many contacts a run reads at most in addition to those that HubSpot lists as changed or deleted. */
const MOST = 2_000;
/**
 * A run also reads the changes of this time (ms) before the previous run began. The previous run may have missed some of them,
 * because HubSpot's search lags.
 */
const LAG_MS = 60_000;
/** How long (ms) staff wait for HubSpot, before a run ends. The next one resumes where it stopped. */
const PATIENCE_MS = 300_000;

export interface SyncProgress {
  contacts: number;
  /** True if all contacts are read, as in the first run; false if only contacts are read that changed since the previous run. */
  isFirst: boolean;
}

/** Returns whether all contacts of HubSpot have once been read. */
export async function hasSynced(deps: Pick<Deps, 'database'>): Promise<boolean> {
  const { reachedAt, cursor } = await reached(deps, TASK);
  return reachedAt !== null && cursor === null;
}

/**
 * Reads contacts into the mirror: those that changed since the previous run, those that were deleted, and in turn about `most`
 * others of the mirror. The first run reads all. An interrupted run is resumed by the next one. `progress` is called after each
 * page of changed contacts or, in the first run, of all.
 */
export async function syncContacts(
  deps: Deps,
  {
    fromScratch = false,
    progress = () => {},
    most = MOST,
  }: { fromScratch?: boolean; progress?: (soFar: SyncProgress) => void; most?: number } = {},
): Promise<SyncProgress> {
  const { hubspot } = deps;
  const look = (ids: readonly string[]) => patiently(() => lookAtContacts(deps, ids), PATIENCE_MS);
  await patiently(() => requireSameAccount(deps), PATIENCE_MS);
  if (fromScratch) await forget(deps, [TASK, PAGE, LOOKS]);
  const isFirst = !(await hasSynced(deps));
  const soFar: SyncProgress = { contacts: 0, isFirst };
  const cutOff = await reached(deps, PAGE);
  // The next run also reads the contacts that change during this one.
  const began = cutOff.reachedAt ?? deps.now();
  const since = new Date(((await reached(deps, TASK)).reachedAt?.getTime() ?? 0) - LAG_MS);
  const changed = (from: string | null) => hubspot.changedContacts(since, from);
  for await (const { ids, after } of pages(isFirst ? hubspot.listContacts : changed, cutOff.cursor)) {
    await look(ids);
    soFar.contacts += ids.length;
    progress(soFar);
    if (after !== null) await reach(deps, PAGE, began, after);
  }
  // HubSpot's search does not return deleted contacts. Some of them may have been merged.
  if (!isFirst)
    for await (const { ids } of pages(hubspot.deletedContacts, null))
      await look(await idsOfMirror(deps, sql`contact_id = any(${ids}) and ${wasAtHubspot}`));
  // Only reading a contact shows that it was deleted for good, or long ago: HubSpot lists such contacts nowhere.
  const others = async (last: string | null): Promise<ContactPage> => {
    const isOther = sql`contact_id > ${last ?? ''} and (fetched_at < ${began} or fetched_at is null and ${wasAtHubspot})`;
    const ids = await idsOfMirror(deps, isOther);
    return { ids, after: ids.length < LARGEST_PAGE ? null : ids.at(-1)! };
  };
  let looked = 0;
  for await (const { ids, after } of pages(others, (await reached(deps, LOOKS)).cursor)) {
    await look(ids);
    await reach(deps, LOOKS, began, after);
    looked += ids.length;
    if (!isFirst && looked >= most) break;
  }
  await forget(deps, [PAGE]);
  await reach(deps, TASK, began, null);
  return soFar;
}

async function* pages(
  read: (from: string | null) => Promise<ContactPage>,
  first: string | null,
): AsyncGenerator<ContactPage> {
  let from = first;
  do {
    const page = await patiently(() => read(from), PATIENCE_MS);
    yield page;
    from = page.after;
  } while (from !== null);
}

/** Returns the ids of at most a page of the mirror's contacts that match an SQL condition on `person`, in their order. */
async function idsOfMirror({ database }: Deps, which: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person where ${which} and ${isThere} order by contact_id limit ${LARGEST_PAGE}`.execute(
    database,
  );
  return rows.map(({ id }) => id);
}

async function reached(
  { database }: Pick<Deps, 'database'>,
  name: string,
): Promise<{ reachedAt: Date | null; cursor: string | null }> {
  const { rows } = await sql<{ reachedAt: Date | null; cursor: string | null }>`
    select reached_at as "reachedAt", cursor from schedule where name = ${name}`.execute(database);
  return rows[0] ?? { reachedAt: null, cursor: null };
}

async function reach({ database }: Deps, name: string, at: Date, cursor: string | null): Promise<void> {
  await sql`
    insert into schedule (name, reached_at, cursor) values (${name}, ${at}, ${cursor})
    on conflict (name) do update set reached_at = excluded.reached_at, cursor = excluded.cursor`.execute(
    database,
  );
}

async function forget({ database }: Deps, names: readonly string[]): Promise<void> {
  await database.deleteFrom('schedule').where('name', 'in', names).execute();
}
