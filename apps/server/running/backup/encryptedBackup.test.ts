import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import {
  elsewhere,
  failLate,
  manifestOf,
  rowsOf,
  serverOnInstalledPostgres,
} from '../../../../tests/harness/backups.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { lacksPostgres as skip } from '../../../../tests/harness/installedPostgres.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../../tests/harness/testLength.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import type { Config } from '../../platform/config/config.ts';
import { migrate } from '../../platform/database/migrate.ts';
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
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], { ...to, documentKeys: null });
  assert.equal(code, 0, out);
  assert.match(out, / 1 documents\.\n/);
  assert.ok((await contentOf(key, [OLD], to)).equals(bytes));
});

test('a backup that lacks the key saves the document and says that it could not compare it', {
  skip: onlyLong || skip,
}, async (t) => {
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  const { code, out } = await run(t, 'backup', [folder], { documentKeys: [NEW] });
  assert.equal(code, 1);
  assert.match(out, new RegExp(`Document ${key} is saved, and was not compared: its key is neither`));
  const to = await elsewhere(t, installed);
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
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual([code, /\.envelope of the backup was changed/.test(out)], [1, true], out);
  assert.equal(existsSync(to.documents), false);
});

test('a restore leaves a document under a newer key, and makes good an envelope that nothing opens', {
  skip: onlyLong || skip,
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
  skip: onlyLong || skip,
}, async (t) => {
  const { storage } = installed.server.deps;
  installed.server.deps.storage = await storageWith(null);
  const { key, bytes } = await uploaded();
  const folder = join(temporaryFolder(t), 'backup');
  assert.equal((await run(t, 'backup', [folder])).code, 0);
  installed.server.deps.storage = storage;
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.equal(fileIn(to.documents, key).includes('%PDF'), false);
  assert.ok((await contentOf(key, [OLD], to)).equals(bytes));
  const again = { ...to, databaseUrl: await installed.postgres.emptyDatabase() };
  assert.match((await run(t, 'restore', [folder, '--yes'], again)).out, / 0 documents were written/);
});

/** Adds to a database what a hosting provider adds to it: another schema with a table, and an extension in our schema. */
async function asOfProvider(databaseUrl: string): Promise<void> {
  await rowsOf(
    databaseUrl,
    `create schema auth; create table auth.users (email text); insert into auth.users values ('of the provider');
     alter table auth.users enable row level security; create policy own on auth.users to current_user using (true);
     do $$ begin
       if exists (select from pg_available_extensions where name = 'pg_trgm') then create extension pg_trgm; end if;
     end $$`,
  );
}

/** Creates a database, runs the SQL `first` in it, migrates it, and adds one join. Returns the database's URL. */
async function madeDatabase(first: string): Promise<string> {
  const databaseUrl = await installed.postgres.emptyDatabase();
  await rowsOf(databaseUrl, first);
  await migrate(databaseUrl);
  await rowsOf(
    databaseUrl,
    "with own as (insert into person (profile) values ('{}') returning id) insert into join_session (person_id, origin, programme) select id, 'school', 'high-school' from own",
  );
  return databaseUrl;
}

/** Backs up a database that has no documents. Returns the backup's folder. */
async function savedFrom(t: TestContext, databaseUrl: string): Promise<string> {
  const folder = join(temporaryFolder(t), 'backup');
  const { code, out } = await run(t, 'backup', [folder], { databaseUrl });
  assert.equal(code, 0, out);
  return folder;
}

const schemas =
  "select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' order by 1";
const schemasOf = async (databaseUrl: string) =>
  (await rowsOf(databaseUrl, schemas)).map((row) => (row as { name: string }).name);
const joinsOf = async (databaseUrl: string) => (await rowsOf(databaseUrl, 'select from join_session')).length;

test('where a provider has schemas beside ours, ours alone is saved and restored, and theirs stays as it was', {
  skip: onlyLong || skip,
}, async (t) => {
  const databaseUrl = await madeDatabase('create schema storage; create table storage.buckets (id int)');
  await asOfProvider(databaseUrl);
  const folder = await savedFrom(t, databaseUrl);
  const to = await elsewhere(t, installed);
  await asOfProvider(to.databaseUrl);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.deepEqual(await schemasOf(to.databaseUrl), ['auth', 'public']);
  assert.equal((await rowsOf(to.databaseUrl, 'select from auth.users')).length, 1);
  assert.equal(await joinsOf(to.databaseUrl), 1);
  const again = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual(
    [again.code, /^The database is not empty \(schema public\)/.test(again.out)],
    [1, true],
    again.out,
  );
  assert.equal(await joinsOf(to.databaseUrl), 1);
});

test('a role that may not read the schemas of others saves its own', {
  skip: onlyLong || skip,
}, async (t) => {
  const databaseUrl = await madeDatabase('');
  await asOfProvider(databaseUrl);
  const { databaseName, role } = {
    databaseName: new URL(databaseUrl).pathname.slice(1),
    role: `of_society_${randomUUID().slice(0, 8)}`,
  };
  await rowsOf(
    databaseUrl,
    `create role ${role} login password 'x'; grant create on database ${databaseName} to ${role};
     drop schema public cascade; create schema public authorization ${role}`,
  );
  t.after(() => rowsOf(databaseUrl, `drop owned by ${role} cascade; drop role ${role}`));
  const own = new URL(databaseUrl);
  own.username = role;
  own.password = 'x';
  await migrate(own.href);
  assert.deepEqual(manifestOf(await savedFrom(t, own.href)).counts.joins, 0);
});

test('tables in a schema of their own come back in it, and only where servers find them there', {
  skip,
}, async (t) => {
  const databaseUrl = await madeDatabase('create schema induct');
  const folder = await savedFrom(t, databaseUrl);
  assert.equal(manifestOf(folder).schema, 'induct');
  const to = await elsewhere(t, installed);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.deepEqual(await schemasOf(to.databaseUrl), ['induct', 'public']);
  assert.equal((await rowsOf(to.databaseUrl, 'select from induct.join_session')).length, 1);
  assert.equal(await joinsOf(to.databaseUrl), 1);

  const other = await elsewhere(t, installed);
  const name = new URL(other.databaseUrl).pathname.slice(1);
  await rowsOf(other.databaseUrl, `alter database ${name} set search_path = public`);
  const refused = await run(t, 'restore', [folder, '--yes'], other);
  assert.equal(refused.code, 1, refused.out);
  assert.match(refused.out, /^The tables of the backup are in the schema induct, and .* public first/);
  assert.deepEqual(await schemasOf(other.databaseUrl), ['public']);
});

test('the name of a schema may be any', { skip: onlyLong || skip }, async (t) => {
  const name = 'Of "the" Society.*';
  const lookFirst = `do $$ begin
    execute format('alter database %I set search_path = %I, public', current_database(), '${name}'); end $$`;
  const databaseUrl = await madeDatabase(`create schema ${pg.escapeIdentifier(name)}; ${lookFirst}`);
  const folder = await savedFrom(t, databaseUrl);
  const to = await elsewhere(t, installed);
  await rowsOf(to.databaseUrl, lookFirst);
  const { code, out } = await run(t, 'restore', [folder, '--yes'], to);
  assert.equal(code, 0, out);
  assert.deepEqual(await schemasOf(to.databaseUrl), [name, 'public']);
  assert.equal(await joinsOf(to.databaseUrl), 1);
});

test('a schema that only the restore made goes with a restore that fails', {
  skip: onlyLong || skip,
}, async (t) => {
  const folder = await savedFrom(t, await madeDatabase('create schema induct'));
  const to = await elsewhere(t, installed);
  await failLate(to.databaseUrl);
  const failed = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual([failed.code, /no index here/.test(failed.out)], [1, true], failed.out);
  assert.deepEqual(await schemasOf(to.databaseUrl), ['public']);
});

test('tables that are spread over two schemas are not saved in part', {
  skip: onlyLong || skip,
}, async (t) => {
  const databaseUrl = await madeDatabase('');
  await rowsOf(databaseUrl, 'create schema induct; alter table document set schema induct');
  const folder = join(temporaryFolder(t), 'backup');
  const { code, out } = await run(t, 'backup', [folder], { databaseUrl });
  assert.deepEqual(
    [code, /^The tables of Induct are in more than one schema \(induct, public\)/.test(out)],
    [1, true],
    out,
  );
  assert.equal(existsSync(folder), false);
});
