import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { requireSameAccount } from './account.ts';
import { keepContacts } from './contacts.ts';
import { isThere, lookAtContacts, wasAtHubspot } from './followContacts.ts';
import { type ChangedContact, type HubspotClient, LARGEST_PAGE } from './hubspot/client.ts';
import { CrmDenied, CrmUnavailable } from './hubspot/errors.ts';

const TASK = 'contacts sync';
/** The row of `schedule` whose cursor is the last contact that {@link lookAtNext} has looked at. */
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
export async function hasSynced({ database }: Pick<Deps, 'database'>): Promise<boolean> {
  const { rows } = await sql`
    select from schedule where name = ${TASK} and reached_at is not null and cursor is null`.execute(
    database,
  );
  return rows.length > 0;
}

/**
 * Reads the contacts that changed since the previous run from HubSpot into the mirror, and at most `most` other contacts. The
 * first run reads all contacts. The position is stored after each page, so that the next run resumes an interrupted run.
 * `progress` is called after each page.
 */
export async function syncContacts(
  deps: Deps,
  hubspot: HubspotClient,
  {
    fromScratch = false,
    progress = () => {},
    most = MOST,
  }: { fromScratch?: boolean; progress?: (soFar: SyncProgress) => void; most?: number } = {},
): Promise<SyncProgress> {
  await patiently(() => requireSameAccount(deps.database, hubspot));
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
    // The first run records its own beginning as the time up to which changes were read. So the next run also reads the contacts
    // that changed during the first run.
    const since = at?.reached_at ?? began;
    for (let after = at?.cursor ?? null; ; ) {
      const page = await patiently(() => hubspot.listContacts(after));
      await keep(page.contacts);
      after = page.after;
      // Must run before the position is stored: if this run ends in between, the next run looks at the unlisted contacts again.
      if (after === null) await lookAtUnlisted(deps, hubspot, since);
      await reachedBy(deps, TASK, since, after);
      if (after === null) return soFar;
    }
  }
  let since = new Date(at!.reached_at!.getTime() - LAG_MS);
  // Each page starts at the change time of the previous page's last contact, so contacts with exactly that time are returned
  // twice. They are skipped the second time, unless they have changed meanwhile and therefore have another time.
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
    await reachedBy(deps, TASK, since, null);
  }
  await lookAtDeleted(deps, hubspot);
  await lookAtNext(deps, hubspot, began, most);
  await reachedBy(deps, TASK, began, null);
  return soFar;
}

/** Reads the mirror's contacts that were missing in HubSpot's list of all contacts, because they were deleted or merged. */
async function lookAtUnlisted(
  { database, society }: Deps,
  hubspot: HubspotClient,
  began: Date,
): Promise<void> {
  let lastId = '';
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      select contact_id as id from person where contact_id > ${lastId} and (fetched_at < ${began} or fetched_at is null and ${wasAtHubspot}) and ${isThere} order by contact_id limit ${LARGEST_PAGE}`.execute(
      database,
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(database, hubspot, society.crm.fields, ids));
    lastId = ids.at(-1)!;
  }
}

/**
 * Reads the next contacts of the mirror, in the order of their ids, and begins anew after the last id. Only reading a contact
 * shows that it was deleted for good, or long ago: HubSpot lists such contacts nowhere.
 */
async function lookAtNext(deps: Deps, hubspot: HubspotClient, began: Date, most: number): Promise<void> {
  const { database, society } = deps;
  const at = await database
    .selectFrom('schedule')
    .select('cursor')
    .where('name', '=', LOOKS)
    .executeTakeFirst();
  let lastId: string | null = at?.cursor ?? '';
  for (let looked = 0; looked < most && lastId !== null; looked += LARGEST_PAGE) {
    const { rows } = await sql<{ id: string }>`
      select contact_id as id from person where contact_id > ${lastId} and fetched_at < ${began} and ${isThere} order by contact_id limit ${LARGEST_PAGE}`.execute(
      database,
    );
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(database, hubspot, society.crm.fields, ids));
    lastId = ids.length < LARGEST_PAGE ? null : ids.at(-1)!;
    await reachedBy(deps, LOOKS, began, lastId);
  }
}

/**
 * Reads the mirror's contacts that HubSpot lists as deleted, because HubSpot's search does not return them. Some may have been
 * merged.
 */
async function lookAtDeleted({ database, society }: Deps, hubspot: HubspotClient): Promise<void> {
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const page: { ids: string[]; after: string | null } = await patiently(() =>
      hubspot.deletedContacts(from),
    );
    const { rows } = await sql<{ id: string }>`
      select contact_id as id from person where contact_id = any(${page.ids}) and ${isThere} and ${wasAtHubspot}`.execute(
      database,
    );
    const ids = rows.map(({ id }) => id);
    await patiently(() => lookAtContacts(database, hubspot, society.crm.fields, ids));
    after = page.after;
    if (after === null) return;
  }
}

/**
 * Reads all contacts that changed at the same time `at` if there are more than a page, as after an import. They are read in the
 * order of their ids, which do not change meanwhile.
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

async function reachedBy(deps: Deps, name: string, reachedAt: Date, cursor: string | null): Promise<void> {
  await sql`
    insert into schedule (name, reached_at, cursor) values (${name}, ${reachedAt}, ${cursor})
    on conflict (name) do update set reached_at = excluded.reached_at, cursor = excluded.cursor`.execute(
    deps.database,
  );
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
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(Math.max(error.retryAfterMs, 500), 10_000)),
      );
    }
  }
}
