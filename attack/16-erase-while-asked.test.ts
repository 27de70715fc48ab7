import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { confirmPayment } from '../apps/server/payments/confirmPayment.ts';
import { NotErasable } from '../apps/server/privacy/eraseJoins.ts';
import { erasePerson } from '../apps/server/privacy/erasePerson.ts';
import { findPerson } from '../apps/server/privacy/findPerson.ts';
import { StoppedErasing } from '../apps/server/privacy/stoppedErasing.ts';
import { askHubspot } from '../tests/harness/providers.ts';
import { details, openIntent, payByCard, startJoin } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { arrange, push } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const erase = (person: Awaited<ReturnType<typeof findPerson>>, withHubspot: boolean) =>
  erasePerson(server.deps, person, { hubspot: withHubspot ? server.hubspot : null }).then(
    () => 'erased' as const,
    (error) => { if (error instanceof StoppedErasing || error instanceof NotErasable) return 'refused' as const; throw error; },
  );

test('a payment that began while staff were asked whether to erase its person refuses the erasure', async () => {
  const email = `asked${Date.now()}@example.com`;
  const { id: contactId } = await askHubspot(server.hubspotUrl, 'POST', '', { properties: { email, firstname: 'Jo', lastname: 'Asked', address: '1 Elm', city: 'Austin' } });
  await server.deps.contacts.refresh(contactId);
  const ctx = { email, contactId };
  const shown = await findPerson(server.deps, ctx.email); // "Erase it?"
  const client = server.client();
  const uuid = (await client.call('initiateCheckout', { body: { hubspotContactId: ctx.contactId, mainProductId: 2 } })).data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const begun = await client.call('beginPayment', { params: { uuid }, body: { revision: intent.revision, agreeToPolicies: true } });
  assert.equal(begun.status, 200);
  const outcome = await erase(shown, true); // "yes"
  await payByCard(server, intent.id);
  const confirmed = await confirmPayment(server.deps, intent.id);
  await push(server);
  const row = await sql<Record<string, unknown>>`select state, contact_id, payer, crm_revision = profile_revision as told, hubspot_contact_id, owns_hubspot_contact, (select profile::text from contact where id = contact_id) as profile from join_session where uuid = ${uuid}`.execute(server.deps.database);
  console.log({ outcome, confirmed }, row.rows[0]);
  const parcels = await (await import('../apps/server/fulfilment/orders.ts')).listParcels(server.deps, { all: false });
  console.log(parcels.filter((parcel) => parcel.uuid === uuid).map(({ name, address, goods }) => ({ name, address, goods: goods.map(({ name }) => name) })));
  assert.ok(outcome === 'refused' || confirmed !== 'succeeded', 'paid 89.00 by somebody who is known to nobody');
});

test('of a join that its person began while staff were asked nothing is left, or the erasure says so', async () => {
  const ctx = await arrange(server);
  const shown = await findPerson(server.deps, ctx.email);
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: ctx.email, lastName: 'Leftover' }) });
  const outcome = await erase(shown, false);
  const { rows } = await sql<{ details: { personalEmail: string } }>`select details from join_session where uuid = ${uuid}`.execute(server.deps.database);
  const erased = await sql`select erased_at > (select created_at from join_session where uuid = ${uuid}) as later from erasure order by erased_at desc limit 1`.execute(server.deps.database);
  console.log(outcome, rows, erased.rows);
  assert.ok(outcome === 'refused' || rows.length === 0);
});
