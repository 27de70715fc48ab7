import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { standingsOf } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { openIntent, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/** Buys a membership by a signed checkout link, which asks for no details. `meanwhile` happens before it is paid. */
async function boughtByLink(id: string, meanwhile: () => Promise<unknown> = async () => {}) {
  const client = server.client();
  const target = { kind: 'checkout', contactId: id, parameters: { mp: '1' } } as const;
  const signature = server.deps.links.sign(target, new Date(Date.now() + 86_400_000));
  const started = await client.call('initiateCheckout', {
    body: { hubspotContactId: id, mainProductId: 1, ...signature },
  });
  if (started.status !== 200) return null;
  const uuid = started.data.joinSessionUuid;
  await meanwhile();
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await deliver(server);
  return uuid;
}

/** Asserts that staff can know that HubSpot has nothing of a member: a notice, a refusal, or a join that is still due. */
async function isToldOrDue(uuid: string): Promise<void> {
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  const { rows } = await sql<{ crm_refusal: string | null; is_due: boolean; contact: string | null }>`
    select crm_refusal, profile_revision <> crm_revision as is_due, hubspot_contact_id as contact
    from join_session where uuid = ${uuid}`.execute(server.background);
  const [{ crm_refusal, is_due, contact }] = rows as [(typeof rows)[number]];
  const notices = await noticesOf(server, uuid);
  assert.ok(
    contact !== null || crm_refusal !== null || is_due || notices.length > 0,
    'paid and a member here; HubSpot has nothing of it, the join counts as told, and staff read nothing',
  );
}

test('who pays by a signed link to a contact that was deleted is a member in HubSpot, or staff are told', async () => {
  const id = await newContact(server, 'deleted.before@example.com', { firstname: 'Ada', lastname: 'Gone' });
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
  assert.equal(await server.deps.contacts.refresh(id), 'unknown');
  const uuid = await boughtByLink(id);
  if (uuid !== null) await isToldOrDue(uuid);
});

test('whose contact is deleted while they pay by a link is a member in HubSpot, or staff are told', async () => {
  const id = await newContact(server, 'deleted.meanwhile@example.com', {
    firstname: 'Ada',
    lastname: 'Gone',
  });
  const uuid = await boughtByLink(id, async () => {
    await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
    await server.deps.contacts.refresh(id);
  });
  await isToldOrDue(uuid!);
});

test('whose contact is deleted before HubSpot is told what they bought by a link is a member in HubSpot, or staff are told', async () => {
  const id = await newContact(server, 'deleted.after@example.com', { firstname: 'Ada', lastname: 'Gone' });
  const uuid = await boughtByLink(id, async () => {
    await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
  });
  await isToldOrDue(uuid!);
});
