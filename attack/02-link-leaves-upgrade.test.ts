import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../emulators/keys.ts';
import { pushDue } from '../apps/server/contacts/push.ts';
import { linkCommand } from '../apps/server/contacts/commands.ts';
import { refundJoin } from '../apps/server/refunds/refundJoin.ts';
import { reconcile } from '../apps/server/settlement/reconcile.ts';
import { everything, standingsOf } from '../tests/harness/refunds.ts';
import { runCommand } from '../tests/harness/runCommand.ts';
import { paidJoin } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { upgradeByLink } from '../tests/harness/upgrades.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('a join whose created contact bought an upgrade by link, then linked to the right contact', async (t) => {
  const client = server.client();
  const paid = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: 'fresh.person@example.org', firstName: 'Fresh', lastName: 'Person' });
  while ((await pushDue(server.deps, server.hubspot)).taken > 0);
  const row = await server.deps.database.selectFrom('join_session').select(['hubspot_contact_id', 'owns_hubspot_contact']).where('uuid', '=', paid.uuid).executeTakeFirstOrThrow();
  console.log(row);
  const created = row.hubspot_contact_id!;
  const upgrade = await upgradeByLink(server, created);
  console.log('upgrade', await standingsOf(server, upgrade.uuid));
  while ((await pushDue(server.deps, server.hubspot)).taken > 0);
  // The person's real contact, known to staff.
  const response = await fetch(`${server.hubspotUrl}/crm/objects/2026-09/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ properties: { email: 'real.person@example.org', firstname: 'Fresh' } }),
  });
  const { id: real } = (await response.json()) as { id: string };
  const linked = await runCommand(t, server, linkCommand, [paid.uuid, real]);
  console.log(linked);
  while ((await pushDue(server.deps, server.hubspot)).taken > 0);
  const memberships = await server.deps.database.selectFrom('membership').select(['session_uuid', 'contact_id', 'type', 'standing']).execute();
  console.log(memberships);
  // Is the same upgrade sold again?
  const body = { hubspotContactId: real, mainProductId: 10 };
  const again = await server.client().call('initiateCheckout', { body });
  console.log('sold again to the real contact:', again.status, again.message);
  const own = await client.call('createUpgradeCharge', { params: { uuid: paid.uuid }, body: { paymentIntent: paid.intentId } });
  console.log('the welcome offer charges the upgrade once more:', own.status, own.data);
  const plan = await refundJoin(server.deps, paid.uuid, everything);
  console.log(plan.refunds, plan.notes);
  console.log('after refund', await standingsOf(server, paid.uuid), await standingsOf(server, upgrade.uuid));
  const { listParcels } = await import('../apps/server/fulfilment/orders.ts');
  console.log('parcels', (await listParcels(server.deps, { all: false })).filter((parcel) => parcel.uuid === upgrade.uuid).flatMap(({ goods }) => goods.map(({ name, state }) => [name, state])));
  const notices = await server.deps.database.selectFrom('staff_notice').select(['kind', 'message']).execute();
  console.log(notices);
  console.log((await reconcile(server.deps, { graceMinutes: -1 })).differences);
  assert.equal(again.status, 409, 'the upgrade is sold a second time to the same person');
});
