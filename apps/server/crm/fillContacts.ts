import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import { lookAtContacts } from './followContacts.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';

const INTERVAL_MS = 1_000;
/** HubSpot's largest batch. */
const BATCH = 100;
/** If HubSpot does not answer or this process dies, a contact that was taken is due again after this many seconds. */
const RETRY_SECONDS = 10;
/**
 * A contact that HubSpot refused to read is due again after this many seconds. Staff have got a notice and may have repaired the
 * cause by then.
 */
const REFUSED_SECONDS = 3600;

/** Starts to fill bare contacts repeatedly. Their ids came by signed links while HubSpot was unavailable. */
export function startFillingContacts(deps: Deps): () => Promise<void> {
  return repeat('fill contacts from HubSpot', INTERVAL_MS, deps.log, async () => (await fillDue(deps)).more);
}

/**
 * Reads from HubSpot, in one request, a batch of contacts that are due to be filled. A contact that HubSpot does not know stays
 * bare. Returns how many contacts the batch had, and whether it was a full batch (`more`).
 */
export async function fillDue(deps: Deps): Promise<{ taken: number; more: boolean }> {
  if ((await deps.crmBudget.blockedMs('call')) > 0) return { taken: 0, more: false };
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id from person where fill_at <= now() order by fill_at limit ${BATCH} for no key update skip locked
    )
    update person set fill_at = now() + make_interval(secs => ${RETRY_SECONDS})
    from due where person.id = due.id returning contact_id as id`.execute(deps.database);
  const ids = rows.map(({ id }) => id);
  try {
    await fill(deps, ids);
    return { taken: ids.length, more: ids.length === BATCH };
  } catch (error) {
    if (!(error instanceof CrmUnavailable)) throw error;
    return { taken: ids.length, more: false };
  }
}

/** Reads contacts into the mirror. If HubSpot refuses them together, each is read alone, and a refused one is postponed. */
async function fill(deps: Deps, ids: readonly string[]): Promise<void> {
  let seconds: number | null = null;
  try {
    await lookAtContacts(deps, ids);
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    if (ids.length > 1) {
      for (const id of ids) await fill(deps, [id]);
      return;
    }
    seconds = REFUSED_SECONDS;
  }
  await sql`
    update person set fill_at = now() + make_interval(secs => ${seconds}::int) where contact_id = any(${ids})`.execute(
    deps.database,
  );
}
