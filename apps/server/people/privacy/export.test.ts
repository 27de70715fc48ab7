import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { lapelPin } from '../../../../tests/harness/refunds.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { openIntent, orderingJoin, paidJoin, payOrder } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

test('an export has every kind of row about a person and of nobody else, and no secret that would open something', async (t) => {
  const email = 'every.kind@example.com';
  const id = await newContact(server, email, { invitation_code: 'EVERYKIND1' });
  await deps.contacts.refresh(id);
  const client = server.client();
  const uuid = await orderingJoin(client, 'EVERYKIND1', { personalEmail: email });
  const params = { uuid };
  await client.call('setSessionProduct', { params, body: { productUuid: lapelPin } });
  await payOrder(server, client, uuid);
  await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  await postPdf(client, '/api/public/upload-resume', { contactId: id });
  await runCommand(t, server, 'orders ship', [uuid]);
  await runCommand(t, server, 'refund', [uuid, '--no-membership', '--items', '30']);
  const stranger = await paidJoin(server, server.client(), 'HONOR102', {
    personalEmail: 'other@example.com',
  });
  await postPdf(server.client(), '/api/public/upload-resume', { contactId: '102' });
  await runCommand(t, server, 'refund', [stranger.uuid]);
  await client.call('createUploadLink', { params });
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  await client.call('sendPassCode', { body: { token } });
  const others = await orderingJoin(server.client(), undefined, { personalEmail: 'another@example.com' });
  const { id: intentId } = await openIntent(server.client(), others);
  for (const statement of [
    sql`insert into card_failure (charge_id, session_uuid, address_hash)
      select 'ch_declined', uuid, address_hash from join_session where uuid = ${uuid}`,
    sql`insert into staff_notice (kind, params) values ('provider_trouble', jsonb_build_object('text', ${`a letter to ${email}`}::text))`,
    sql`insert into pass_request (email) values (${email})`,
    sql`insert into reminder_stop (email_hash) values (${deps.stopLinks.hash(email)})`,
    sql`insert into letter (kind, session_uuid, occasion, email, due_at, next_try_at)
      values ('link', ${others}, 'asked', ${email}, now(), now())`,
    sql`update payment set receipt_email = ${email} where intent_id = ${intentId}`,
  ])
    await statement.execute(deps.database);

  const to = temporaryFolder(t);
  const { code, out } = await runCommand(t, server, 'person export', [email, '--to', to]);
  assert.deepEqual([code, / and 2 of 2 documents\. /.test(out)], [0, true], out);
  const text = readFileSync(join(to, 'data.json'), 'utf8');
  for (const other of [stranger.uuid, stranger.intentId, 'other@example.com', '"contact_id": "102"'])
    assert.ok(!text.includes(other), other);
  assert.deepEqual(Object.keys(JSON.parse(text).data), [
    'Emails',
    'Joins',
    'Orders',
    'Payments',
    'Memberships',
    'What was sent by post',
    'Letters',
    'Declined cards',
    'Links in letters',
    'Links for uploads',
    'Notices to staff',
    'What happened, step by step',
    'Other letters to this email',
    'Other payments that were begun with this email',
    'Refunds',
    'Documents',
    'The person, with what HubSpot told of them',
    'What HubSpot was told',
    'Invitations',
    'Requests for links',
    'Reminders stopped',
  ]);
  const { rows } = await sql<{ secret: string }>`
    select encode(token_hash, 'hex') as secret from upload_link where session_uuid = ${uuid}
    union select encode(code_hash, 'hex') from pass where session_uuid = ${uuid}
    union select encode(code_browser, 'hex') from pass where session_uuid = ${uuid}
    union select client_secret from payment where session_uuid = ${uuid}`.execute(deps.database);
  assert.equal(rows.length, 4);
  for (const { secret } of rows) assert.ok(!text.includes(secret), secret);

  // Retention has removed the files.
  await sql`update document set removed_at = now()`.execute(deps.database);
  const later = await runCommand(t, server, 'person export', [email, '--to', temporaryFolder(t)]);
  assert.deepEqual([later.code, / and 0 of 0 documents\. /.test(later.out)], [0, true], later.out);
});

test('a contact with another email that a join names is told as not exported, and is not', async (t) => {
  const email = 'names.another@example.com';
  const id = await newContact(server, 'named.another@example.com', { invitation_code: 'NAMESANOTHER1' });
  await deps.contacts.refresh(id);
  await orderingJoin(server.client(), 'NAMESANOTHER1', { personalEmail: email });
  const to = temporaryFolder(t);
  const { out } = await runCommand(t, server, 'person export', [email, '--to', to]);
  assert.match(
    out,
    new RegExp(`^Not in it: contact ${id}, which a join names and which has another email`, 'm'),
  );
  const text = readFileSync(join(to, 'data.json'), 'utf8');
  assert.deepEqual(
    text.split('\n').filter((line) => line.includes('named.another@example.com')),
    [],
  );
});
