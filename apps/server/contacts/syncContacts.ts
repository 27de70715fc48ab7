import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { CrmUnavailable, type HubspotClient } from '../hubspot/client.ts';
import { keepContacts } from './contacts.ts';

const TASK = 'contacts sync';
/** Search learns of a write a little later; and HubSpot pages no deeper than this, so the next search starts anew. */
const LAG_MS = 60_000;
const DEEPEST = 9_900;

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
      if (after === null) return soFar;
    }
  }
  let since = new Date(at!.reached_at!.getTime() - LAG_MS);
  const seen = new Set<string>();
  for (;;) {
    let last = since;
    let after: string | null = null;
    let read = 0;
    do {
      const cursor: string | null = after;
      const from = since;
      const page: Awaited<ReturnType<typeof hubspot.changedContacts>> = await patiently(() =>
        hubspot.changedContacts(from, cursor),
      );
      // Those at the edge come twice, when a search starts anew where the last one ended.
      const fresh = page.contacts.filter(({ id, changedAt }) => !seen.has(`${id} ${changedAt.getTime()}`));
      for (const { id, changedAt } of fresh) seen.add(`${id} ${changedAt.getTime()}`);
      await keep(fresh);
      last = page.contacts.at(-1)?.changedAt ?? last;
      read += page.contacts.length;
      after = page.after;
      await reachedBy(deps, last, null);
    } while (after !== null && read < DEEPEST);
    if (after === null) break;
    if (last.getTime() === since.getTime())
      throw new Error(
        `more than ${DEEPEST} contacts changed at ${since.toISOString()}: HubSpot cannot page through them`,
      );
    since = last;
    seen.clear();
  }
  await reachedBy(deps, began, null);
  return soFar;
}

async function reachedBy(deps: Deps, reachedAt: Date, cursor: string | null): Promise<void> {
  await sql`
    insert into schedule (name, reached_at, cursor) values (${TASK}, ${reachedAt}, ${cursor})
    on conflict (name) do update set reached_at = excluded.reached_at, cursor = excluded.cursor`.execute(
    deps.database,
  );
}

/** Staff wait: so does the command, until HubSpot takes the call. An outage of minutes ends it; the next run goes on. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CrmUnavailable) || tries === 30) throw error;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.min(Math.max(error.retryAfterMs, 500), 10_000)),
      );
    }
  }
}
