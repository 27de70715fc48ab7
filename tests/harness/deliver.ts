import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { pushDue } from '../../apps/server/contacts/push.ts';
import { HUBSPOT_ACCESS_TOKEN } from '../../emulators/keys.ts';
import type { TestServer } from './testServer.ts';

/**
 * Sends HubSpot what is due, now, in as many rounds as that takes, and as if it had long forgotten what it had against us.
 * Returns how many rows were sent.
 */
export async function deliver({ deps, background, hubspot }: TestServer): Promise<number> {
  const work = { ...deps, database: background };
  await sql`update join_session set crm_next_try_at = now()`.execute(background);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(background);
  let sent = 0;
  for (;;) {
    const { taken } = await pushDue(work, hubspot);
    if (taken === 0) return sent;
    sent += taken;
  }
}

/** These properties of a contact as HubSpot holds them. */
export async function atHubspot(
  { hubspotUrl }: TestServer,
  contactId: string,
  ...properties: string[]
): Promise<Record<string, string | null>> {
  const response = await fetch(
    `${hubspotUrl}/crm/objects/2026-09/contacts/${contactId}?properties=${properties.join(',')}`,
    { headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}` } },
  );
  return ((await response.json()) as { properties: Record<string, string | null> }).properties;
}

/** Writes properties of a contact as staff do it in HubSpot. */
export async function editAtHubspot(
  { hubspotUrl }: TestServer,
  contactId: string,
  properties: Record<string, string>,
): Promise<void> {
  const response = await fetch(`${hubspotUrl}/crm/objects/2026-09/contacts/${contactId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ properties }),
  });
  assert.equal(response.status, 200);
}
