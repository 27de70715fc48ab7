import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refundJoin } from '../apps/server/refunds/refundJoin.ts';
import { reconcile } from '../apps/server/settlement/reconcile.ts';
import { askHubspot } from '../tests/harness/providers.ts';
import { everything, standingsOf } from '../tests/harness/refunds.ts';
import { noticesOf } from '../tests/harness/rows.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { upgradeByLink } from '../tests/harness/upgrades.ts';
import { arrange, push } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

for (const kind of ['invited', 'school'] as const)
  test(`an upgrade by link follows its base when the contact is deleted in HubSpot (${kind})`, async () => {
    const ctx = await arrange(server, kind);
    const upgrade = await upgradeByLink(server, ctx.contactId);
    await push(server);
    await askHubspot(server.hubspotUrl, 'DELETE', `/${ctx.contactId}`);
    await server.deps.contacts.refresh(ctx.contactId);
    await server.deps.database.updateTable('join_session').set({ profile_revision: 99, crm_next_try_at: new Date(0) } as never).where('uuid', 'in', [ctx.uuid, upgrade.uuid]).execute();
    for (let i = 0; i < 5; i++) await push(server);
    const rows = await server.deps.database.selectFrom('membership').select(['session_uuid', 'contact_id', 'type', 'standing']).where('session_uuid', 'in', [ctx.uuid, upgrade.uuid]).execute();
    console.log(rows);
    const base = rows.find(({ type }) => type === 'membership')!.contact_id!;
    const again = await server.client().call('initiateCheckout', { body: { hubspotContactId: base, mainProductId: 10 } });
    console.log('sold again:', again.status, again.message);
    await refundJoin(server.deps, ctx.uuid, everything);
    console.log(await standingsOf(server, ctx.uuid), await standingsOf(server, upgrade.uuid), await noticesOf(server, upgrade.uuid), await noticesOf(server, ctx.uuid));
    const { differences } = await reconcile(server.deps, { graceMinutes: -1 });
    console.log(differences);
    assert.deepEqual([again.status, differences.some(({ subject }) => subject === upgrade.uuid)], [409, true]);
  });
