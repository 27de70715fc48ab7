import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { type ChangedContact, type HubspotClient, LARGEST_PAGE } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { keepContacts } from './contacts.ts';
import { lookAtContacts } from './followContacts.ts';

const TASK = 'contacts sync';
/** HubSpot's search is eventually consistent: each run starts this much (ms) before the time that the last one reached. */
const LAG_MS = 60_000;

export interface SyncProgress {
  contacts: number;
  /** The first run reads all contacts; later runs read what changed since. */
  isFirst: boolean;
}

/**
 * Brings the mirror up to date with all contacts that changed since the last run; the first run reads them all. The position is
 * stored after every page, so that an interrupted run resumes there. `progress` is called after every page.
 */
export async function syncContacts(
  deps: Deps,
  hubspot: HubspotClient,
  {
    fromScratch = false,
    progress = () => {},
  }: { fromScratch?: boolean; progress?: (soFar: SyncProgress) => void } = {},
): Promise<SyncProgress> {
  const began = deps.now();
  if (fromScratch) await deps.database.deleteFrom('schedule').where('name', '=', TASK).execute();
  const at = await deps.database
    .selectFrom('schedule')
    .select(['reached_at', 'cursor'])
    .where('name', '=', TASK)
    .executeTakeFirst();
  const soFar: SyncProgress = { contacts: 0, isFirst: !at?.reached_at || at.cursor !== null };
  const keep = async (contacts: Parameters<typeof keepContacts>[2]) => {
    await keepContacts(deps.database, deps.society.crm.fields, contacts);
    soFar.contacts += contacts.length;
    progress(soFar);
  };

  if (soFar.isFirst) {
    // The next run starts with the changes made while this one reads all contacts.
    const since = at?.reached_at ?? began;
    for (let after = at?.cursor ?? null; ; ) {
      const page = await patiently(() => hubspot.listContacts(after));
      await keep(page.contacts);
      after = page.after;
      await reachedBy(deps, since, after);
      if (after !== null) continue;
      await lookAtUnlisted(deps, hubspot, since);
      return soFar;
    }
  }
  let since = new Date(at!.reached_at!.getTime() - LAG_MS);
  // Each page begins at the time of the last page's end, so contacts of that time come twice and are skipped by id and time. One
  // that has changed since has a new time and is read again.
  let edge = new Set<string>();
  const nameOf = ({ id, changedAt }: ChangedContact) => `${id} ${changedAt.getTime()}`;
  for (;;) {
    const from = since;
    const page = await patiently(() => hubspot.changedContacts(from));
    await keep(page.filter((contact) => !edge.has(nameOf(contact))));
    const last = page.at(-1)?.changedAt;
    if (page.length < LARGEST_PAGE || !last) break;
    if (last.getTime() > since.getTime()) {
      edge = new Set(page.filter(({ changedAt }) => changedAt.getTime() === last.getTime()).map(nameOf));
      since = last;
    } else {
      await eachChangedAt(hubspot, since, keep);
      edge = new Set();
      since = new Date(since.getTime() + 1);
    }
    await reachedBy(deps, since, null);
  }
  await lookAtDeleted(deps, hubspot);
  await reachedBy(deps, began, null);
  return soFar;
}

/**
 * Asks HubSpot about the mirror's contacts that its list of all contacts did not have: they were deleted, perhaps for good, or
 * merged.
 */
async function lookAtUnlisted(
  { database, society }: Deps,
  hubspot: HubspotClient,
  began: Date,
): Promise<void> {
  let lastId = '';
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      select id from contact where id > ${lastId} and fetched_at < ${began} and ${isThere} order by id limit ${LARGEST_PAGE}`.execute(
      database,
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(database, hubspot, society.crm.fields, ids));
    lastId = ids.at(-1)!;
  }
}

/**
 * Asks HubSpot about the mirror's contacts that HubSpot lists as deleted, since its search does not show them. They may have been
 * merged.
 */
async function lookAtDeleted({ database, society }: Deps, hubspot: HubspotClient): Promise<void> {
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const page: { ids: string[]; after: string | null } = await patiently(() =>
      hubspot.deletedContacts(from),
    );
    const { rows } = await sql<{ id: string }>`
      select id from contact where id = any(${page.ids}) and fetched_at is not null and ${isThere}`.execute(
      database,
    );
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(database, hubspot, society.crm.fields, ids));
    after = page.after;
    if (after === null) return;
  }
}

const isThere = sql`deleted_at is null and merged_into is null`;

/**
 * Reads the contacts that changed at one and the same time when they exceed a page, as after an import: ordered by their ids, which
 * do not change.
 */
async function eachChangedAt(
  hubspot: HubspotClient,
  at: Date,
  keep: (contacts: readonly ChangedContact[]) => Promise<void>,
): Promise<void> {
  let afterId = '0';
  for (;;) {
    const from = afterId;
    const page = await patiently(() => hubspot.contactsChangedAt(at, from));
    await keep(page);
    if (page.length < LARGEST_PAGE) return;
    afterId = page.at(-1)!.id;
  }
}

async function reachedBy(deps: Deps, reachedAt: Date, cursor: string | null): Promise<void> {
  await sql`
    insert into schedule (name, reached_at, cursor) values (${TASK}, ${reachedAt}, ${cursor})
    on conflict (name) do update set reached_at = excluded.reached_at, cursor = excluded.cursor`.execute(
    deps.database,
  );
}

/**
 * Retries while HubSpot does not take the call, since staff wait for the command. Throws after 30 tries, and at once when HubSpot
 * refuses the key. The next run resumes where this one stopped.
 */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CrmUnavailable) || error instanceof CrmDenied || tries === 30) throw error;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(Math.max(error.retryAfterMs, 500), 10_000)),
      );
    }
  }
}
