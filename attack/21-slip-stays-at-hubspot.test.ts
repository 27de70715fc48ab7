import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { listContacts } from '../tests/harness/providers.ts';
import { details, orderingJoin, payOrder } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { push } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('an email that was corrected before paying is the one that HubSpot writes to', async () => {
  const n = Date.now();
  const [slip, right] = [`slip${n}@example.com`, `right${n}@example.com`];
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: slip });
  const due = () => sql`update join_session set crm_next_try_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  await due(); await push(server); // two minutes after the details were given
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  await payOrder(server, client, uuid);
  await due(); await push(server);
  // Now the owner of the mistyped email joins by the same school.
  const owner = server.client();
  const other = await orderingJoin(owner, 'LINCOLN2026', { personalEmail: slip, firstName: 'Owner', lastName: 'Ofslip' });
  await payOrder(server, owner, other);
  for (let i = 0; i < 4; i++) { await sql`update join_session set crm_next_try_at = now()`.execute(server.deps.database); await push(server); }
  const all = (await listContacts(server.hubspotUrl, ['email', 'firstname', 'personal_email', 'membership_status'])).filter(({ properties }) => properties.email === slip || properties.email === right || properties.personal_email === slip || properties.personal_email === right);
  console.log(all.map(({ id, properties: { email, firstname, personal_email, membership_status } }) => ({ id, email, firstname, personal_email, membership_status })));
  console.log(await server.deps.database.selectFrom('staff_notice').select('message').execute());
  assert.equal(all.find(({ properties }) => properties.personal_email === right)!.properties.email, right);
});
