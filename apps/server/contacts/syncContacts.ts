import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { type ChangedContact, type HubspotClient, LARGEST_PAGE } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { keepContacts } from './contacts.ts';
import { lookAtContacts } from './followContacts.ts';

const TASK = 'contacts sync';
/** Search learns of a write a little later. */
const LAG_MS = 60_000;

export interface SyncProgress {
  contacts: number;
  /** The first run reads all contacts; later ones what changed since. */
  isFirst: boolean;
}

/**
 * Brings the mirror up to all contacts that changed since the last run; the first run reads them all. Where it got to is
 * kept page by page, so that a run that was cut off goes on there. `progress` is told after every page.
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
    // What changes while all are being read is what the next run begins with.
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
  // Those at the edge come twice, since each page begins where the last one ended. One that has changed since is another.
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

/** Contacts of the mirror that HubSpot did not list among all of them: deleted, perhaps for ever, or merged. */
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

/** Contacts of the mirror that HubSpot lists as deleted; search knows nothing of them. A merged one may be among them. */
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

/** More contacts than a page that changed in one moment, as an import changes them: by their ids, which do not change. */
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
 * Staff wait: so does the command, until HubSpot takes the call. An outage of minutes ends it, and a key that may not at once; the
 * next run goes on.
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
