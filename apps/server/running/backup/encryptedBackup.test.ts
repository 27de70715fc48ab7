import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { serverOnInstalledPostgres } from '../../../../tests/harness/backups.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { lacksPostgres as skip } from '../../../../tests/harness/installedPostgres.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import type { Config } from '../../platform/config/config.ts';
import { openStorage } from '../../providers/storage/openStorage.ts';
import { readManifest } from './manifest.ts';

const OLD = '0f'.repeat(32);
const NEW = 'a5'.repeat(32);

const installed = serverOnInstalledPostgres({ DOCUMENT_KEY: OLD });
const { run } = installed;

/** Deletes the documents of other tests and uploads one. Returns its bytes and its storage key. */
async function uploaded(): Promise<{ key: string; bytes: Buffer }> {
  await installed.server.deps.database.deleteFrom('document').execute();
  const bytes = pdf({ size: 100_000, trailer: `/Of (${randomUUID()}) ` });
  const sent = await postPdf(installed.server.client(), '/api/public/upload-resume', {
    contactId: '101',
    bytes,
  });
  assert.equal(sent.status, 200);
  const { storage_key: key } = await installed.server.deps.database
    .selectFrom('document')
    .select('storage_key')
    .executeTakeFirstOrThrow();
  return { key, bytes };
}

const storageWith = (documentKeys: Config['documentKeys'], change: Partial<Config> = {}) =>
  openStorage({ ...installed.server.deps.config, ...change, documentKeys });
const contentOf = async (key: string, ...where: Parameters<typeof storageWith>) =>
  buffer(await (await storageWith(...where)).read(key));

/** Returns an empty place for a restore: a new database, and the path of a documents folder that does not exist yet. */
async function elsewhere(t: TestContext) {
  const folder = join(temporaryFolder(t), 'documents');
  return {
    databaseUrl: await installed.postgres.emptyDatabase(),
    storage: { kind: 'folder', folder } as const,
    folder,
  };
}
const fileIn = (folder: string, name: string) => readFileSync(join(folder, name));

test('encrypted documents are compared, saved and restored as they are stored, and a restore needs no key', {
  skip,
}, async (t) => {
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  const saved = await run(t, 'backup', [folder]);
  assert.equal(saved.code, 0, saved.out);
  assert.match(saved.out, / 1 of 1 documents; /);
  const saves = ['', '.envelope'].map((ending) => `${key}${ending}`);
  assert.deepEqual(readdirSync(join(folder, 'documents')).sort(), saves);
  for (const name of saves) {
    assert.deepEqual(fileIn(join(folder, 'documents'), name), fileIn(installed.server.documents, name));
    assert.equal(fileIn(join(folder, 'documents'), name).includes('%PDF'), false);
  }
  assert.equal((await readManifest(folder)).format, 5);
  const to = await elsewhere(t);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], { ...to, documentKeys: null });
  assert.equal(code, 0, out);
  assert.match(out, / 1 documents\.\n/);
  assert.ok((await contentOf(key, [OLD], to)).equals(bytes));
});

test('a backup that lacks the key saves the document and says that it could not compare it', {
  skip,
}, async (t) => {
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  const { code, out } = await run(t, 'backup', [folder], { documentKeys: [NEW] });
  assert.equal(code, 1);
  assert.match(out, new RegExp(`Document ${key} is saved, and was not compared: its key is neither`));
  const to = await elsewhere(t);
  assert.equal((await run(t, 'restore', [folder, '--yes'], to)).code, 0);
  assert.ok((await contentOf(key, [OLD], to)).equals(bytes));
});

test('an encrypted document that is damaged, or has lost its envelope, is named', { skip }, async (t) => {
  const { key } = await uploaded();
  const envelope = fileIn(installed.server.documents, `${key}.envelope`);
  appendFileSync(join(installed.server.documents, key), ' ');
  const first = await run(t, 'backup', [join(temporaryFolder(t), 'backup')]);
  assert.deepEqual([first.code, first.out.includes(`Document ${key} is damaged`)], [1, true]);
  const stored = fileIn(installed.server.documents, key);
  writeFileSync(join(installed.server.documents, key), stored.subarray(0, -1));
  assert.equal((await run(t, 'backup', [join(temporaryFolder(t), 'backup')])).code, 0);
  rmSync(join(installed.server.documents, `${key}.envelope`));
  const second = await run(t, 'backup', [join(temporaryFolder(t), 'backup')]);
  assert.deepEqual([second.code, second.out.includes(`Document ${key} is damaged`)], [1, true]);
  writeFileSync(join(installed.server.documents, `${key}.envelope`), envelope);
});

test('a backup whose envelope was changed is not restored', { skip }, async (t) => {
  const { key } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  assert.equal((await run(t, 'backup', [folder])).code, 0);
  appendFileSync(join(folder, 'documents', `${key}.envelope`), ' ');
  const to = await elsewhere(t);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual([code, /\.envelope of the backup was changed/.test(out)], [1, true], out);
  assert.equal(existsSync(to.folder), false);
});

test('a restore leaves a document under a newer key, and makes good an envelope that nothing opens', {
  skip,
}, async (t) => {
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  assert.equal((await run(t, 'backup', [folder])).code, 0);
  const where = { storage: installed.server.deps.config.storage };
  await (await storageWith([NEW, OLD])).encrypt(key, async () => {});
  const databaseUrl = await installed.postgres.emptyDatabase();
  const kept = await run(t, 'restore', [folder, '--yes'], { databaseUrl, documentKeys: [NEW] });
  assert.match(kept.out, / 0 documents were written/);
  assert.ok((await contentOf(key, [NEW], where)).equals(bytes));
  writeFileSync(join(installed.server.documents, `${key}.envelope`), 'nothing');
  const made = { databaseUrl: await installed.postgres.emptyDatabase(), documentKeys: [NEW, OLD] as const };
  assert.match((await run(t, 'restore', [folder, '--yes'], made)).out, / 1 documents were written/);
  assert.ok((await contentOf(key, [OLD], where)).equals(bytes));
});

test('a backup of before there was a key is restored encrypted, and leaves what was encrypted since', {
  skip,
}, async (t) => {
  const { storage } = installed.server.deps;
  installed.server.deps.storage = await storageWith(null);
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  assert.equal((await run(t, 'backup', [folder])).code, 0);
  installed.server.deps.storage = storage;
  const to = await elsewhere(t);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.equal(fileIn(to.folder, key).includes('%PDF'), false);
  assert.ok((await contentOf(key, [OLD], to)).equals(bytes));
  const again = { ...to, databaseUrl: await installed.postgres.emptyDatabase() };
  assert.match((await run(t, 'restore', [folder, '--yes'], again)).out, / 0 documents were written/);
});
