import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { openIntent, paidJoin, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { fillDue } from './fillContacts.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

async function recovery(): Promise<void> {
  await server.hubspotFault(null);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.background,
  );
}

/** Asserts that staff are told that a paid join's contact was a member in HubSpot before. */
async function isTold(uuid: string, id: string): Promise<void> {
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'amount_paid')).amount_paid, '65.00');
  const notices = await noticesOf(server, uuid);
  assert.ok(
    notices.some((notice) => notice.includes(id) && /member/.test(notice)),
    `a member was charged again; staff read ${JSON.stringify(notices)}`,
  );
}

test('a member whose signed link sold them a membership again while HubSpot was down is told to staff once HubSpot answers', async () => {
  const id = await newContact(server, 'by.hand@example.com', {
    firstname: 'Jordan',
    lastname: 'Rivera',
    membership_status: 'member',
  });
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const client = server.client();
  const target = { kind: 'checkout', contactId: id, parameters: { mp: '1' } } as const;
  const signature = server.deps.links.sign(target, new Date(Date.now() + 86_400_000));
  const started = await client.call('initiateCheckout', {
    body: { hubspotContactId: id, mainProductId: 1, ...signature },
  });
  assert.equal(started.status, 200, 'nobody knows yet that they are a member');
  const uuid = started.data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const begun = await client.call('beginPayment', {
    params: { uuid },
    body: { revision: intent.revision, agreeToPolicies: true },
  });
  assert.equal(begun.status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');

  await recovery();
  await sql`update contact set fill_at = now() where fill_at is not null`.execute(server.background);
  await fillDue({ ...server.deps, database: server.background }, server.hubspot);
  await isTold(uuid, id);
});

test('a member who was invited by an import and paid again while HubSpot was down is told to staff once HubSpot answers', async () => {
  const id = await newContact(server, 'imported.by.hand@example.com', { membership_status: 'member' });
  await sql`insert into contact (id, profile) values (${id}, '{"firstName": "Jordan"}')`.execute(
    server.background,
  );
  await sql`insert into invitation (code, contact_id) values ('IMPORTEDMEMBER', ${id})`.execute(
    server.background,
  );
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const { uuid } = await paidJoin(server, server.client(), 'IMPORTEDMEMBER', {
    personalEmail: 'imported.by.hand@example.com',
  });
  await recovery();
  await isTold(uuid, id);
});
