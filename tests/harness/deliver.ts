import assert from 'node:assert/strict';
import { type RawBuilder, sql } from 'kysely';
import { deliveriesOf } from '../../apps/server/crm/deliveries.ts';
import { pushDue } from '../../apps/server/crm/push.ts';
import type { Database } from '../../apps/server/platform/database/client.ts';
import { askHubspot } from './providers.ts';
import type { TestServer } from './testServer.ts';

const MOST_ROUNDS = 200;

/**
 * Sends all due persons to HubSpot until none is left. Persons that wait for a retry are tried immediately, in their order, and
 * the call budget is refilled first. Returns how many were sent.
 */
export async function deliver({ deps, background }: TestServer): Promise<number> {
  const work = { ...deps, database: background };
  await makeDue(background);
  await refillBudget({ background });
  let sent = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { taken } = await pushDue(work);
    if (taken === 0) return sent;
    sent += taken;
  }
  throw new Error('HubSpot is told without end.');
}

/** Makes all waiting persons due. Locks them in the same order as the server, to avoid deadlocks. */
export async function makeDue(database: Database): Promise<void> {
  await sql`
    with waiting as (select person_id from crm_delivery where due_at > now() order by person_id for no key update)
    update crm_delivery set due_at = now() from waiting where crm_delivery.person_id = waiting.person_id`.execute(
    database,
  );
}

/** Refills the budget of calls to HubSpot, and ends any pause in these calls. */
export async function refillBudget({ background }: Pick<TestServer, 'background'>): Promise<void> {
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(background);
}

/** Returns the state of the delivery to HubSpot of a join's person. */
export async function deliveryOf({ deps }: TestServer, uuid: string) {
  const row = await deps.database
    .selectFrom('crm_delivery')
    .select(['refusal', 'sent', 'due_at'])
    .where('person_id', 'in', deliveriesOf(sql`(${uuid}::uuid)`) as RawBuilder<number>)
    .executeTakeFirst();
  return { refusal: row?.refusal ?? null, sent: row?.sent ?? {}, isDue: (row?.due_at ?? null) !== null };
}

/** Changes the state of the delivery to HubSpot of a join's person. `set` is SQL. */
export async function setDelivery(
  { deps }: TestServer,
  uuid: string,
  set: RawBuilder<unknown>,
): Promise<void> {
  await sql`update crm_delivery set ${set} where person_id in ${deliveriesOf(sql`(${uuid}::uuid)`)}`.execute(
    deps.database,
  );
}

/** Returns properties of a contact in HubSpot. */
export async function atHubspot(
  { hubspotUrl }: TestServer,
  contactId: string,
  ...properties: string[]
): Promise<Record<string, string | null>> {
  return (await askHubspot(hubspotUrl, 'GET', `/${contactId}?properties=${properties.join(',')}`)).properties;
}

/** Writes properties of a contact as staff do it in HubSpot. */
export async function editAtHubspot(
  { hubspotUrl }: TestServer,
  contactId: string,
  properties: Record<string, string>,
): Promise<void> {
  await askHubspot(hubspotUrl, 'PATCH', `/${contactId}`, { properties });
}

/** Creates a contact in HubSpot with an email and the given properties. Returns its id. */
export async function newContact(
  { hubspot }: TestServer,
  email: string,
  properties: Record<string, string> = {},
): Promise<string> {
  const outcomes = await hubspot.createContacts([
    { mark: email, id: null, properties: { email, ...properties } },
  ]);
  const outcome = outcomes.get(email);
  assert.ok(outcome?.kind === 'written');
  return outcome.id;
}

/** Returns the contact into which a join is written: its person's own, or the one that was found for it. */
export async function contactIdOf({ deps }: TestServer, uuid: string): Promise<string> {
  const { contact_id, found_contact_id } = await deps.database
    .selectFrom('join_session')
    .innerJoin('person', 'person.id', 'person_id')
    .select(['contact_id', 'found_contact_id'])
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const id = contact_id ?? found_contact_id;
  assert.ok(id, 'HubSpot was told of the join');
  return id;
}
