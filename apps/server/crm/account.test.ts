import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startHubspotEmulator } from '../../../emulators/hubspot/server.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand, runTyped } from '../../../tests/harness/runCommand.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reportNothing } from '../providers/trouble.ts';
import { deliveriesOf } from './deliveries.ts';
import { lookAtContacts } from './followContacts.ts';
import { noBudget } from './hubspot/budget.ts';
import { hubspotClient } from './hubspot/client.ts';
import { OtherAccount } from './hubspot/errors.ts';
import { pushDue } from './push.ts';

const server = await sharedServer();

test('with a token of another account no contact counts as deleted, none is created, and staff are told', async (t) => {
  const run = runCommand.bind(null, t, server);
  await run('contacts sync', []);
  const other = await startHubspotEmulator({
    host: '127.0.0.1',
    port: 0,
    dataDir: temporaryFolder(t),
    seed: [],
    portalId: 24_000_002,
  });
  t.after(() => other.close());
  const { config, society } = server.deps;
  const hubspot = hubspotClient(
    { ...config.providers.hubspot, url: other.url },
    society.crm.fields,
    noBudget,
    'background',
    reportNothing,
  );
  const elsewhere = { ...server, deps: { ...server.deps, hubspot }, hubspot };
  const rows = async () =>
    (
      await sql<{ deleted: number; members: number }>`
        select count(deleted_at)::int as deleted, count(*) filter (where is_member)::int as members from person`.execute(
        server.background,
      )
    ).rows[0]!;
  const before = await rows();
  assert.ok(before.members > 0);

  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail: 'account@example.com' });
  const work = { ...server.deps, database: server.background, hubspot };
  await pushDue(work);
  await assert.rejects(lookAtContacts(work, ['101', '102']), OtherAccount);
  const synced = await runCommand(t, elsewhere, 'contacts sync', []);
  assert.equal(synced.code, 1);
  const sentence = /HUBSPOT_ACCESS_TOKEN is of the HubSpot account 24000002, and .* of account 24000001\./;
  assert.match(synced.out, sentence);
  const erased = await runCommand(t, elsewhere, 'person erase', [
    'account@example.com',
    '--yes',
    '--hubspot',
  ]);
  assert.equal(erased.code, 1, erased.out);
  assert.match(erased.out, sentence);

  assert.deepEqual(await rows(), before);
  assert.equal((await hubspot.listContacts(null)).ids.length, 0);
  const notices = await staffNotices(server, { kind: 'other_hubspot_account' });
  assert.equal(notices.length, 1);
  assert.match(notices[0]!, sentence);

  const shown = await runCommand(t, elsewhere, 'contacts account', []);
  assert.deepEqual(
    [shown.code, shown.out],
    [0, 'The contacts are of the HubSpot account 24000001, and the token is of 24000002.\n'],
  );
  const wrong = await runCommand(t, elsewhere, 'contacts account', ['24000001']);
  assert.match(wrong.out, /^The token is of the HubSpot account 24000002\.\nUsage: /);
  const asked = await runTyped(t, elsewhere, 'contacts account', ['24000002']);
  assert.deepEqual([asked.code, asked.out], [1, 'Nothing was changed: say yes, or give --yes.\n']);
  const moved = await runCommand(t, elsewhere, 'contacts account', ['24000002']);
  assert.deepEqual(
    [moved.code, moved.out],
    [0, 'The contacts are of the HubSpot account 24000002, and the token is of the same.\n'],
  );
  await sql`update crm_delivery set due_at = now() where due_at is not null and person_id in ${deliveriesOf(sql`(${uuid}::uuid)`)}`.execute(
    server.background,
  );
  await pushDue(work);
  assert.equal((await hubspot.listContacts(null)).ids.length, 1);
});

test('a token that may not ask for its account is not checked, and contacts are created', async (t) => {
  await server.hubspotFault({ kind: 'status', status: 403, path: '/account-info/**', times: 10 });
  t.after(() => server.hubspotFault(null));
  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail: 'unasked@example.com' });
  const hubspot = hubspotClient(
    server.deps.config.providers.hubspot,
    server.deps.society.crm.fields,
    noBudget,
    'background',
    reportNothing,
  );
  await sql`update crm_delivery set due_at = now() where due_at is not null and person_id in ${deliveriesOf(sql`(${uuid}::uuid)`)}`.execute(
    server.background,
  );
  await pushDue({ ...server.deps, database: server.background, hubspot });
  assert.notEqual(await hubspot.findByEmail('unasked@example.com'), null);
});
