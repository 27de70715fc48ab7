import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import { takeIn } from './followContacts.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { readProperties } from './hubspot/properties.ts';

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
export function startFillingContacts(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat(
    'fill contacts from HubSpot',
    INTERVAL_MS,
    deps.log,
    async () => (await fillDue(deps, hubspot)).more,
  );
}

/**
 * Reads from HubSpot, in one request, a batch of contacts that are due to be filled. A contact that HubSpot does not know stays
 * bare. Returns how many contacts the batch had, and whether it was a full batch (`more`).
 */
export async function fillDue(deps: Deps, hubspot: HubspotClient): Promise<{ taken: number; more: boolean }> {
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id from person where fill_at <= now()
        and not exists (select from crm_budget where name = 'call' and blocked_until > now())
      order by fill_at limit ${BATCH} for no key update skip locked
    )
    update person set fill_at = now() + make_interval(secs => ${RETRY_SECONDS})
    from due where person.id = due.id returning contact_id as id`.execute(deps.database);
  if (rows.length === 0) return { taken: 0, more: false };
  try {
    await fill(
      deps,
      hubspot,
      rows.map(({ id }) => id),
    );
  } catch (error) {
    if (!(error instanceof CrmUnavailable)) throw error;
    return { taken: rows.length, more: false };
  }
  return { taken: rows.length, more: rows.length === BATCH };
}

/** Reads contacts into the mirror. A batch that HubSpot refuses is halved until the refused contact is alone and is postponed. */
async function fill(deps: Deps, hubspot: HubspotClient, ids: readonly string[]): Promise<void> {
  const fields = deps.society.crm.fields;
  try {
    const found = await hubspot.readContacts(ids, readProperties(fields));
    await takeIn(deps.database, hubspot, fields, ids, found);
    await sql`update person set fill_at = null where contact_id = any(${ids})`.execute(deps.database);
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    if (ids.length === 1) {
      await sql`update person set fill_at = now() + make_interval(secs => ${REFUSED_SECONDS}) where contact_id = ${ids[0]!}`.execute(
        deps.database,
      );
      return;
    }
    const half = Math.ceil(ids.length / 2);
    await fill(deps, hubspot, ids.slice(0, half));
    await fill(deps, hubspot, ids.slice(half));
  }
}
