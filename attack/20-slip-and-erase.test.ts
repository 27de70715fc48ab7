import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { personEraseCommand } from '../apps/server/privacy/eraseCommand.ts';
import { listContacts } from '../tests/harness/providers.ts';
import { runCommand } from '../tests/harness/runCommand.ts';
import { details, openIntent, orderingJoin, payOrder } from '../tests/harness/steps.ts';
import { sharedServer } from '../tests/harness/testServer.ts';
import { push } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

for (const withHubspot of [true, false])
test(`who had mistyped their email, corrected it and paid stays a member in HubSpot when the owner of the mistyped one is erased (${withHubspot ? '--hubspot' : 'here alone'})`, async (t) => {
  const n = Date.now();
  const [slip, right] = [`slip${n}@example.com`, `right${n}@example.com`];
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: slip });
  const due = () => sql`update join_session set crm_next_try_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  await due(); await push(server); // two minutes later
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  await payOrder(server, client, uuid);
  await due(); await push(server);
  const members = async () => (await listContacts(server.hubspotUrl, ['email', 'personal_email', 'membership_status'])).filter(({ properties }) => properties.personal_email === right && properties.membership_status === 'member').map(({ id, properties }) => ({ id, ...properties }));
  console.log('before', await members());
  assert.equal((await members()).length, 1);
  // The owner of the mistyped email asks to be erased.
  const { out, code } = await runCommand(t, server, personEraseCommand, [slip, '--yes', ...(withHubspot ? ['--hubspot'] : [])]);
  console.log(code, out);
  await due(); await push(server);
  const notices = await server.deps.database.selectFrom('staff_notice').select('message').execute();
  console.log('after', await members(), notices);
  console.log((await sql`select hubspot_contact_id, owns_hubspot_contact, profile_revision, crm_revision, erased_at, (select contact_id from membership where session_uuid = uuid) as holds from join_session where uuid = ${uuid}`.execute(server.deps.database)).rows);
  assert.equal((await members()).length, 1, 'the member is in HubSpot no more');
});

test('the upgrade by link of who had mistyped their email is not erased with the owner of the mistyped one', async () => {
  const { findPerson } = await import('../apps/server/privacy/findPerson.ts');
  const { upgradeByLink } = await import('../tests/harness/upgrades.ts');
  const n = Date.now();
  const [slip, right] = [`slip${n}@example.com`, `right${n}@example.com`];
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: slip });
  const due = () => sql`update join_session set crm_next_try_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  await due(); await push(server);
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  await payOrder(server, client, uuid);
  await due(); await push(server);
  const { hubspot_contact_id } = await server.deps.database.selectFrom('join_session').select('hubspot_contact_id').where('uuid', '=', uuid).executeTakeFirstOrThrow();
  const upgrade = await upgradeByLink(server, hubspot_contact_id!);
  const [wrong, own] = [await findPerson(server.deps, slip), await findPerson(server.deps, right)];
  console.log({ upgrade: upgrade.uuid, wrong: wrong.joins, own: own.joins });
  assert.ok(!wrong.joins.includes(upgrade.uuid));
});
