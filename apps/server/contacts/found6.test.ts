import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { standingsOf } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { linkCommand } from './commands.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('a member whose contact staff have deleted in favour of another one with the same email can be linked to that, as the notice says', async (t) => {
  const personalEmail = 'kept.one@example.com';
  const first = await newContact(server, personalEmail, {
    firstname: 'Jordan',
    invitation_code: 'DELETEDONE',
  });
  const { uuid } = await paidJoin(server, server.client(), 'DELETEDONE', { personalEmail });
  // Staff clear up before HubSpot has heard of the payment.
  await askHubspot(server.hubspotUrl, 'DELETE', `/${first}`);
  const kept = await newContact(server, personalEmail, {
    firstname: 'Jordan',
    membership_status: 'prospect',
  });
  await deliver(server);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.equal((await atHubspot(server, kept, 'membership_status')).membership_status, 'prospect');
  const notice = (await noticesOf(server, uuid)).find((text) => text.includes(' contacts link '));
  assert.ok(notice, 'staff are told');
  const args = / contacts link (\S+) (\S+)$/.exec(notice)!.slice(1);
  assert.deepEqual(args, [uuid, kept]);
  const { code, out } = await runCommand(t, server, linkCommand, args);
  assert.equal(code, 0, `${notice}\n→ ${out}`);
  await deliver(server);
  assert.equal((await atHubspot(server, kept, 'membership_status')).membership_status, 'member');
});

test('a member whose invitation names a contact that HubSpot does not have can be linked to the one that they are', async (t) => {
  await sql`insert into contact (id, profile) values ('700700701', '{"firstName": "Jordan"}')`.execute(
    server.background,
  );
  await sql`insert into invitation (code, contact_id) values ('MISTYPEDID', '700700701')`.execute(
    server.background,
  );
  const { uuid } = await paidJoin(server, server.client(), 'MISTYPEDID', {
    personalEmail: 'mistyped.id@example.com',
  });
  await deliver(server);
  const { crm_refusal } = await server.deps.database
    .selectFrom('join_session')
    .select('crm_refusal')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.match(crm_refusal!, /does not know contact 700700701/);
  const right = await newContact(server, 'mistyped.id@example.com', { firstname: 'Jordan' });
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, right]);
  assert.equal(code, 0, out);
});
