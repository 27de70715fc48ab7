import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { repeat } from '../background.ts';
import type { Deps } from '../deps.ts';
import { CrmRefused, CrmUnavailable, type HubspotClient } from '../hubspot/client.ts';
import { fromJoin } from '../hubspot/properties.ts';

const INTERVAL_MS = 2_000;
/** HubSpot's largest batch. */
const BATCH = 100;
const MAX_BACKOFF_SECONDS = 300;

interface Row {
  uuid: string;
  state: string;
  origin: string;
  /** The contact that the invitation or link named: a write to it may update. */
  contact_id: string | null;
  /** The contact that an earlier write of this join created or found by its email. */
  crm_contact_id: string | null;
  details: StudentDetails | null;
  profile_revision: number;
  paid_at: Date | null;
  amount_cents: number | null;
  membership_id: number | null;
  is_held: boolean;
}

/** Sends joins to HubSpot, level-triggered: a row whose revisions differ is due, and what is sent is how it stands now. */
export function startPushing(deps: Deps, hubspot: HubspotClient): () => Promise<void> {
  return repeat('push joins to HubSpot', INTERVAL_MS, deps.log, async () => ({
    more: (await pushDue(deps, hubspot)) === BATCH,
  }));
}

/** One round: takes up to a batch of due rows and sends them. Returns how many it took. Another process takes others. */
export async function pushDue(deps: Deps, hubspot: HubspotClient): Promise<number> {
  const { database } = deps;
  // Taking a row postpones it: should this process die, it is due again in a minute.
  const { rows } = await sql<Row>`
    with due as (
      select uuid from join_session
      where profile_revision <> crm_revision and crm_refusal is null and crm_next_try_at <= now()
      order by crm_next_try_at limit ${BATCH} for update skip locked
    ), taken as (
      update join_session set crm_next_try_at = now() + interval '1 minute', crm_attempts = crm_attempts + 1
      from due where join_session.uuid = due.uuid
      returning join_session.*
    )
    select uuid, state, origin, contact_id, crm_contact_id, details, profile_revision, paid_at,
      (select sum(amount_cents - refunded_cents)::int from payment where session_uuid = taken.uuid and status = 'succeeded') as amount_cents,
      (select product_id from membership where session_uuid = taken.uuid order by id limit 1) as membership_id,
      exists (select from membership where session_uuid = taken.uuid and is_held) as is_held
    from taken`.execute(database);

  const known = rows.flatMap((row) => {
    const id =
      row.contact_id ?? (row.crm_contact_id?.startsWith('own:') ? row.crm_contact_id.slice(4) : null);
    return id === null ? [] : [{ row, id }];
  });
  await sendBatch(deps, hubspot, known);
  for (const row of rows) if (!known.some((one) => one.row === row)) await sendUnnamed(deps, hubspot, row);
  return rows.length;
}

/** Contacts that the join may update go in one call. One that HubSpot leaves out is tried alone, for its reason. */
async function sendBatch(
  deps: Deps,
  hubspot: HubspotClient,
  known: readonly { row: Row; id: string }[],
): Promise<void> {
  // Two joins of one contact in one batch would be refused: the later one waits for the next round.
  const byId = new Map(known.map((one) => [one.id, one]));
  if (byId.size === 0) return;
  try {
    const updated = await hubspot.updateContacts(
      [...byId.values()].map(({ row, id }) => ({ id, properties: propertiesOf(deps, row) })),
    );
    for (const { row, id } of byId.values()) {
      if (updated.has(id)) await delivered(deps, row, row.crm_contact_id);
      else
        await guarded(
          deps,
          row,
          async () => void (await hubspot.updateContact(id, propertiesOf(deps, row))),
          row.crm_contact_id,
        );
    }
  } catch (error) {
    if (error instanceof CrmRefused)
      for (const { row, id } of byId.values())
        await guarded(
          deps,
          row,
          async () => void (await hubspot.updateContact(id, propertiesOf(deps, row))),
          row.crm_contact_id,
        );
    else if (error instanceof CrmUnavailable) for (const { row } of known) await postpone(deps, row, error);
    else throw error;
  }
}

/**
 * A school or self-nominated join is nobody's proof of identity: it creates a contact, or fills blanks of the one with
 * that email. It never overwrites.
 */
async function sendUnnamed(deps: Deps, hubspot: HubspotClient, row: Row): Promise<void> {
  const email = row.details?.personalEmail.toLowerCase();
  if (!email) return delivered(deps, row, null);
  let mark: string | null = row.crm_contact_id;
  await guarded(
    deps,
    row,
    async () => {
      const properties = propertiesOf(deps, row);
      const existing = await hubspot.findByEmail(email);
      if (!existing) {
        try {
          mark = `own:${(await hubspot.createContact({ email, ...properties })).id}`;
        } catch (error) {
          // Created by somebody meanwhile: by email again at the next try.
          if (error instanceof CrmRefused && error.status === 409)
            throw new CrmUnavailable('the contact appeared meanwhile');
          throw error;
        }
        return;
      }
      const blanks = Object.fromEntries(
        Object.entries(properties).filter(([name]) => !existing.properties[name]),
      );
      if (Object.keys(blanks).length > 0) await hubspot.updateContact(existing.id, blanks);
      mark = `shared:${existing.id}`;
    },
    () => mark,
  );
}

async function guarded(
  deps: Deps,
  row: Row,
  send: () => Promise<void>,
  mark: string | null | (() => string | null),
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (error instanceof CrmUnavailable) return postpone(deps, row, error);
    if (error instanceof CrmRefused) {
      await deps.database
        .updateTable('join_session')
        .set({ crm_refusal: error.message })
        .where('uuid', '=', row.uuid)
        .execute();
      return;
    }
    throw error;
  }
  await delivered(deps, row, typeof mark === 'function' ? mark() : mark);
}

/** What was sent is the row at this revision; a change meanwhile keeps it due. */
async function delivered(deps: Deps, row: Row, mark: string | null): Promise<void> {
  await deps.database
    .updateTable('join_session')
    .set({
      crm_revision: row.profile_revision,
      crm_contact_id: mark,
      crm_attempts: 0,
      crm_next_try_at: sql`now()`,
    })
    .where('uuid', '=', row.uuid)
    .execute();
}

async function postpone(deps: Deps, row: Row, { retryAfterMs }: CrmUnavailable): Promise<void> {
  await sql`
    update join_session set crm_next_try_at = now() + make_interval(secs =>
      greatest(${retryAfterMs / 1000}::float, least(${MAX_BACKOFF_SECONDS}, power(2, least(crm_attempts, 10))) * (0.5 + random() / 2)))
    where uuid = ${row.uuid}`.execute(deps.database);
}

function propertiesOf({ society }: Deps, row: Row): Record<string, string> {
  return fromJoin({
    details: row.details,
    state: row.state,
    membership: row.membership_id === null ? null : (society.product(row.membership_id)?.name ?? null),
    amountCents: row.amount_cents,
    paidAt: row.paid_at,
    isHeld: row.is_held,
  });
}
