import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import {
  elsewhere,
  failLate,
  manifestOf,
  rowsOf,
  serverOnInstalledPostgres,
} from '../../../../tests/harness/backups.ts';
import { lacksPostgres as skip } from '../../../../tests/harness/installedPostgres.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { migrate } from '../../platform/database/migrate.ts';

const installed = serverOnInstalledPostgres();
const { run } = installed;

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
  skip,
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

test('a role that may not read the schemas of others saves its own', { skip }, async (t) => {
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

test('the name of a schema may be any', { skip }, async (t) => {
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

test('a schema that only the restore made goes with a restore that fails', { skip }, async (t) => {
  const folder = await savedFrom(t, await madeDatabase('create schema induct'));
  const to = await elsewhere(t, installed);
  await failLate(to.databaseUrl);
  const failed = await run(t, 'restore', [folder, '--yes'], to);
  assert.deepEqual([failed.code, /no index here/.test(failed.out)], [1, true], failed.out);
  assert.deepEqual(await schemasOf(to.databaseUrl), ['public']);
});

test('tables that are spread over two schemas are not saved in part', { skip }, async (t) => {
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
