import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { lapelPin } from '../../../../tests/harness/refunds.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { openIntent, orderingJoin, paidJoin, payOrder } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

test('an export has all of a person, their documents too, in files that only their owner reads', async (t) => {
  const client = server.client();
  const email = 'export.me@example.com';
  const { uuid, clientSecret } = await paidJoin(server, client, undefined, {
    personalEmail: email,
    lastName: '<b>Ampersand',
  });
  await paidJoin(server, server.client(), undefined, {
    personalEmail: 'other@example.com',
    lastName: 'Otherperson',
  });
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(pdf())]), 'my transcript.pdf');
  await client.fetch(`/api/public/join-session/${uuid}/upload-transcript`, { method: 'POST', body: form });
  const to = join(temporaryFolder(t), 'new', 'folder');
  const { code, out } = await runCommand(t, server, 'person export', [email.toUpperCase(), '--to', to]);
  assert.equal(code, 0, out);
  assert.deepEqual(readdirSync(to).sort(), ['data.json', 'documents', 'index.html']);
  const [name, ...more] = readdirSync(join(to, 'documents'));
  assert.ok(name!.endsWith('my transcript.pdf') && more.length === 0);
  assert.deepEqual(readFileSync(join(to, 'documents', name!)), Buffer.from(pdf()));
  for (const path of ['data.json', 'index.html', join('documents', name!)])
    assert.equal(statSync(join(to, path)).mode % 0o1000, 0o600, path);
  const page = readFileSync(join(to, 'index.html'), 'utf8');
  const text = readFileSync(join(to, 'data.json'), 'utf8');
  for (const file of [page, text]) {
    for (const told of [uuid, email, '12 Oak Street', '78701', 'Membership', '65', 'confirmation'])
      assert.ok(file.includes(told), told);
    for (const kept of ['Otherperson', clientSecret]) assert.ok(!file.includes(kept), kept);
  }
  assert.ok(page.includes('&#60;b&#62;Ampersand') && !page.includes('<b>Amp'));
  assert.ok(Object.keys(JSON.parse(text).data).includes('What happened, step by step'));

  const again = await runCommand(t, server, 'person export', [email, '--to', to]);
  assert.deepEqual([again.code, again.out], [1, `${to} must be a new or an empty folder.\n`]);
  const nobody = await runCommand(t, server, 'person export', [
    'nobody@example.com',
    '--to',
    temporaryFolder(t),
  ]);
  assert.deepEqual([nobody.code, nobody.out], [1, 'Induct has nothing of this email.\n']);
});

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
