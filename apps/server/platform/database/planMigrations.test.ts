import assert from 'node:assert/strict';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../../../tests/harness/database.ts';
import {
  launchServerProcess,
  runOperator,
  settingsOf,
  withSettings,
} from '../../../../tests/harness/serverProcess.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { migrate } from './migrate.ts';
import { describeMigration, planMigrations } from './planMigrations.ts';
import { effectsOf, statementsOf, wordsOf } from './readStatements.ts';

const server = await sharedServer();
const all = join(import.meta.dirname, 'migrations');
const operator = (databaseUrl: string, ...args: string[]) =>
  runOperator({ ...settingsOf(server), DATABASE_URL: databaseUrl }, args);

/** Returns the whole schema from PostgreSQL's catalogs, and the applied migrations. */
async function schemaOf(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query(`
    select relname, relkind::text, attname, atttypid::regtype::text as type, attnotnull
    from pg_class left join pg_attribute on attrelid = pg_class.oid and attnum > 0
    where relnamespace = 'public'::regnamespace order by 1, 2, 3`);
  const applied = await client.query("select to_regclass('migration') is not null as is_there");
  return applied.rows[0].is_there
    ? [...rows, ...(await client.query('select * from migration order by name')).rows]
    : rows;
}

async function database(t: { after(end: () => Promise<void>): void }) {
  const made = await testDatabase();
  const client = new pg.Client({ connectionString: made.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await made.drop();
  });
  await client.query('drop schema public cascade; create schema public');
  return { url: made.url, client };
}

test('the plan names what waits in order, with words, rows and what is locked for long, and changes nothing', async (t) => {
  const { url, client } = await database(t);
  const folder = temporaryFolder(t);
  for (const name of readdirSync(all))
    if (name.slice(0, 4) <= '0016') cpSync(join(all, name), join(folder, name));
  await migrate(url, { migrations: folder });
  await client.query(`
    insert into join_session (uuid, origin, programme)
      select gen_random_uuid(), 'school', 'high-school' from generate_series(1, 3)`);
  const before = await schemaOf(client);

  const { output, code } = await operator(url, 'migrate', '--dry-run');
  assert.equal(code, 0, output);
  assert.deepEqual(
    output.match(/^\d{4}-.*\.sql$/gm),
    readdirSync(all)
      .filter((name) => name > '0017')
      .sort(),
  );
  assert.match(output, /^ {2}The contact in HubSpot that a join is written into when nobody named one/m);
  assert.match(
    output,
    /^ {2}LONG join_session \(3 rows\): every row is read; rows are changed, .*an index is built.*; nobody reads or writes it until/m,
  );
  assert.match(output, /^ {2}membership \(0 rows\): locked for a moment$/m);
  assert.match(output, /0020-the-pass\.sql\n.*\n {2}It locks no table that is there\./);
  assert.match(output, /Nothing was changed\.$/m);
  assert.deepEqual(await schemaOf(client), before);
});

test('the log of a server, and the command, say for whom a migration waits', async (t) => {
  for (const by of ['server', 'command'] as const) {
    const { url, client } = await database(t);
    const folder = temporaryFolder(t);
    for (const name of readdirSync(all))
      if (name.slice(0, 4) <= '0016') cpSync(join(all, name), join(folder, name));
    await migrate(url, { migrations: folder });
    const waiting = async () =>
      (await client.query("select from pg_locks where not granted and relation = 'join_session'::regclass"))
        .rowCount! > 0;
    await client.query('begin; select from join_session');
    const { pid } = (await client.query('select pg_backend_pid() as pid')).rows[0];
    const sentence = new RegExp(`0017-.*\\.sql waits for process ${pid} of PostgreSQL`);
    if (by === 'server') {
      const started = launchServerProcess(withSettings(server, { DATABASE_URL: url, LOG_LEVEL: 'warn' }));
      t.after(() => started.kill());
      await until(() => started.log().some(({ msg }) => sentence.test(String(msg))));
      await client.query('commit');
      await started.listening;
      assert.equal(await started.stop(), 0);
    } else {
      const ended = operator(url, 'migrate');
      await until(waiting);
      await until(async () => !(await waiting()));
      await client.query('commit');
      const { output, code } = await ended;
      assert.deepEqual([code, sentence.test(output)], [0, true], output);
    }
  }
});

test('the plan of an empty database, and of one that has everything', async (t) => {
  const { url, client } = await database(t);
  const empty = await operator(url, 'migrate', '--dry-run');
  assert.equal(empty.code, 0);
  assert.match(empty.output, /^0001-foundation\.sql$/m);
  assert.deepEqual(await schemaOf(client), []);
  await migrate(url);
  assert.deepEqual(
    await operator(url, 'migrate', '--dry-run').then(({ output, code }) => [output.trim(), code]),
    ['Nothing waits to be migrated.', 0],
  );
});

test('a database that a newer version has changed is refused with a sentence, planned or not, and so is none', async (t) => {
  const { url, client } = await database(t);
  await migrate(url);
  await client.query(
    "insert into migration (name, checksum, oldest_version) values ('9999-later.sql', 'x', '99.0.0')",
  );
  for (const args of [['migrate', '--dry-run'], ['migrate']]) {
    const { output, code } = await operator(url, ...args);
    assert.equal(code, 1);
    assert.match(
      output,
      /^The database has seen the migration 9999-later\.sql, .* version 99\.0\.0 and later/,
    );
    assert.doesNotMatch(output, /\n +at /);
  }
  const away = await operator('postgres://127.0.0.1:9/nothing', 'migrate', '--dry-run');
  assert.equal(away.code, 1);
  assert.match(away.output, /^The database at 127\.0\.0\.1:9 cannot be reached/);
  assert.equal((await operator(url, 'migrate', '--plans')).code, 2);
});

test('a table that a migration alters stays locked for as long as the rest of it takes', async (t) => {
  const { url, client } = await database(t);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '0001-first.sql'), 'create table thing (id text); create table other (id text)');
  await migrate(url, { migrations: folder });
  await client.query("insert into thing values ('1'); insert into other values ('1'), ('2')");
  writeFileSync(
    join(folder, '0002-both.sql'),
    '-- oldest version: 1.2.3\nalter table thing add column fresh text; update other set id = id',
  );
  const { planned } = await planMigrations(url, { migrations: folder, version: '9.9.9' });
  assert.deepEqual(planned.map(describeMigration), [
    [
      '0002-both.sql',
      'alter table thing add column fresh text; update other set id = id',
      'LONG thing (1 row): nobody reads or writes it until the migration ends',
      'LONG other (2 rows): rows are changed, and nobody else changes those meanwhile',
      'After it only version 1.2.3 and later run on the database.',
    ],
  ]);
});

test('what takes long is read from the statement', () => {
  const slow = (sql: string) => effectsOf(sql).effects.map((effect) => effect.slow);
  const rewritten = 'every row is written anew';
  for (const [sql, expected] of [
    ['alter table t add a text', null],
    ["alter table t add a text not null default 'x'", null],
    ['alter table t add a timestamptz not null default now()', null],
    ['alter table t add constraint c check (a > 0) not valid', null],
    ['alter table t alter column a type bigint', rewritten],
    ['alter table t alter a set data type bigint', rewritten],
    ['alter table t add a uuid default gen_random_uuid()', rewritten],
    ['alter table t add a int generated always as (b + 1) stored', rewritten],
    ['alter table t alter a set not null', 'every row is read'],
    ['alter table t validate constraint c', 'every row is read'],
    ['alter table t add a text references other (id)', 'every row is read'],
    ['alter table t add unique (a)', 'an index is built'],
    ['alter table t drop column a', null],
    ['drop table t', null],
    ['create unique index i on only t (a)', 'an index is built, and nobody writes meanwhile'],
    [
      'with gone as (delete from t returning a) select 1',
      'rows are deleted, and nobody else changes those meanwhile',
    ],
  ] as const)
    assert.deepEqual(slow(sql), [expected], sql);
  for (const sql of [
    'create index concurrently i on t (a)',
    'create table t (id text unique); create index i on t (id); update t set id = 1',
    "insert into t values ('update t set a = 1; drop table t') on conflict do update set a = 2",
    '-- update t set a = 1;',
    'create function f() returns void language sql as $$ update t set a = 1 $$',
  ])
    assert.deepEqual(slow(sql), [], sql);
  assert.equal(effectsOf('do $$ begin update t set a = 1; end $$').unread, 1);
});

test('a semicolon within a text, a comment or a function ends no statement', () => {
  assert.deepEqual(statementsOf("select ';' /* ; */ -- ;\n, $x$ ; $x$;\n\nselect 2;"), [
    "select '' , ''",
    'select 2',
  ]);
  assert.equal(wordsOf('-- One.\n-- oldest version: 1.2.3\n-- Two.\nselect 1; -- three'), 'One. Two.');
});
