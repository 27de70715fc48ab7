import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { tellNobody } from '../providers/trouble.ts';
import { noBudget } from './hubspot/budget.ts';
import { hubspotClient } from './hubspot/client.ts';
import { syncContacts } from './syncContacts.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

async function contact(properties: Record<string, string>): Promise<string> {
  const response = await fetch(`${server.hubspotUrl}/crm/objects/2026-09/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ properties }),
  });
  assert.equal(response.status, 201);
  return ((await response.json()) as { id: string }).id;
}

test('a contact with characters that no database keeps stops neither its own join nor the sync of others', async () => {
  const odd = await contact({
    email: 'odd@example.com',
    firstname: 'Jor\ud800dan',
    lastname: 'Ri\0vera',
    invitation_code: 'ODDNAME1',
  });
  const other = await contact({ email: 'other@example.com', firstname: 'Ada' });
  const client = server.client();
  const checked = await client.call('checkEligibility', { body: { invitationCode: 'ODDNAME1' } });
  assert.deepEqual([checked.status, checked.data?.contactId], [200, odd]);
  const body = { contactId: odd, invitationCode: 'ODDNAME1', isTOLA: true };
  assert.equal((await client.call('initiateJoin', { body })).status, 200);

  const { config, society, database } = server.deps;
  const { hubspot } = config.providers;
  await syncContacts({
    ...server.deps,
    hubspot: hubspotClient(hubspot, society.crm.fields, noBudget, 'background', tellNobody),
  });
  const kept = await database
    .selectFrom('person')
    .select('profile')
    .where('contact_id', 'in', [odd, other])
    .orderBy('id')
    .execute();
  assert.deepEqual(
    kept.map(({ profile }) => [profile.firstName, profile.lastName]),
    [
      ['Jor\ufffddan', 'Rivera'],
      ['Ada', null],
    ],
  );
});
