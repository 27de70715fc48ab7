import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { S3_BUCKET, startS3Emulator } from '../../../emulators/s3/server.ts';
import { deliver } from '../../../tests/harness/deliver.ts';
import { docx, pdf } from '../../../tests/harness/documents.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { waiting } from '../../../tests/harness/locks.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { control } from '../../../tests/harness/providers.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand, runLone } from '../../../tests/harness/runCommand.ts';
import { settingsOf, withSettings } from '../../../tests/harness/serverProcess.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../tests/harness/testLength.ts';
import { sharedServer, type TestServer } from '../../../tests/harness/testServer.ts';
import { blob, postPdf } from '../../../tests/harness/uploads.ts';
import { readConfig } from '../platform/config/config.ts';
import type { Secrets } from '../platform/config/secrets.ts';
import { isKey } from '../providers/storage/arrive.ts';
import { idOfKey } from '../providers/storage/envelope.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { NotStored } from '../providers/storage/storage.ts';
import { attachDue } from './attachDocuments.ts';
import { removeUnknown, whetherUnknown } from './documentsOf.ts';
import { encryptDocument } from './encryptDocuments.ts';
import { sweepDocuments } from './sweepDocuments.ts';

const OLD = '0f'.repeat(32);
const NEW = 'a5'.repeat(32);

function under(folder: string): Buffer[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
}

/** A server that encrypts its documents into a folder, and another one whose documents are in a bucket. */
const server = await sharedServer({ DOCUMENT_KEY: OLD }, { hubspotLimits: 'off' });
const bucket = mkdtempSync(join(tmpdir(), 'induct-bucket-'));
const s3 = await startS3Emulator({ dataDir: bucket });
after(async () => {
  await s3.close();
  rmSync(bucket, { recursive: true });
});
const ofBucket = await sharedServer(
  {
    DOCUMENT_KEY: OLD,
    STORAGE_URL: `s3://${S3_BUCKET}/documents?endpoint=${s3.url}`,
    STORAGE_ACCESS_KEY_ID: s3.keys.accessKeyId,
    STORAGE_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
  },
  { hubspotLimits: 'off' },
);
const files = () => under(server.documents);
beforeEachIn(import.meta.filename, async () => {
  await server.deps.database.deleteFrom('document').execute();
  await server.deps.database.deleteFrom('staff_notice').execute();
  rmSync(server.documents, { recursive: true, force: true });
  await restarted(server, [OLD]);
});

/** Makes a paid join with a document. Returns the document's row. */
async function uploaded(bytes = pdf({ size: 200_000 }), name = 'transcript.pdf', to = server) {
  const client = to.client();
  const { uuid } = await paidJoin(to, client);
  const answer = await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`, { bytes, name });
  assert.equal(answer.status, 200, await answer.text());
  return to.deps.database
    .selectFrom('document')
    .selectAll()
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
}

async function fetched(t: TestContext, id: string, from = server) {
  const path = join(temporaryFolder(t), 'copy');
  const { code, out } = await runCommand(t, from, 'documents fetch', [id, path]);
  return { code, out, bytes: existsSync(path) ? readFileSync(path) : null };
}

async function attach(on = server): Promise<string[]> {
  await deliver(on);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    on.deps.database,
  );
  await sql`update document set crm_next_try_at = now()`.execute(on.deps.database);
  await attachDue(on.deps, on.hubspot);
  const { files } = await control<{ files: { path: string; bytes: string }[] }>(
    on.hubspotUrl,
    'GET',
    'attachments',
  );
  const documents = await on.deps.database.selectFrom('document').select('id').execute();
  return files.filter(({ path }) => documents.some(({ id }) => path.includes(id))).map(({ bytes }) => bytes);
}

const notices = () => staffNotices(server, { kind: 'unreadable_document' });

for (const [where, on] of [
  ['in a folder', server],
  ['in a bucket', ofBucket],
] as const)
  test(`${where}, a document is never on a disk as it is, and whoever is to read it reads it`, async (t) => {
    const files = () =>
      on === server
        ? under(server.documents)
        : [...under(bucket), ...under(join(on.deps.config.dataDir, 'incoming'))];
    const secret = `secret of ${randomUUID()}`;
    const bytes = pdf({ size: 300_000, trailer: `/Of (${secret}) ` });
    const isNowhere = (when: string) => {
      for (const file of files())
        assert.deepEqual([file.includes('%PDF'), file.includes(secret)], [false, false], when);
    };
    let scanned = Buffer.alloc(0);
    on.deps.scanner = {
      async scan(pieces) {
        scanned = await buffer(pieces);
        assert.equal(files().length, 1);
        isNowhere('while it arrives');
        return null;
      },
    };
    t.after(() => (on.deps.scanner = null));
    const { id, session_uuid } = await uploaded(bytes, undefined, on);
    assert.ok(scanned.equals(bytes), 'the scanner sees the document');
    assert.equal(files().length, 2, 'the document, and its envelope');
    isNowhere('when it is stored');
    assert.ok((await fetched(t, id, on)).bytes!.equals(bytes), 'staff read it');
    assert.deepEqual(
      (await attach(on)).map((base64) => Buffer.from(base64, 'base64').equals(bytes)),
      [true],
      'HubSpot has it',
    );
    const to = join(temporaryFolder(t), 'person');
    const { rows } = await sql<{ email: string }>`
      select details ->> 'personalEmail' as email from join_session where uuid = ${session_uuid}`.execute(
      on.deps.database,
    );
    const { code, out } = await runCommand(t, on, 'person export', [rows[0]!.email, '--to', to]);
    assert.equal(code, 0, out);
    assert.ok(under(join(to, 'documents'))[0]!.equals(bytes), 'its person reads it');
    isNowhere('after it was read');
  });

test('what a document is, is seen through its encryption: accepted and refused as ever', async (t) => {
  const word = docx();
  const { id, media_type } = await uploaded(word, 'transcript.docx');
  assert.match(media_type, /wordprocessingml/);
  assert.ok((await fetched(t, id)).bytes!.equals(word));
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
  const form = new FormData();
  form.append('file', blob(pdf()), 'resume.pdf');
  form.append('contactId', '101');
  const answer = await server.client().fetch('/api/public/upload-resume', { method: 'POST', body: form });
  assert.equal(answer.status, 200);
  assert.equal(files().length, 2);
  assert.ok(files().every((file) => !file.includes('%PDF')));
  const { id } = await server.deps.database.selectFrom('document').select('id').executeTakeFirstOrThrow();
  assert.ok((await fetched(t, id)).bytes!.equals(pdf()));
});

test('without their key documents stay, nobody gets a byte of them, and staff are told once', async (t) => {
  const [a, b] = [await uploaded(), await uploaded()];
  const kept = files();
  const { storage, config } = server.deps;
  server.deps.storage = await openStorage({ ...config, documentKeys: [NEW] });
  for (const { id, storage_key } of [a, b]) {
    const { code, out, bytes } = await fetched(t, id);
    assert.deepEqual([code, bytes], [1, null]);
    assert.match(
      out,
      new RegExp(`^Document ${storage_key} is encrypted with the key ${idOfKey(OLD)}, which`),
    );
  }
  assert.deepEqual(await attach(), []);
  assert.equal((await notices()).length, 1);
  assert.match((await notices())[0]!, /^Documents are encrypted with the key/);
  assert.deepEqual(files(), kept);
  // The server attaches its documents after their document key is set again.
  server.deps.storage = storage;
  assert.equal((await attach()).length, 2);
});

test('a document that somebody changed in the storage is refused to everybody, with a notice, and stays', async (t) => {
  const { id, storage_key } = await uploaded();
  const path = join(server.documents, storage_key);
  const whole = readFileSync(path);
  const changed = Buffer.from(whole);
  changed[100_000]! ^= 1;
  for (const bytes of [changed, whole.subarray(0, 120_000), pdf({ size: 200_000, trailer: '/Mine 1 ' })]) {
    writeFileSync(path, bytes);
    const { code, out, bytes: read } = await fetched(t, id);
    assert.deepEqual([code, read], [1, null]);
    assert.match(out, new RegExp(`^Document ${storage_key} was changed in the storage`));
    assert.deepEqual(await attach(), []);
  }
  assert.equal((await notices()).length, 2, 'a text each, once');
  assert.ok(existsSync(path));
  writeFileSync(path, whole);
  assert.equal((await attach()).length, 1);
});

test('a document that was removed has no envelope any more, and is unreadable wherever a copy of it is', async () => {
  const { storage_key } = await uploaded();
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
  const bytes = pdf({ size: 100_000 });
  const { id, storage_key } = await uploaded(bytes);
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

/** Stores `count` documents as a server without document keys does. */
async function keepPlainDocuments(count: number): Promise<void> {
  await restarted(server, null);
  await server.deps.contacts.refresh('101');
  for (let number = 0; number < count; number++) await keep(server, randomBytes(100_000));
}

async function keep({ deps }: TestServer, bytes: Buffer): Promise<string> {
  const file = await deps.storage.put(
    (async function* () {
      yield bytes;
    })(),
    async () => {},
  );
  await deps.database
    .insertInto('document')
    .values({
      id: randomUUID(),
      kind: 'resume',
      session_uuid: null,
      person_id: personId('101'),
      name: 'resume.pdf',
      media_type: 'application/pdf',
      size_bytes: file.sizeBytes,
      sha256: file.sha256,
      storage_key: file.key,
    })
    .execute();
  return file.key;
}

/** Gives the server these document keys, as a restart with other settings does. */
async function restarted({ deps }: TestServer, documentKeys: Secrets | null): Promise<void> {
  deps.config.documentKeys = documentKeys;
  deps.storage = await openStorage(deps.config);
}

/** Asserts that every document in the database can be read and matches its hash. */
async function allAreRead({ deps }: TestServer): Promise<void> {
  const rows = await deps.database.selectFrom('document').select(['storage_key', 'sha256']).execute();
  for (const { storage_key, sha256 } of rows) await buffer(await deps.storage.read(storage_key, sha256));
}

const encrypt = (t: TestContext, server: TestServer, ...args: string[]) =>
  runCommand(t, server, 'documents encrypt', args);
const filesOf = ({ documents }: TestServer) => readdirSync(documents).map((name) => join(documents, name));
const contentsOf = (server: TestServer) =>
  filesOf(server)
    .filter((path) => isKey(basename(path)))
    .sort()
    .map((path) => readFileSync(path).toString('base64'));

test('documents are counted, encrypted, and put under a new key without their content, and then the old key may go', async (t) => {
  await keepPlainDocuments(3);
  const without = await encrypt(t, server);
  assert.deepEqual([without.code, /^No DOCUMENT_KEY is set/.test(without.out)], [1, true]);
  await restarted(server, [OLD]);
  const [plain, id] = [contentsOf(server), idOfKey(OLD)];
  const trial = await encrypt(t, server, '--dry-run');
  assert.equal(
    trial.out,
    `3 would be encrypted, and 0 would be put under the key ${id}.\n0 were under it already, and 0 cannot be read.\n`,
  );
  assert.deepEqual(contentsOf(server), plain);
  // A document without a row must be encrypted, too. A restore from an older backup leaves such documents.
  await sql`delete from document where id = (select id from document limit 1)`.execute(server.deps.database);
  const first = await encrypt(t, server);
  assert.equal(first.code, 0, first.out);
  assert.match(first.out, /^3 were encrypted, and 0 were put under/);
  assert.match((await encrypt(t, server)).out, /^0 were encrypted, and 0 .*\n3 were under it already/);
  assert.ok(contentsOf(server).every((content) => !plain.includes(content)));
  await allAreRead(server);

  const content = contentsOf(server);
  await restarted(server, [OLD, NEW]);
  assert.match((await encrypt(t, server)).out, /^0 were encrypted, and 0 were put under/);
  await restarted(server, [NEW, OLD]);
  await allAreRead(server);
  assert.match((await encrypt(t, server, '--dry-run')).out, /^0 would be encrypted, and 3 would be put/);
  const exchanged = await encrypt(t, server);
  assert.match(exchanged.out, new RegExp(`^0 were encrypted, and 3 were put under the key ${idOfKey(NEW)}`));
  assert.match(
    exchanged.out,
    new RegExp(`No document needs the key ${id} any more: DOCUMENT_KEY_ALSO may go`),
  );
  assert.deepEqual(contentsOf(server), content, 'content is not written again');
  await restarted(server, [NEW]);
  await allAreRead(server);
});

test('a document whose key is missing is named, keeps every key, and does not hold up the others', async (t) => {
  await keepPlainDocuments(1);
  await restarted(server, [OLD]);
  const key = await keep(server, randomBytes(10));
  await restarted(server, [NEW, '3c'.repeat(32)]);
  const { code, out } = await encrypt(t, server);
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^Document ${key} is encrypted with the key ${idOfKey(OLD)}, which`));
  assert.match(
    out,
    /\n1 were encrypted, and 0 .*\n0 were under it already, and 1 cannot be read.\nNo key may go/,
  );
  assert.equal((await encrypt(t, server, 'more')).code, 2);
});

test('a document that is erased while it is encrypted, or while its envelope is replaced, does not come back', async () => {
  await keepPlainDocuments(1);
  const { deps } = server;
  const { storage_key: plain } = await deps.database
    .selectFrom('document')
    .select('storage_key')
    .executeTakeFirstOrThrow();
  await restarted(server, [OLD]);
  const enveloped = await keep(server, randomBytes(10));
  await restarted(server, [NEW, OLD]);
  for (const key of [plain, enveloped]) {
    let encrypting: Promise<void> | undefined;
    await deps.database.transaction().execute(async (trx) => {
      await trx.deleteFrom('document').where('storage_key', '=', key).execute();
      encrypting = encryptDocument({ ...deps, database: server.background }, key);
      encrypting.catch(() => {});
      await waiting(deps.database, 1);
      await deps.storage.remove(key);
    });
    await assert.rejects(encrypting!, NotStored);
  }
  assert.deepEqual(readdirSync(server.documents), []);
});

/**
 * Runs the command as a child process. This test holds the lock on a document's row, and kills the command while it waits for
 * that lock.
 */
async function killedInTheMiddle(server: TestServer, keys: Record<string, string>): Promise<void> {
  const { deps } = server;
  const notCurrent: string[] = [];
  for (const key of readdirSync(server.documents).filter(isKey))
    if ((await deps.storage.how(key)) !== 'current') notCurrent.push(key);
  const held = notCurrent[Math.floor(notCurrent.length / 2)]!;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../staff/operator.ts'), 'documents', 'encrypt'],
    { env: settingsOf(withSettings(server, keys)), stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await deps.database.transaction().execute(async (trx) => {
    await trx.selectFrom('document').select('id').where('storage_key', '=', held).forUpdate().execute();
    await Promise.race([
      waiting(deps.database, 1),
      ended.then(([code]) => assert.fail(`it ended with ${code} before it met the row`)),
    ]);
    child.kill('SIGKILL');
    await ended;
  });
}

/** How often each of the two runs is killed before one ends. */
const KILLS = 2;

test('killed in the middle of encrypting and of an exchange of keys, beside a server that serves, nothing is lost', {
  skip: onlyLong,
}, async (t) => {
  await keepPlainDocuments(20);
  const client = server.client();
  const upload = async () =>
    assert.equal((await postPdf(client, '/api/public/upload-resume', { contactId: '102' })).status, 200);
  for (const [keys, env] of [
    [[OLD], { DOCUMENT_KEY: OLD }],
    [[NEW, OLD], { DOCUMENT_KEY: NEW, DOCUMENT_KEY_ALSO: OLD }],
  ] as const) {
    await restarted(server, keys);
    // Each run must continue where the run before it was killed.
    for (let kills = 0; kills < KILLS; kills++) {
      await Promise.all([killedInTheMiddle(server, env), upload()]);
      await allAreRead(server);
    }
    const { code, out } = await encrypt(t, server);
    assert.equal(code, 0, out);
    await allAreRead(server);
  }
  await restarted(server, [NEW]);
  await allAreRead(server);
  const whole = filesOf(server).filter((path) => !path.endsWith('.part'));
  assert.equal(whole.length, 2 * (20 + 2 * KILLS), 'each document and its envelope, and nothing else');
  assert.ok(filesOf(server).every((path) => !readFileSync(path).includes(pdf().subarray(0, 8))));
});

const settings = (keys: Record<string, string>) =>
  readConfig({
    DATABASE_URL: 'postgres://a.example/induct',
    STRIPE_EMULATOR_URL: 'http://a.example',
    HUBSPOT_EMULATOR_URL: 'http://a.example',
    MAIL: 'elsewhere',
    ...keys,
  });

/** Runs `rotate document-key`. Returns its output, and the settings that it prints for each step. */
async function rotate(t: TestContext, keys: Record<string, string>) {
  const { code, out: printed } = await runLone(t, settings(keys), 'rotate document-key', []);
  const steps = [...printed.matchAll(/^\d\. (DOCUMENT_KEY=.*)$/gm)].map(
    ([, step]) =>
      settings(
        Object.fromEntries([...step!.matchAll(/(\w+)=(\w+)/g)].map(([, name, value]) => [name, value])),
      ).documentKeys,
  );
  return { code, printed, steps };
}

test('staff are told how a key is set and exchanged, by steps that are settings which are accepted', async (t) => {
  const first = await rotate(t, {});
  assert.equal(first.code, 0);
  assert.equal(first.steps.length, 1);
  const exchange = await rotate(t, { DOCUMENT_KEY: OLD });
  const [next] = exchange.steps[2]!;
  assert.deepEqual(exchange.steps, [[OLD, next], [next, OLD], [next]]);
  assert.notDeepEqual(first.steps[0], [next]);
  const underWay = await rotate(t, { DOCUMENT_KEY: OLD, DOCUMENT_KEY_ALSO: NEW });
  assert.deepEqual([underWay.code, /Finish it first/.test(underWay.printed)], [1, true]);
});

test('a key has 64 hexadecimal digits, and one on its way does not come alone', () => {
  assert.equal(settings({}).documentKeys, null);
  assert.deepEqual(settings({ DOCUMENT_KEY: OLD }).documentKeys, [OLD]);
  for (const DOCUMENT_KEY of [OLD.slice(1), `${OLD}0`, 'a passphrase of ours'.repeat(4).slice(0, 64)])
    assert.throws(() => settings({ DOCUMENT_KEY }), /DOCUMENT_KEY must be 64 hexadecimal digits/);
  assert.throws(() => settings({ DOCUMENT_KEY: OLD, DOCUMENT_KEY_ALSO: 'short' }), /64 hexadecimal/);
  assert.throws(() => settings({ DOCUMENT_KEY_ALSO: NEW }), /set without DOCUMENT_KEY/);
});
