import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { REJECTED_FINALLY, UPLOAD_LINK_OVER } from '#documents/document.ts';
import { pdf, program } from '../../../tests/harness/documents.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';

const server = await sharedServer();

async function paid(): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  return { client, uuid };
}

async function linkFor(client: Client, uuid: string): Promise<string> {
  const { data } = await client.call('createUploadLink', { params: { uuid } });
  return data.path.split('/').at(-1)!;
}

/** Uploads a document with an upload link, from a device that does not hold the join. */
async function uploadBy(token: string, bytes = pdf(), name = 'photo.pdf') {
  const response = await postPdf(server.client(), pathOf('uploadByLink', { token }), { bytes, name });
  return { status: response.status, body: (await response.json()) as { message?: string } };
}

test('a phone uploads for a join by its link, and the join has the file', async () => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  assert.equal((await uploadBy(token)).status, 200);
  assert.equal((await uploadBy(token, pdf(), 'page 2.pdf')).status, 200);
  const { documents } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.deepEqual(
    documents.map(({ name }) => name),
    ['photo.pdf', 'page 2.pdf'],
  );
});

test('what a link tells of its join is nothing, and the token is kept nowhere', async () => {
  const { client, uuid } = await paid();
  const { data } = await client.call('createUploadLink', { params: { uuid } });
  const token = data.path.split('/').at(-1)!;
  assert.match(data.path, /^\/upload\/[\w-]{22}$/);
  const told = await server.client().call('getUploadLink', { params: { token } });
  assert.deepEqual(told.data, { expiresAt: data.expiresAt });
  const lasts = Date.parse(data.expiresAt) - Date.now();
  assert.ok(Math.abs(lasts - 3_600_000) < 60_000, `${lasts} ms`);
  const kept = await server.deps.database.selectFrom('upload_link').selectAll().execute();
  assert.ok(kept.some((row) => row.token_hash.equals(createHash('sha256').update(token).digest())));
  assert.ok(!JSON.stringify(kept).includes(token));
});

test('a link that is over, and one that never was, answer alike, and take nothing', async () => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  await sql`update upload_link set expires_at = now() where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  for (const one of [token, 'AAAAAAAAAAAAAAAAAAAAAA', 'x']) {
    const told = await client.call('getUploadLink', { params: { token: one } });
    assert.deepEqual([told.status, told.message], [404, UPLOAD_LINK_OVER]);
    const { status, body } = await uploadBy(one);
    assert.deepEqual([status, body.message], [404, UPLOAD_LINK_OVER]);
  }
  assert.deepEqual((await client.call('getDocuments', { params: { uuid } })).data.documents, []);
});

test('a link that is over is forgotten when another one is made', async () => {
  const { client, uuid } = await paid();
  await linkFor(client, uuid);
  await sql`update upload_link set expires_at = now() - interval '1 second' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await linkFor(client, uuid);
  const { rows } = await sql`select from upload_link where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 1);
});

test('what the page would not take, the link does not take either', async () => {
  const { client, uuid } = await paid();
  const { status, body } = await uploadBy(await linkFor(client, uuid), program());
  assert.equal(status, 415);
  assert.match(body.message ?? '', /is a program/);
});

test('before payment there is no link, and of no join there is none', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  assert.equal((await client.call('createUploadLink', { params: { uuid } })).status, 409);
  const nobody = { uuid: '00000000-0000-4000-8000-000000000000' };
  assert.equal((await client.call('createUploadLink', { params: nobody })).status, 404);
});

test('after a final rejection neither a new nor an old link takes anything', async (t) => {
  const { client, uuid } = await paid();
  const token = await linkFor(client, uuid);
  await uploadBy(token);
  await runCommand(t, server, 'documents reject', [uuid, '--reason', 'unreadable', '--final']);
  for (const { status, message } of [
    await client.call('createUploadLink', { params: { uuid } }),
    await client.call('getUploadLink', { params: { token } }),
  ])
    assert.deepEqual([status, message], [409, REJECTED_FINALLY]);
  assert.equal((await uploadBy(token)).status, 409);
});

test('links of a join and uploads by a link are limited', async (t) => {
  const { client, uuid } = await paid();
  limitWith(t, server, { LIMIT_UPLOAD_LINKS_PER_SESSION: '2/60', LIMIT_UPLOADS_PER_LINK: '1/60' });
  const token = await linkFor(client, uuid);
  await linkFor(client, uuid);
  assert.equal((await client.call('createUploadLink', { params: { uuid } })).status, 429);
  assert.equal((await uploadBy(token)).status, 200);
  assert.equal((await uploadBy(token)).status, 429);
});
