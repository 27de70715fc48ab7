import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import { isThere, lookAtContacts, wasAtHubspot } from './followContacts.ts';
import { type ContactPage, LARGEST_PAGE } from './hubspot/client.ts';
import { CrmDenied, CrmUnavailable } from './hubspot/errors.ts';

/** Rows of `schedule`. Of this one `reached_at` is the time up to which all changes were read. */
const TASK = 'contacts sync';
/** When the run began that was cut off, and the cursor of the page at which it goes on. */
const PAGE = 'contacts page';
/** The cursor is the last contact that {@link lookAtOthers} has looked at. */
const LOOKS = 'contacts look';
/** The most contacts that a run reads in addition to those that HubSpot lists as changed. */
const MOST = 2_000;
/**
 * Each run begins this long (ms) before the time up to which the previous run has read. HubSpot's search is eventually consistent,
 * so the previous run may have missed the last changes.
 */
const LAG_MS = 60_000;

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
 * Reads the contacts that changed since the previous run from HubSpot into the mirror, and at most `most` other contacts. The
 * first run reads all contacts. The position is stored after each page, so that the next run resumes an interrupted run.
 * `progress` is called after each page.
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
  await patiently(() => requireSameAccount(deps));
  if (fromScratch) await forget(deps, [TASK, PAGE, LOOKS]);
  const isFirst = !(await hasSynced(deps));
  const soFar: SyncProgress = { contacts: 0, isFirst };
  const cutOff = await reached(deps, PAGE);
  // The next run also reads the contacts that change during this one.
  const began = cutOff.reachedAt ?? deps.now();
  const since = new Date(((await reached(deps, TASK)).reachedAt?.getTime() ?? 0) - LAG_MS);
  let after = cutOff.cursor;
  do {
    const from = after;
    const page: ContactPage = await patiently(() =>
      isFirst ? hubspot.listContacts(from) : hubspot.changedContacts(since, from),
    );
    await keepContacts(deps.database, deps.society.crm.fields, page.contacts);
    soFar.contacts += page.contacts.length;
    progress(soFar);
    after = page.after;
    if (after !== null) await reach(deps, PAGE, began, after);
  } while (after !== null);
  if (!isFirst) await lookAtDeleted(deps);
  await lookAtOthers(deps, began, isFirst ? Number.POSITIVE_INFINITY : most);
  await forget(deps, [PAGE]);
  await reach(deps, TASK, began, null);
  return soFar;
}

/**
 * Reads the next `most` contacts of the mirror that were not read since `began`, in the order of their ids, and begins anew after the
 * last id. Only reading a contact shows that it was deleted for good, or long ago: HubSpot lists such contacts nowhere.
 */
async function lookAtOthers(deps: Deps, began: Date, most: number): Promise<void> {
  let lastId: string | null = (await reached(deps, LOOKS)).cursor ?? '';
  for (let looked = 0; looked < most && lastId !== null; looked += LARGEST_PAGE) {
    const { rows } = await sql<{ id: string }>`
      select contact_id as id from person
      where contact_id > ${lastId} and (fetched_at < ${began} or fetched_at is null and ${wasAtHubspot}) and ${isThere}
      order by contact_id limit ${LARGEST_PAGE}`.execute(deps.database);
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(deps, ids));
    lastId = ids.length < LARGEST_PAGE ? null : ids.at(-1)!;
    await reach(deps, LOOKS, began, lastId);
  }
}

/**
 * Reads the mirror's contacts that HubSpot lists as deleted, because HubSpot's search does not return them. Some may have been
 * merged.
 */
async function lookAtDeleted(deps: Deps): Promise<void> {
  let after: string | null = null;
  do {
    const from: string | null = after;
    const page: { ids: string[]; after: string | null } = await patiently(() =>
      deps.hubspot.deletedContacts(from),
    );
    const { rows } = await sql<{ id: string }>`
      select contact_id as id from person where contact_id = any(${page.ids}) and ${isThere} and ${wasAtHubspot}`.execute(
      deps.database,
    );
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(deps, ids));
    after = page.after;
  } while (after !== null);
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

/**
 * Retries a call while HubSpot is unavailable, because staff wait for the command. Throws after 30 tries, and immediately if
 * HubSpot denies the call. The next run of the command resumes where this run stopped.
 */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CrmUnavailable) || error instanceof CrmDenied || tries === 30) throw error;
      await pause(Math.min(Math.max(error.retryAfterMs, 500), 10_000));
    }
  }
}
