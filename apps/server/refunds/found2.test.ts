import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { everything, standingsOf } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { reconcile } from '../settlement/reconcile.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('an upgrade that a link sold to the contact whom a school join had made a member is not left behind unseen when that goes back', async () => {
  const personalEmail = 'school.then.link@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', lastname: 'Rivera' });
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  const statusOf = async () => (await atHubspot(server, id, 'membership_status')).membership_status;
  assert.equal(await statusOf(), 'member', 'by the school join, where nothing stood');
  await server.deps.contacts.refresh(id);
  const upgrade = await upgradeByLink(server, id);
  assert.deepEqual(await standingsOf(server, upgrade.uuid), [
    { type: 'membership_upgrade', standing: 'active' },
  ]);
  await deliver(server);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.equal(await statusOf(), 'former');
  const told = [...(await noticesOf(server, upgrade.uuid)), ...(await noticesOf(server, uuid))].filter(
    (text) => /upgrade is still paid and held/.test(text),
  );
  const { differences } = await reconcile(server.deps, { graceMinutes: 0 });
  const found = differences.filter(({ subject }) => subject === upgrade.uuid);
  assert.ok(
    told.length + found.length > 0,
    'HubSpot says former, the upgrade is paid and held, and nobody is told',
  );
});
