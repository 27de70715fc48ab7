import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { membershipOnly } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { applyRetention } from '../people/privacy/retention.ts';

const server = await sharedServer();
const { upload, uploaded } = transcriptsOn(server);

test('what a join has uploaded is listed for its own browser, and for nobody else who knows its id', async () => {
  const { client, uuid } = await uploaded();
  await upload(client, uuid, 'second.pdf');
  const own = await client.call('getDocuments', { params: { uuid } });
  const size = pdf().length;
  assert.deepEqual(own.data, {
    documents: [
      { name: 'transcript.pdf', size },
      { name: 'second.pdf', size },
    ],
    rejection: null,
    hasEnded: false,
  });
  const other = await server.client().call('getDocuments', { params: { uuid } });
  assert.equal(other.status, 404);
});

test('a transcript that retention has removed is listed no more, and the ones beside it are', async (t) => {
  const { client, uuid } = await uploaded();
  await runCommand(t, server, 'documents accept', [uuid]);
  await sql`update document set reviewed_at = now() - interval '2 days' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await upload(client, uuid, 'second.pdf');
  changeSociety(t, server, (source) => `${source}\nretention:\n  documentsDays: 1\n`);
  assert.equal((await applyRetention(server.deps)).documents, 1);
  const { data } = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual(
    data.documents.map(({ name }) => name),
    ['second.pdf'],
  );
});

test('documents of a join that is not paid are 409, of none 404', async () => {
  const client = server.client();
  const started = await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } });
  const { uuid } = started.data;
  assert.equal((await client.call('getDocuments', { params: { uuid } })).status, 409);
  const nobody = { uuid: '00000000-0000-4000-8000-000000000000' };
  assert.equal((await client.call('getDocuments', { params: nobody })).status, 404);
});

test('proof is due 30 days after paying, for who owes it and has none that was not rejected', async (t) => {
  const paidAgo = async (
    days: number,
    origin: string,
    act?: (uuid: string, client: Client) => Promise<unknown>,
  ) => {
    const client = server.client();
    const { uuid } = await paidJoin(server, client);
    await act?.(uuid, client);
    await sql`update join_session set origin = ${origin}, paid_at = now() - make_interval(days => ${days})
      where uuid = ${uuid}`.execute(server.deps.database);
    return uuid;
  };
  const reject = async (uuid: string, client: Client) => {
    await upload(client, uuid);
    await runCommand(t, server, 'documents reject', [uuid, '--reason', 'unreadable']);
  };
  const due = [await paidAgo(31, 'self_nomination'), await paidAgo(40, 'self_nomination', reject)];
  const others = [
    await paidAgo(29, 'self_nomination'),
    await paidAgo(31, 'school'),
    await paidAgo(31, 'self_nomination', (uuid, client) => upload(client, uuid)),
    await paidAgo(31, 'self_nomination', (uuid) => refundJoin(server.deps, uuid, membershipOnly)),
  ];
  const { out } = await runCommand(t, server, 'documents due', []);
  for (const uuid of due)
    assert.match(out, new RegExp(`^${uuid} {2}joined [\\d-]+ {2}Jordan Rivera {2}\\S+@\\S+$`, 'm'));
  for (const uuid of others) assert.doesNotMatch(out, new RegExp(uuid));
  assert.ok(out.indexOf(due[1]!) < out.indexOf(due[0]!), 'who paid first comes first');
});

test("a contact's resumes are shown by its id", async (t) => {
  const sent = await postPdf(server.client(), pathOf('uploadResume'), {
    contactId: '102',
    name: 'resume.pdf',
  });
  assert.equal(sent.status, 200);
  const { out, code } = await runCommand(t, server, 'documents show', ['102']);
  assert.equal(code, 0);
  assert.match(out, /^[\da-f-]{36} {2}[\d-]+ {2}resume\n {2}resume\.pdf \(application\/pdf, /);
  const none = await runCommand(t, server, 'documents show', ['103']);
  assert.deepEqual([none.code, none.out], [1, 'Induct knows no contact 103.\n']);
});

test('a document is fetched byte for byte, and never over another file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'induct-fetch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { uuid } = await uploaded();
  const { id } = await server.deps.database
    .selectFrom('document')
    .select('id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const path = join(folder, 'fetched.pdf');
  assert.equal((await runCommand(t, server, 'documents fetch', [id, path])).code, 0);
  assert.deepEqual(readFileSync(path), pdf());
  assert.equal((await runCommand(t, server, 'documents fetch', [id, path])).code, 1);
  assert.equal((await runCommand(t, server, 'documents fetch', [uuid, `${path}2`])).code, 1);
});
