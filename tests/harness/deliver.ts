import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { pushDue } from '../../apps/server/contacts/push.ts';
import { askHubspot } from './providers.ts';
import type { TestServer } from './testServer.ts';

/**
 * Tells HubSpot of all joins that are due, until none is left. Joins that wait are tried immediately, in their order,
 * and the call budget is refilled first. Returns how many joins were sent.
 */
export async function deliver({ deps, background, hubspot }: TestServer): Promise<number> {
  const work = { ...deps, database: background };
  await sql`update join_session set crm_next_try_at = least(crm_next_try_at, now())`.execute(background);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(background);
  let sent = 0;
  for (;;) {
    const { taken } = await pushDue(work, hubspot);
    if (taken === 0) return sent;
    sent += taken;
  }
}

/** Returns properties of a contact as HubSpot holds them. */
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
