import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { S3_BUCKET, startS3Emulator } from '../../../emulators/s3/server.ts';
import { deliver } from '../../../tests/harness/deliver.ts';
import { docx, pdf } from '../../../tests/harness/documents.ts';
import { control } from '../../../tests/harness/providers.ts';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { startTestServer, type TestServer } from '../../../tests/harness/testServer.ts';
import { blob, postPdf } from '../../../tests/harness/uploads.ts';
import { idOfKey } from '../providers/storage/envelope.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { attachDue } from './attachDocuments.ts';
import { removeUnknown, whetherUnknown } from './documentsOf.ts';
import { sweepDocuments } from './sweepDocuments.ts';

const KEY = '0f'.repeat(32);
const OTHER = 'a5'.repeat(32);

/** A server that encrypts its documents. `files` returns the bytes of every file in its folder or bucket. */
interface Arranged {
  server: TestServer;
  files(): Buffer[];
}

function under(folder: string): Buffer[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
}

async function arranged(t: TestContext, where: string): Promise<Arranged> {
  const bucket = where === 'in a bucket' ? temporaryFolder(t) : null;
  const s3 = bucket === null ? null : await startS3Emulator({ dataDir: bucket });
  const server = await startTestServer(
    {
      DOCUMENT_KEY: KEY,
      ...(s3 && {
        STORAGE_URL: `s3://${S3_BUCKET}/documents?endpoint=${s3.url}`,
        STORAGE_ACCESS_KEY_ID: s3.keys.accessKeyId,
        STORAGE_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
      }),
    },
    { hubspotLimits: 'off' },
  );
  t.after(async () => {
    await server.close();
    await s3?.close();
  });
  const { dataDir } = server.deps.config;
  return {
    server,
    files: () => (bucket ? [...under(bucket), ...under(join(dataDir, 'incoming'))] : under(server.documents)),
  };
}

/** Makes a paid join with a document. Returns the document's row. */
async function uploaded(server: TestServer, bytes = pdf({ size: 200_000 }), name = 'transcript.pdf') {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  const answer = await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`, { bytes, name });
  assert.equal(answer.status, 200, await answer.text());
  return server.deps.database
    .selectFrom('document')
    .selectAll()
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
}

async function fetched(t: TestContext, server: TestServer, id: string) {
  const path = join(temporaryFolder(t), 'copy');
  const { code, out } = await runCommand(t, server, 'documents fetch', [id, path]);
  return { code, out, bytes: existsSync(path) ? readFileSync(path) : null };
}

async function attach(server: TestServer): Promise<string[]> {
  await deliver(server);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.deps.database,
  );
  await sql`update document set crm_next_try_at = now()`.execute(server.deps.database);
  await attachDue(server.deps, server.hubspot);
  const { files } = await control<{ files: { path: string; bytes: string }[] }>(
    server.hubspotUrl,
    'GET',
    'attachments',
  );
  return files.map(({ bytes }) => bytes);
}

const notices = (server: TestServer) => toldStaff(server, { kind: 'unreadable_document' });

for (const where of ['in a folder', 'in a bucket'])
  test(`${where}, a document is never on a disk as it is, and whoever is to read it reads it`, async (t) => {
    const { server, files } = await arranged(t, where);
    const secret = `secret of ${randomUUID()}`;
    const bytes = pdf({ size: 300_000, trailer: `/Of (${secret}) ` });
    const isNowhere = (when: string) => {
      for (const file of files())
        assert.deepEqual([file.includes('%PDF'), file.includes(secret)], [false, false], when);
    };
    let scanned = Buffer.alloc(0);
    server.deps.scanner = {
      async scan(pieces) {
        scanned = await buffer(pieces);
        assert.equal(files().length, 1);
        isNowhere('while it arrives');
        return null;
      },
    };
    const { id, session_uuid } = await uploaded(server, bytes);
    assert.ok(scanned.equals(bytes), 'the scanner sees the document');
    assert.equal(files().length, 2, 'the document, and its envelope');
    isNowhere('when it is stored');
    assert.ok((await fetched(t, server, id)).bytes!.equals(bytes), 'staff read it');
    assert.deepEqual(
      (await attach(server)).map((base64) => Buffer.from(base64, 'base64').equals(bytes)),
      [true],
      'HubSpot has it',
    );
    const to = join(temporaryFolder(t), 'person');
    const { rows } = await sql<{ email: string }>`
      select details ->> 'personalEmail' as email from join_session where uuid = ${session_uuid}`.execute(
      server.deps.database,
    );
    const { code, out } = await runCommand(t, server, 'person export', [rows[0]!.email, '--to', to]);
    assert.equal(code, 0, out);
    assert.ok(under(join(to, 'documents'))[0]!.equals(bytes), 'its person reads it');
    isNowhere('after it was read');
  });

test('what a document is, is seen through its encryption: accepted and refused as ever', async (t) => {
  const { server, files } = await arranged(t, 'in a folder');
  const word = docx();
  const { id, media_type } = await uploaded(server, word, 'transcript.docx');
  assert.match(media_type, /wordprocessingml/);
  assert.ok((await fetched(t, server, id)).bytes!.equals(word));
  const kept = files().length;
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  for (const bytes of [Buffer.from('MZ not a document'), pdf({ size: 200_000 }).subarray(0, 150_000)]) {
    const answer = await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`, { bytes });
    assert.equal(answer.status, 415);
  }
  assert.equal(files().length, kept);
});

test('a resume is encrypted like a transcript', async (t) => {
  const { server, files } = await arranged(t, 'in a folder');
  const form = new FormData();
  form.append('file', blob(pdf()), 'resume.pdf');
  form.append('contactId', '101');
  const answer = await server.client().fetch('/api/public/upload-resume', { method: 'POST', body: form });
  assert.equal(answer.status, 200);
  assert.equal(files().length, 2);
  assert.ok(files().every((file) => !file.includes('%PDF')));
  const { id } = await server.deps.database.selectFrom('document').select('id').executeTakeFirstOrThrow();
  assert.ok((await fetched(t, server, id)).bytes!.equals(pdf()));
});

test('without their key documents stay, nobody gets a byte of them, and staff are told once', async (t) => {
  const { server, files } = await arranged(t, 'in a folder');
  const [a, b] = [await uploaded(server), await uploaded(server)];
  const kept = files();
  const { storage, config } = server.deps;
  server.deps.storage = await openStorage({ ...config, documentKeys: [OTHER] });
  for (const { id, storage_key } of [a, b]) {
    const { code, out, bytes } = await fetched(t, server, id);
    assert.deepEqual([code, bytes], [1, null]);
    assert.match(
      out,
      new RegExp(`^Document ${storage_key} is encrypted with the key ${idOfKey(KEY)}, which`),
    );
  }
  assert.deepEqual(await attach(server), []);
  assert.equal((await notices(server)).length, 1);
  assert.match((await notices(server))[0]!, /^Documents are encrypted with the key/);
  assert.deepEqual(files(), kept);
  // The server attaches its documents after their document key is set again.
  server.deps.storage = storage;
  assert.equal((await attach(server)).length, 2);
});

test('a document that somebody changed in the storage is refused to everybody, with a notice, and stays', async (t) => {
  const { server } = await arranged(t, 'in a folder');
  const { id, storage_key } = await uploaded(server);
  const path = join(server.documents, storage_key);
  const whole = readFileSync(path);
  const changed = Buffer.from(whole);
  changed[100_000]! ^= 1;
  for (const bytes of [changed, whole.subarray(0, 120_000), pdf({ size: 200_000, trailer: '/Mine 1 ' })]) {
    writeFileSync(path, bytes);
    const { code, out, bytes: read } = await fetched(t, server, id);
    assert.deepEqual([code, read], [1, null]);
    assert.match(out, new RegExp(`^Document ${storage_key} was changed in the storage`));
    assert.deepEqual(await attach(server), []);
  }
  assert.equal((await notices(server)).length, 2, 'a text each, once');
  assert.ok(existsSync(path));
  writeFileSync(path, whole);
  assert.equal((await attach(server)).length, 1);
});

test('a document that was removed has no envelope any more, and is unreadable wherever a copy of it is', async (t) => {
  const { server, files } = await arranged(t, 'in a folder');
  const { storage_key } = await uploaded(server);
  const path = join(server.documents, storage_key);
  const copy = readFileSync(path);
  await server.deps.storage.remove(storage_key);
  assert.equal(files().length, 0);
  writeFileSync(path, copy);
  await assert.rejects(
    server.deps.storage.read(storage_key),
    /envelope of document .* is not in the storage/,
  );
  rmSync(path);
});

test('a document that a restored database does not know is read with the envelope beside it', async (t) => {
  const { server } = await arranged(t, 'in a folder');
  const bytes = pdf({ size: 100_000 });
  const { id, storage_key } = await uploaded(server, bytes);
  const { database } = server.deps;
  const [row] = await database.deleteFrom('document').where('id', '=', id).returningAll().execute();
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  for (const name of readdirSync(server.documents))
    utimesSync(join(server.documents, name), twoDaysAgo, twoDaysAgo);
  assert.equal(await sweepDocuments(server.deps), 0);
  const unknown = (...args: string[]) => runCommand(t, server, 'documents unknown', args);
  assert.deepEqual(await unknown(), { code: 1, out: `${storage_key}\n1 unknown.\n` });
  const copy = join(temporaryFolder(t), 'copy.pdf');
  assert.equal((await unknown('fetch', storage_key, copy)).code, 0);
  assert.ok(readFileSync(copy).equals(bytes));
  assert.equal(await whetherUnknown(server.deps, storage_key), 'unknown');
  await database.insertInto('document').values(row!).execute();
  assert.equal(await removeUnknown(server.deps, storage_key), false, 'the database knows it again');
  assert.ok(readdirSync(server.documents).length > 0);
  await database.deleteFrom('document').where('id', '=', id).execute();
  assert.equal((await unknown('remove', storage_key)).code, 0);
  assert.deepEqual(readdirSync(server.documents), []);
});
