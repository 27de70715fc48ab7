import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pdf } from '../../../tests/harness/documents.ts';
import { waiting } from '../../../tests/harness/locks.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { runCommand, runLone } from '../../../tests/harness/runCommand.ts';
import { settingsOf, withSettings } from '../../../tests/harness/serverProcess.ts';
import { onlyLong } from '../../../tests/harness/testLength.ts';
import { startTestServer, type TestServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { readConfig } from '../platform/config/config.ts';
import type { Secrets } from '../platform/config/secrets.ts';
import { isKey } from '../providers/storage/arrive.ts';
import { idOfKey } from '../providers/storage/envelope.ts';
import { openStorage } from '../providers/storage/openStorage.ts';
import { NotStored } from '../providers/storage/storage.ts';
import { encryptDocument } from './encryptDocuments.ts';

const OLD = '0f'.repeat(32);
const NEW = 'a5'.repeat(32);

/** Starts a server without document keys and uploads `count` documents, which are stored unencrypted. */
async function withPlainDocuments(t: TestContext, count: number): Promise<TestServer> {
  const server = await startTestServer();
  t.after(() => server.close());
  await server.deps.contacts.refresh('101');
  for (let number = 0; number < count; number++) await keep(server, randomBytes(100_000));
  return server;
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
  const server = await withPlainDocuments(t, 3);
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
  const server = await withPlainDocuments(t, 1);
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

test('a document that is erased while it is encrypted, or while its envelope is replaced, does not come back', async (t) => {
  const server = await withPlainDocuments(t, 1);
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
  const server = await withPlainDocuments(t, 20);
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
