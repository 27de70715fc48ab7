import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmPayment } from '../apps/server/payments/confirmPayment.ts';
import { askHubspot } from '../tests/harness/providers.ts';
import { noticesOf } from '../tests/harness/rows.ts';
import { beginPayment, details, openIntent, payByCard, startJoin } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { arrange, push } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

for (const how of ['paid', 'declined first'])
  test(`who is a member by a merged contact is not charged a second time (${how})`, async () => {
    const member = await arrange(server); // paid, contact Q
    // The same person also has contact P, with a code of its own, and another email.
    const email = `p${Date.now()}@example.com`;
    const { id: other } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email, firstname: 'Jo' } });
    await server.deps.contacts.refresh(other);
    const code = `P${Date.now()}`;
    await server.deps.database.insertInto('invitation').values({ code, contact_id: other }).execute();
    const client = server.client();
    const uuid = await startJoin(client, code);
    await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: email }) });
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
    const intent = await openIntent(client, uuid);
    assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
    // Staff merge the two contacts, and the mirror hears of it.
    const { id: merged } = await askHubspot(server.hubspotUrl, 'POST', '/merge', { primaryObjectId: member.contactId, objectIdToMerge: other });
    await server.deps.contacts.refresh(member.contactId);
    const row = await server.deps.database.selectFrom('contact').select('merged_into').where('id', '=', other).executeTakeFirstOrThrow();
    assert.equal(row.merged_into, merged);
    if (how !== 'paid') {
      await payByCard(server, intent.id, 'pm_card_chargeDeclined');
      const released = await client.call('releasePayment', { params: { uuid }, body: {} });
      assert.equal(released.data.state, 'ordering');
      const again = await beginPayment(client, uuid, intent.revision);
      console.log('begun again, after the merge:', again.status, again.message);
      if (again.status === 409) return;
    }
    await payByCard(server, intent.id);
    const outcome = await confirmPayment(server.deps, intent.id);
    await push(server);
    console.log(outcome, await noticesOf(server, uuid), await noticesOf(server, member.uuid));
    const held = await server.deps.database.selectFrom('membership').select(['contact_id', 'session_uuid', 'standing']).where('session_uuid', 'in', [uuid, member.uuid]).execute();
    console.log(held);
    const fields = () => server.deps.database.selectFrom('join_session').select(['state', 'contact_id', 'hubspot_contact_id', 'profile_revision', 'crm_revision', 'crm_refusal', 'crm_attempts', 'crm_next_try_at']).where('uuid', '=', uuid).executeTakeFirstOrThrow();
    console.log('after one round', await fields());
    for (let i = 0; i < 6; i++) {
      await server.deps.database.updateTable('join_session').set({ crm_next_try_at: new Date(0) } as never).where('uuid', '=', uuid).execute();
      await push(server);
      console.log('a minute later', await fields());
    }
    console.log('after rounds', await fields(), await noticesOf(server, uuid));
    await server.deps.contacts.refresh(merged);
    await push(server);
    console.log('after a refresh of the merged contact', await fields(), await noticesOf(server, uuid), await noticesOf(server, member.uuid));
    assert.equal(outcome, 'refunded', 'the second 65.00 of one person is kept');
  });
